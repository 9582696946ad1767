// Messages from block to block, and the scopes of fences and atomics.
#include "atomics.cuh"
#define VOLATILE(words) ((volatile u32 *)(words))

extern "C" {

// Block 0 writes word 1, then the flag in word 0; block 1 waits for the flag and reads word 1.
__global__ void mp_fences(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[1] = 7;
        __threadfence();
        VOLATILE(words)[0] = 1;
    } else {
        while (VOLATILE(words)[0] == 0) {}
        __threadfence();
        out[0] = words[1];
    }
}

__global__ void mp_fences_of_system(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[1] = 7;
        __threadfence_system();
        VOLATILE(words)[0] = 1;
    } else {
        while (VOLATILE(words)[0] == 0) {}
        __threadfence_system();
        out[0] = words[1];
    }
}

__global__ void mp_relaxed_with_fences(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[1] = 7;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        store_relaxed(&words[0], 1);
    } else {
        while (load_relaxed(&words[0]) == 0) {}
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        out[0] = words[1];
    }
}

__global__ void mp_volatile_data(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        VOLATILE(words)[1] = 7;
        __threadfence();
        VOLATILE(words)[0] = 1;
    } else {
        while (VOLATILE(words)[0] == 0) {}
        __threadfence();
        out[0] = VOLATILE(words)[1];
    }
}

// Word and flag are one number, so nothing else is ordered.
__global__ void mp_one_word(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        store_relaxed(&words[0], 7 << 1 | 1);
    } else {
        u32 word;
        while (((word = load_relaxed(&words[0])) & 1) == 0) {}
        out[0] = word >> 1;
    }
}

__global__ void mp_by_additions(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[1] = 7;
        add_release(&words[0], 1);
    } else {
        while (add_acq_rel(&words[0], 0) == 0) {}
        out[0] = words[1];
    }
}

// The fence is behind the branch that both paths of the reader share.
__global__ void mp_fence_after_the_loop(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[1] = 7;
        __threadfence();
        VOLATILE(words)[0] = 1;
        return;
    }
    u32 polls = 0;
    while (VOLATILE(words)[0] == 0)
        polls += 1;
    __threadfence();
    out[0] = polls < 0xffffffff ? words[1] : 0;
}

__global__ void mp_no_fences(u32 *out, u32 *words)
{
    // cause: the write is not released
    // cause: the read does not acquire
    if (blockIdx.x == 0) {
        words[1] = 7; // race
        VOLATILE(words)[0] = 1;
    } else {
        while (VOLATILE(words)[0] == 0) {}
        out[0] = words[1]; // race
    }
}

__global__ void mp_no_release_fence(u32 *out, u32 *words)
{
    // cause: the write is not released
    if (blockIdx.x == 0) {
        words[1] = 7; // race
        VOLATILE(words)[0] = 1;
    } else {
        while (VOLATILE(words)[0] == 0) {}
        __threadfence();
        out[0] = words[1]; // race
    }
}

__global__ void mp_no_acquire_fence(u32 *out, u32 *words)
{
    // cause: the read does not acquire
    if (blockIdx.x == 0) {
        words[1] = 7; // race
        __threadfence();
        VOLATILE(words)[0] = 1;
    } else {
        while (VOLATILE(words)[0] == 0) {}
        out[0] = words[1]; // race
    }
}

__global__ void mp_block_fences(u32 *out, u32 *words)
{
    // cause: has block scope, which does not reach the other thread
    if (blockIdx.x == 0) {
        words[1] = 7; // race
        __threadfence_block();
        VOLATILE(words)[0] = 1;
    } else {
        while (VOLATILE(words)[0] == 0) {}
        __threadfence_block();
        out[0] = words[1]; // race
    }
}

// The fence is on the wrong side of the flag.
__global__ void mp_fence_after_flag(u32 *out, u32 *words)
{
    // cause: the write is not released
    if (blockIdx.x == 0) {
        words[1] = 7; // race
        VOLATILE(words)[0] = 1;
        __threadfence();
    } else {
        while (VOLATILE(words)[0] == 0) {}
        __threadfence();
        out[0] = words[1]; // race
    }
}

// A flag by plain accesses, which also race themselves.
__global__ void mp_plain_flag(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[1] = 7;
        __threadfence();
        words[0] = 1; // race
    } else {
        while (words[0] == 0) {} // race
        __threadfence();
        out[0] = words[1];
    }
}

__global__ void mp_atomics(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[1] = 7;
        __threadfence();
        atomicExch(&words[0], 1);
    } else {
        while (atomicAdd(&words[0], 0) == 0) {}
        __threadfence();
        out[0] = words[1];
    }
}

__global__ void mp_release_acquire(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[1] = 7;
        store_release(&words[0], 1);
    } else {
        while (load_acquire(&words[0]) == 0) {}
        out[0] = words[1];
    }
}

__global__ void mp_relaxed(u32 *out, u32 *words)
{
    // cause: the write is not released
    // cause: the read does not acquire
    if (blockIdx.x == 0) {
        words[1] = 7; // race
        store_relaxed(&words[0], 1);
    } else {
        while (load_relaxed(&words[0]) == 0) {}
        out[0] = words[1]; // race
    }
}

// An acquire of block scope also makes the flag itself race.
__global__ void mp_acquire_of_block(u32 *out, u32 *words)
{
    // cause: block scope does not reach the other thread
    if (blockIdx.x == 0) {
        words[1] = 7;
        store_release(&words[0], 1); // race
    } else {
        while (load_acquire_block(&words[0]) == 0) {} // race
        out[0] = words[1];
    }
}

__global__ void mp_release_of_block(u32 *out, u32 *words)
{
    // cause: block scope does not reach the other thread
    if (blockIdx.x == 0) {
        words[1] = 7;
        store_release_block(&words[0], 1); // race
    } else {
        while (load_acquire(&words[0]) == 0) {} // race
        out[0] = words[1];
    }
}

// Within a block: the second warp waits for the first, which block scope is enough for.
__global__ void mp_within_block(u32 *out, u32 *words)
{
    if (threadIdx.x == 0) {
        words[1] = 7;
        __threadfence_block();
        VOLATILE(words)[0] = 1;
    } else if (threadIdx.x == 32) {
        while (VOLATILE(words)[0] == 0) {}
        __threadfence_block();
        out[0] = words[1];
    }
}

__global__ void mp_within_block_scoped(u32 *out, u32 *words)
{
    if (threadIdx.x == 0) {
        words[1] = 7;
        store_release_block(&words[0], 1);
    } else if (threadIdx.x == 32) {
        while (load_acquire_block(&words[0]) == 0) {}
        out[0] = words[1];
    }
}

__global__ void mp_within_block_barrier(u32 *out, u32 *words)
{
    if (threadIdx.x == 0)
        words[1] = 7;
    __syncthreads();
    if (threadIdx.x == 32)
        out[0] = words[1];
}

__global__ void mp_within_block_device_scope(u32 *out, u32 *words)
{
    if (threadIdx.x == 0) {
        words[1] = 7;
        store_release(&words[0], 1);
    } else if (threadIdx.x == 32) {
        while (load_acquire_block(&words[0]) == 0) {}
        out[0] = words[1];
    }
}

__global__ void mp_within_block_no_fences(u32 *out, u32 *words)
{
    // cause: the write is not released
    // cause: the read does not acquire
    if (threadIdx.x == 0) {
        words[1] = 7; // race
        VOLATILE(words)[0] = 1;
    } else if (threadIdx.x == 32) {
        while (VOLATILE(words)[0] == 0) {}
        out[0] = words[1]; // race
    }
}

// Block 0 tells block 1 by word 0, which tells block 2 by word 1.
__global__ void chain(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[2] = 7;
        store_release(&words[0], 1);
    } else if (blockIdx.x == 1) {
        while (load_acquire(&words[0]) == 0) {}
        store_release(&words[1], 1);
    } else {
        while (load_acquire(&words[1]) == 0) {}
        out[0] = words[2];
    }
}

// An addition that is not ordered continues the release of the first block.
__global__ void chain_of_additions(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[2] = 7;
        store_release(&words[0], 1);
    } else if (blockIdx.x == 1) {
        while (load_relaxed(&words[0]) == 0) {}
        atomicAdd(&words[0], 1);
    } else {
        while (load_acquire(&words[0]) < 2) {}
        out[0] = words[2];
    }
}

__global__ void chain_of_fences(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        words[2] = 7;
        __threadfence();
        VOLATILE(words)[0] = 1;
    } else if (blockIdx.x == 1) {
        while (VOLATILE(words)[0] == 0) {}
        __threadfence();
        VOLATILE(words)[1] = 1;
    } else {
        while (VOLATILE(words)[1] == 0) {}
        __threadfence();
        out[0] = words[2];
    }
}

__global__ void chain_relaxed_in_the_middle(u32 *out, u32 *words)
{
    // cause: the read does not acquire
    if (blockIdx.x == 0) {
        words[2] = 7; // race
        store_release(&words[0], 1);
    } else if (blockIdx.x == 1) {
        while (load_relaxed(&words[0]) == 0) {}
        store_release(&words[1], 1);
    } else {
        while (load_acquire(&words[1]) == 0) {}
        out[0] = words[2]; // race
    }
}

// All threads of the grid count.
__global__ void count_device(u32 *out) { atomicAdd(&out[0], 1); }

__global__ void count_system(u32 *out) { atomicAdd_system(&out[0], 1); }

__global__ void count_by_swaps(u32 *out)
{
    u32 old = VOLATILE(out)[0], seen;
    do {
        seen = old;
        old = atomicCAS(&out[0], seen, seen + 1);
    } while (old != seen);
}

// One lane counts for all of its warp that are active.
__global__ void count_by_leaders(u32 *out)
{
    u32 mask = __activemask();
    if (threadIdx.x % 32 == 31 - __clz(mask))
        atomicAdd(&out[0], __popc(mask));
}

__global__ void count_by_barrier(u32 *out)
{
    u32 count = __syncthreads_count(threadIdx.x < 33);
    if (threadIdx.x == 0)
        atomicAdd(&out[0], count);
}

__global__ void count_block(u32 *out)
{
    // cause: block scope does not reach the other thread
    atomicAdd_block(&out[0], 1); // race
}

__global__ void count_plain(u32 *out)
{
    out[0] += 1; // race
}

// Volatile accesses do not race, but updates are lost.
__global__ void count_volatile(u32 *out) { VOLATILE(out)[0] += 1; }

// Each block counts for itself, and device scope is needed only for the sum.
__global__ void count_per_block(u32 *out)
{
    atomicAdd_block(&out[1 + blockIdx.x], 1);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&out[0], out[1 + blockIdx.x]);
}

__global__ void count_per_block_no_barrier(u32 *out)
{
    atomicAdd_block(&out[1 + blockIdx.x], 1); // race
    if (threadIdx.x == 0)
        atomicAdd(&out[0], out[1 + blockIdx.x]); // race
}

// Each block sets a flag and reads the other's: at least one must see the other's.
__global__ void store_buffering_fence(u32 *out, u32 *words)
{
    VOLATILE(words)[blockIdx.x] = 1;
    asm volatile("fence.sc.gpu;" ::: "memory");
    if (VOLATILE(words)[1 - blockIdx.x] == 0)
        atomicAdd(&words[2], 1);
    if (add_acq_rel(&words[3], 1) == 1)
        out[0] = load_relaxed(&words[2]) < 2;
}

__global__ void store_buffering_threadfence(u32 *out, u32 *words)
{
    atomicExch(&words[blockIdx.x], 1);
    __threadfence();
    if (atomicAdd(&words[1 - blockIdx.x], 0) == 0)
        atomicAdd(&words[2], 1);
    if (add_acq_rel(&words[3], 1) == 1)
        out[0] = load_relaxed(&words[2]) < 2;
}

__global__ void store_buffering_weaker_fence(u32 *out, u32 *words)
{
    VOLATILE(words)[blockIdx.x] = 1;
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (VOLATILE(words)[1 - blockIdx.x] == 0)
        atomicAdd(&words[2], 1);
    if (add_acq_rel(&words[3], 1) == 1)
        out[0] = load_relaxed(&words[2]) < 2;
}

} // extern "C"
