// Locks of atomics: word 0 is the lock, word 1 what it protects.
#include "atomics.cuh"
#define VOLATILE(words) ((volatile u32 *)(words))

extern "C" {

__global__ void lock_fences(u32 *out, u32 *words)
{
    while (atomicCAS(&words[0], 0, 1) != 0) {}
    __threadfence();
    out[0] += 1;
    __threadfence();
    atomicExch(&words[0], 0);
}

__global__ void lock_acquire_release(u32 *out, u32 *words)
{
    u32 old;
    do
        asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], 0, 1;"
                     : "=r"(old) : "l"(&words[0]) : "memory");
    while (old != 0);
    out[0] += 1;
    store_release(&words[0], 0);
}

__global__ void lock_with_pauses(u32 *out, u32 *words)
{
    for (u32 pause = 8; atomicExch(&words[0], 1) != 0; pause *= 2)
        __nanosleep(pause);
    __threadfence();
    out[0] += 1;
    __threadfence();
    atomicExch(&words[0], 0);
}

// The whole critical section is in the loop, as older GPUs needed it.
__global__ void lock_in_the_loop(u32 *out, u32 *words)
{
    for (bool done = false; !done;)
        if (atomicCAS(&words[0], 0, 1) == 0) {
            __threadfence();
            out[0] += 1;
            __threadfence();
            atomicExch(&words[0], 0);
            done = true;
        }
}

// Thread 0 takes the lock for its block, and both threads work under it.
__global__ void lock_for_the_block(u32 *out, u32 *words)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&words[0], 0, 1) != 0) {}
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 1)
        out[0] += 2;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(&words[0], 0);
    }
}

// Each block has a lock for its threads, and the last word counts for all.
__global__ void lock_of_each_block(u32 *out, u32 *words)
{
    while (atomicCAS_block(&words[blockIdx.x], 0, 1) != 0) {}
    __threadfence_block();
    u32 number = words[4 + blockIdx.x]++;
    __threadfence_block();
    atomicExch_block(&words[blockIdx.x], 0);
    if (number == 1)
        atomicAdd(&out[0], 2);
}

__global__ void lock_no_fences(u32 *out, u32 *words)
{
    while (atomicCAS(&words[0], 0, 1) != 0) {}
    out[0] += 1; // race
    atomicExch(&words[0], 0);
}

__global__ void lock_no_acquire_fence(u32 *out, u32 *words)
{
    while (atomicCAS(&words[0], 0, 1) != 0) {}
    out[0] += 1; // race
    __threadfence();
    atomicExch(&words[0], 0);
}

__global__ void lock_no_release_fence(u32 *out, u32 *words)
{
    while (atomicCAS(&words[0], 0, 1) != 0) {}
    __threadfence();
    out[0] += 1; // race
    atomicExch(&words[0], 0);
}

__global__ void lock_fences_of_block(u32 *out, u32 *words)
{
    while (atomicCAS(&words[0], 0, 1) != 0) {}
    __threadfence_block();
    out[0] += 1; // race
    __threadfence_block();
    atomicExch(&words[0], 0);
}

__global__ void lock_of_block_scope(u32 *out, u32 *words)
{
    // cause: block scope does not reach the other thread
    while (atomicCAS_block(&words[0], 0, 1) != 0) {} // race
    __threadfence();
    out[0] += 1;
    __threadfence();
    atomicExch_block(&words[0], 0); // race
}

__global__ void lock_released_by_volatile(u32 *out, u32 *words)
{
    while (atomicCAS(&words[0], 0, 1) != 0) {}
    __threadfence();
    out[0] += 1;
    __threadfence();
    VOLATILE(words)[0] = 0;
}

__global__ void lock_released_by_plain_store(u32 *out, u32 *words)
{
    while (atomicCAS(&words[0], 0, 1) != 0) {} // race
    __threadfence();
    out[0] += 1;
    __threadfence();
    words[0] = 0; // race
}

// Polls with loads before it tries.
__global__ void lock_polled(u32 *out, u32 *words)
{
    do {
        while (VOLATILE(words)[0] != 0) {}
    } while (atomicExch(&words[0], 1) != 0);
    __threadfence();
    out[0] += 1;
    __threadfence();
    atomicExch(&words[0], 0);
}

__global__ void lock_polled_by_plain_load(u32 *out, u32 *words)
{
    do {
        while (words[0] != 0) {} // race
    } while (atomicExch(&words[0], 1) != 0); // race
    __threadfence();
    out[0] += 1;
    __threadfence();
    atomicExch(&words[0], 0); // race
}

// Word 2 is the next ticket, word 0 the one that is served.
__global__ void ticket_lock(u32 *out, u32 *words)
{
    u32 ticket = atomicAdd(&words[2], 1);
    while (VOLATILE(words)[0] != ticket) {}
    __threadfence();
    out[0] += 1;
    __threadfence();
    VOLATILE(words)[0] = ticket + 1;
}

__global__ void ticket_lock_no_fences(u32 *out, u32 *words)
{
    u32 ticket = atomicAdd(&words[2], 1);
    while (VOLATILE(words)[0] != ticket) {}
    out[0] += 1; // race
    VOLATILE(words)[0] = ticket + 1;
}

__global__ void ticket_lock_plain(u32 *out, u32 *words)
{
    u32 ticket = atomicAdd(&words[2], 1);
    while (VOLATILE(words)[0] != ticket) {} // race
    __threadfence();
    out[0] += 1;
    __threadfence();
    words[0] = ticket + 1; // race
}

// Two tickets may be the same, and then none is the last one.
__global__ void ticket_lock_drawn_by_load(u32 *out, u32 *words)
{
    u32 ticket = VOLATILE(words)[2];
    VOLATILE(words)[2] = ticket + 1;
    while (VOLATILE(words)[0] != ticket) {} // deadlock
    atomicAdd(&out[0], 1);
    VOLATILE(words)[0] = ticket + 1;
}

// Only some blocks take the lock.
__global__ void lock_not_taken_by_all(u32 *out, u32 *words)
{
    bool locks = blockIdx.x != 1;
    if (locks)
        while (atomicCAS(&words[0], 0, 1) != 0) {}
    __threadfence();
    out[0] += 1; // race
    __threadfence();
    if (locks)
        atomicExch(&words[0], 0);
}

// Blocks with a different number use a different lock.
__global__ void lock_another(u32 *out, u32 *words)
{
    u32 *lock = &words[blockIdx.x & 1];
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    out[0] += 1; // race
    __threadfence();
    atomicExch(lock, 0);
}

// A path that leaves without releasing it.
__global__ void lock_kept(u32 *out, u32 *words)
{
    while (atomicCAS(&words[0], 0, 1) != 0) {} // deadlock
    __threadfence();
    if (++out[0] == 2)
        return;
    __threadfence();
    atomicExch(&words[0], 0);
}

// Two locks, in the same order everywhere, and in opposite orders.
__global__ void two_locks(u32 *out, u32 *words)
{
    while (atomicCAS(&words[0], 0, 1) != 0) {}
    while (atomicCAS(&words[1], 0, 1) != 0) {}
    __threadfence();
    out[0] += 1;
    __threadfence();
    atomicExch(&words[1], 0);
    atomicExch(&words[0], 0);
}

__global__ void two_locks_in_opposite_orders(u32 *out, u32 *words)
{
    u32 *first = &words[blockIdx.x & 1], *second = &words[1 - (blockIdx.x & 1)];
    while (atomicCAS(first, 0, 1) != 0) {}  // deadlock
    while (atomicCAS(second, 0, 1) != 0) {} // deadlock
    __threadfence();
    out[0] += 1;
    __threadfence();
    atomicExch(second, 0);
    atomicExch(first, 0);
}

// A sequence lock: readers try again if the number in word 0 is odd or has changed.
__global__ void sequence_lock(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        VOLATILE(words)[0] = 1;
        __threadfence();
        VOLATILE(words)[1] = 7;
        VOLATILE(words)[2] = 7;
        __threadfence();
        VOLATILE(words)[0] = 2;
    } else {
        u32 before, first, second;
        do {
            before = VOLATILE(words)[0];
            __threadfence();
            first = VOLATILE(words)[1];
            second = VOLATILE(words)[2];
            __threadfence();
        } while (before % 2 == 1 || VOLATILE(words)[0] != before);
        out[0] = first - second;
    }
}

__global__ void sequence_lock_acquires(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        store_relaxed(&words[0], 1);
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        store_relaxed(&words[1], 7);
        store_relaxed(&words[2], 7);
        store_release(&words[0], 2);
    } else {
        u32 before, first, second;
        do {
            before = load_acquire(&words[0]);
            first = load_relaxed(&words[1]);
            second = load_relaxed(&words[2]);
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
        } while (before % 2 == 1 || load_relaxed(&words[0]) != before);
        out[0] = first - second;
    }
}

__global__ void sequence_lock_no_fences(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        VOLATILE(words)[0] = 1;
        VOLATILE(words)[1] = 7;
        VOLATILE(words)[2] = 7;
        VOLATILE(words)[0] = 2;
    } else {
        u32 before, first, second;
        do {
            before = VOLATILE(words)[0];
            first = VOLATILE(words)[1];
            second = VOLATILE(words)[2];
        } while (before % 2 == 1 || VOLATILE(words)[0] != before);
        out[0] = first - second;
    }
}

__global__ void sequence_lock_of_plain_data(u32 *out, u32 *words)
{
    if (blockIdx.x == 0) {
        VOLATILE(words)[0] = 1;
        __threadfence();
        words[1] = 7; // race
        words[2] = 7; // race
        __threadfence();
        VOLATILE(words)[0] = 2;
    } else {
        u32 before, first, second;
        do {
            before = VOLATILE(words)[0];
            __threadfence();
            first = words[1];  // race
            second = words[2]; // race
            __threadfence();
        } while (before % 2 == 1 || VOLATILE(words)[0] != before);
        out[0] = first - second;
    }
}

// Initialised once, by the first that takes the lock. Word 2 is the flag.
__global__ void double_checked(u32 *out, u32 *words)
{
    if (VOLATILE(words)[2] == 0) {
        while (atomicCAS(&words[0], 0, 1) != 0) {}
        __threadfence();
        if (VOLATILE(words)[2] == 0) {
            words[1] = 7;
            __threadfence();
            VOLATILE(words)[2] = 1;
        }
        __threadfence();
        atomicExch(&words[0], 0);
    }
    __threadfence();
    atomicAdd(&out[0], words[1]);
}

// Word 2 is 0 at first, 1 while a block initialises, and then 2.
__global__ void initialised_by_the_first(u32 *out, u32 *words)
{
    if (atomicCAS(&words[2], 0, 1) == 0) {
        words[1] = 7;
        store_release(&words[2], 2);
    }
    while (load_acquire(&words[2]) != 2) {}
    atomicAdd(&out[0], words[1]);
}

// All initialise with the same value, by accesses that do not race.
__global__ void initialised_by_all(u32 *out, u32 *words)
{
    if (load_relaxed(&words[1]) == 0)
        store_relaxed(&words[1], 7);
    atomicAdd(&out[0], load_relaxed(&words[1]));
}

__global__ void double_checked_no_release(u32 *out, u32 *words)
{
    // cause: the write is not released
    if (VOLATILE(words)[2] == 0) {
        while (atomicCAS(&words[0], 0, 1) != 0) {}
        __threadfence();
        if (VOLATILE(words)[2] == 0) {
            words[1] = 7; // race
            VOLATILE(words)[2] = 1;
        }
        __threadfence();
        atomicExch(&words[0], 0);
    }
    __threadfence();
    atomicAdd(&out[0], words[1]); // race
}

__global__ void double_checked_no_acquire(u32 *out, u32 *words)
{
    // cause: the read does not acquire
    if (VOLATILE(words)[2] == 0) {
        while (atomicCAS(&words[0], 0, 1) != 0) {}
        __threadfence();
        if (VOLATILE(words)[2] == 0) {
            words[1] = 7; // race
            __threadfence();
            VOLATILE(words)[2] = 1;
        }
        __threadfence();
        atomicExch(&words[0], 0);
    }
    atomicAdd(&out[0], words[1]); // race
}

// A maximum of floats by compare-and-swap, whose first load is weak.
__global__ void cas_loop(u32 *out)
{
    u32 mine = blockIdx.x * blockDim.x + threadIdx.x, old = load_relaxed(&out[0]), seen;
    do {
        seen = old;
        old = atomicCAS(&out[0], seen, max(seen, mine));
    } while (old != seen);
}

__global__ void cas_loop_of_a_guess(u32 *out)
{
    u32 mine = blockIdx.x * blockDim.x + threadIdx.x, old = 0, seen;
    do {
        seen = old;
        old = atomicCAS(&out[0], seen, max(seen, mine));
    } while (old != seen);
}

__global__ void cas_loop_that_ends_early(u32 *out)
{
    u32 mine = blockIdx.x * blockDim.x + threadIdx.x, seen = VOLATILE(out)[0];
    while (seen < mine) {
        u32 old = atomicCAS(&out[0], seen, mine);
        if (old == seen)
            break;
        seen = old;
    }
}

__global__ void cas_loop_of_weak_load(u32 *out)
{
    u32 mine = blockIdx.x * blockDim.x + threadIdx.x, old = out[0], seen; // race
    do {
        seen = old;
        old = atomicCAS(&out[0], seen, max(seen, mine)); // race
    } while (old != seen);
}

} // extern "C"
