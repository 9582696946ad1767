// Barriers of a grid and the last block: word 0 is the counter, word 1 the generation or flag.
#include "atomics.cuh"
#define VOLATILE(words) ((volatile u32 *)(words))

// In the kernels of a grid barrier each thread writes its number, and after the barrier reads that of
// the same thread of the next block.
#define MINE (blockIdx.x * blockDim.x + threadIdx.x)
#define NEXT ((blockIdx.x + 1) % gridDim.x * blockDim.x + threadIdx.x)

extern "C" {

__global__ void grid_barrier(u32 *out, u32 *words, u32 *data)
{
    data[MINE] = MINE;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&words[0], 1);
        while (VOLATILE(words)[0] < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]);
}

__global__ void grid_barrier_release_acquire(u32 *out, u32 *words, u32 *data)
{
    data[MINE] = MINE;
    __syncthreads();
    if (threadIdx.x == 0) {
        add_release(&words[0], 1);
        while (load_acquire(&words[0]) < gridDim.x) {}
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]);
}

__global__ void grid_barrier_polled_by_addition(u32 *out, u32 *words, u32 *data)
{
    data[MINE] = MINE;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        add_acq_rel(&words[0], 1);
        while (add_acq_rel(&words[0], 0) < gridDim.x) {}
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]);
}

// Block 0 collects the flags of the others, and then sets its own.
__global__ void grid_barrier_of_flags(u32 *out, u32 *words, u32 *data)
{
    data[MINE] = MINE;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0)
            for (u32 i = 1; i < gridDim.x; ++i)
                while (load_acquire(&words[i]) == 0) {}
        store_release(&words[blockIdx.x], 1);
        while (load_acquire(&words[0]) == 0) {}
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]);
}

// All threads count and wait, so that no barrier of the block is needed.
__global__ void grid_barrier_of_each_thread(u32 *out, u32 *words, u32 *data)
{
    data[MINE] = MINE;
    add_release(&words[0], 1);
    while (load_acquire(&words[0]) < gridDim.x * blockDim.x) {}
    atomicAdd(&out[0], data[NEXT]);
}

__global__ void grid_barrier_no_fences(u32 *out, u32 *words, u32 *data)
{
    // cause: the write is not released
    // cause: the read does not acquire
    data[MINE] = MINE; // race
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&words[0], 1);
        while (VOLATILE(words)[0] < gridDim.x) {}
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]); // race
}

__global__ void grid_barrier_no_release(u32 *out, u32 *words, u32 *data)
{
    // cause: the write is not released
    data[MINE] = MINE; // race
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&words[0], 1);
        while (VOLATILE(words)[0] < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]); // race
}

__global__ void grid_barrier_no_acquire(u32 *out, u32 *words, u32 *data)
{
    // cause: the read does not acquire
    data[MINE] = MINE; // race
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&words[0], 1);
        while (VOLATILE(words)[0] < gridDim.x) {}
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]); // race
}

__global__ void grid_barrier_no_barrier_before(u32 *out, u32 *words, u32 *data)
{
    data[MINE] = MINE; // race
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&words[0], 1);
        while (VOLATILE(words)[0] < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]); // race
}

__global__ void grid_barrier_no_barrier_after(u32 *out, u32 *words, u32 *data)
{
    data[MINE] = MINE; // race
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&words[0], 1);
        while (VOLATILE(words)[0] < gridDim.x) {}
        __threadfence();
    }
    atomicAdd(&out[0], data[NEXT]); // race
}

__global__ void grid_barrier_counts_too_many(u32 *out, u32 *words, u32 *data)
{
    data[MINE] = MINE;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&words[0], 1);
        while (VOLATILE(words)[0] <= gridDim.x) {} // deadlock
        __threadfence();
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]);
}

__global__ void grid_barrier_counts_all_threads(u32 *out, u32 *words, u32 *data)
{
    data[MINE] = MINE; // race
    __threadfence();
    atomicAdd(&words[0], 1);
    if (threadIdx.x == 0) {
        while (VOLATILE(words)[0] < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    atomicAdd(&out[0], data[NEXT]); // race
}

// A barrier that is crossed three times: the last block to arrive starts the next generation.
__global__ void generations(u32 *out, u32 *words)
{
    for (u32 round = 0; round < 3; ++round) {
        out[blockIdx.x] += 1;
        __threadfence();
        u32 generation = VOLATILE(words)[1];
        if (atomicAdd(&words[0], 1) == gridDim.x - 1) {
            VOLATILE(words)[0] = 0;
            __threadfence();
            VOLATILE(words)[1] = generation + 1;
        } else {
            while (VOLATILE(words)[1] == generation) {}
        }
        __threadfence();
    }
}

// The generation is read after the arrival, when it may be over.
// The counter is never reset.
__global__ void generations_that_only_count(u32 *out, u32 *words)
{
    for (u32 round = 1; round <= 3; ++round) {
        out[blockIdx.x] += 1;
        add_release(&words[0], 1);
        while (load_acquire(&words[0]) < round * gridDim.x) {}
    }
}

// The sense alternates, and the last one resets the counter before it starts the next round.
__global__ void generations_of_two_senses(u32 *out, u32 *words)
{
    for (u32 round = 0, sense = 1; round < 3; ++round, sense ^= 1) {
        out[blockIdx.x] += 1;
        if (add_acq_rel(&words[0], 1) == gridDim.x - 1) {
            store_relaxed(&words[0], 0);
            store_release(&words[1], sense);
        } else {
            while (load_acquire(&words[1]) != sense) {}
        }
    }
}

__global__ void generations_read_late(u32 *out, u32 *words)
{
    for (u32 round = 0; round < 3; ++round) {
        out[blockIdx.x] += 1;
        __threadfence();
        bool last = atomicAdd(&words[0], 1) == gridDim.x - 1;
        __threadfence();
        u32 generation = VOLATILE(words)[1];
        if (last) {
            VOLATILE(words)[0] = 0;
            __threadfence();
            VOLATILE(words)[1] = generation + 1;
        } else {
            while (VOLATILE(words)[1] == generation) {} // deadlock
        }
        __threadfence();
    }
}

// The others wait for the reset of the counter, but the last block may arrive again before they see it.
__global__ void generations_by_reset(u32 *out, u32 *words)
{
    for (u32 round = 0; round < 3; ++round) {
        out[blockIdx.x] += 1;
        __threadfence();
        if (atomicAdd(&words[0], 1) == gridDim.x - 1)
            atomicExch(&words[0], 0);
        else
            while (VOLATILE(words)[0] != 0) {} // deadlock
        __threadfence();
    }
}

// The counter is reset after the generation has started: arrivals are lost.
__global__ void generations_reset_late(u32 *out, u32 *words)
{
    for (u32 round = 0; round < 3; ++round) {
        out[blockIdx.x] += 1;
        __threadfence();
        u32 generation = VOLATILE(words)[1];
        if (atomicAdd(&words[0], 1) == gridDim.x - 1) {
            VOLATILE(words)[1] = generation + 1;
            __threadfence();
            VOLATILE(words)[0] = 0;
        } else {
            while (VOLATILE(words)[1] == generation) {} // deadlock
        }
        __threadfence();
    }
}

// Each block writes a number, and the last one to arrive sums them.
__global__ void last_block(u32 *out, u32 *words, u32 *data)
{
    data[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    if (atomicInc(&words[0], gridDim.x - 1) == gridDim.x - 1) {
        __threadfence();
        for (u32 i = 0; i < gridDim.x; ++i)
            out[0] += data[i];
    }
}

__global__ void last_block_acq_rel(u32 *out, u32 *words, u32 *data)
{
    data[blockIdx.x] = blockIdx.x + 1;
    if (add_acq_rel(&words[0], 1) == gridDim.x - 1)
        for (u32 i = 0; i < gridDim.x; ++i)
            out[0] += data[i];
}

__global__ void last_block_relaxed_data(u32 *out, u32 *words, u32 *data)
{
    VOLATILE(data)[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    if (atomicAdd(&words[0], 1) == gridDim.x - 1) {
        __threadfence();
        u32 sum = 0;
        for (u32 i = 0; i < gridDim.x; ++i)
            sum += VOLATILE(data)[i];
        out[0] = sum;
    }
}

__global__ void last_block_no_fences(u32 *out, u32 *words, u32 *data)
{
    // cause: the write is not released
    // cause: the read does not acquire
    data[blockIdx.x] = blockIdx.x + 1; // race
    if (atomicInc(&words[0], gridDim.x - 1) == gridDim.x - 1)
        for (u32 i = 0; i < gridDim.x; ++i)
            out[0] += data[i]; // race
}

__global__ void last_block_no_release(u32 *out, u32 *words, u32 *data)
{
    // cause: the write is not released
    data[blockIdx.x] = blockIdx.x + 1; // race
    if (atomicInc(&words[0], gridDim.x - 1) == gridDim.x - 1) {
        __threadfence();
        for (u32 i = 0; i < gridDim.x; ++i)
            out[0] += data[i]; // race
    }
}

__global__ void last_block_no_acquire(u32 *out, u32 *words, u32 *data)
{
    // cause: the read does not acquire
    data[blockIdx.x] = blockIdx.x + 1; // race
    __threadfence();
    if (atomicInc(&words[0], gridDim.x - 1) == gridDim.x - 1)
        for (u32 i = 0; i < gridDim.x; ++i)
            out[0] += data[i]; // race
}

__global__ void last_block_release_only(u32 *out, u32 *words, u32 *data)
{
    // cause: the read does not acquire
    data[blockIdx.x] = blockIdx.x + 1; // race
    if (add_release(&words[0], 1) == gridDim.x - 1)
        for (u32 i = 0; i < gridDim.x; ++i)
            out[0] += data[i]; // race
}

// The block with the highest number need not be the last.
__global__ void last_block_by_number(u32 *out, u32 *words, u32 *data)
{
    data[blockIdx.x] = blockIdx.x + 1; // race
    __threadfence();
    atomicInc(&words[0], gridDim.x - 1);
    if (blockIdx.x == gridDim.x - 1) {
        __threadfence();
        for (u32 i = 0; i < gridDim.x; ++i)
            out[0] += data[i]; // race
    }
}

// A scan in which each block waits for the sum of the block before it, which is never 0.
__global__ void look_back(u32 *out, u32 *words)
{
    u32 before = 0;
    if (blockIdx.x > 0)
        while ((before = load_acquire(&words[blockIdx.x - 1])) == 0) {}
    out[blockIdx.x] = before + 5;
    store_release(&words[blockIdx.x], before + 5);
}

// The sums are next to flags, and plain.
__global__ void look_back_by_flags(u32 *out, u32 *words)
{
    u32 before = 0;
    if (blockIdx.x > 0) {
        while (load_acquire(&words[blockIdx.x - 1]) == 0) {}
        before = out[blockIdx.x - 1];
    }
    out[blockIdx.x] = before + 5;
    store_release(&words[blockIdx.x], 1);
}

__global__ void look_back_by_fences(u32 *out, u32 *words)
{
    u32 before = 0;
    if (blockIdx.x > 0) {
        while (VOLATILE(words)[blockIdx.x - 1] == 0) {}
        __threadfence();
        before = out[blockIdx.x - 1];
    }
    out[blockIdx.x] = before + 5;
    __threadfence();
    VOLATILE(words)[blockIdx.x] = 1;
}

// Sums of all blocks before it, which are published before it waits.
__global__ void look_back_at_all(u32 *out, u32 *words)
{
    store_relaxed(&words[blockIdx.x], 5);
    u32 sum = 5;
    for (u32 i = blockIdx.x; i-- > 0;) {
        u32 part;
        while ((part = load_relaxed(&words[i])) == 0) {}
        sum += part;
    }
    out[blockIdx.x] = sum;
}

__global__ void look_back_by_relaxed_flags(u32 *out, u32 *words)
{
    // cause: the write is not released
    // cause: the read does not acquire
    u32 before = 0;
    if (blockIdx.x > 0) {
        while (load_relaxed(&words[blockIdx.x - 1]) == 0) {}
        before = out[blockIdx.x - 1]; // race
    }
    out[blockIdx.x] = before + 5; // race
    store_relaxed(&words[blockIdx.x], 1);
}

__global__ void look_back_flag_first(u32 *out, u32 *words)
{
    u32 before = 0;
    if (blockIdx.x > 0) {
        while (load_acquire(&words[blockIdx.x - 1]) == 0) {}
        before = out[blockIdx.x - 1]; // race
    }
    store_release(&words[blockIdx.x], 1);
    out[blockIdx.x] = before + 5; // race
}

__global__ void look_back_waits_for_itself(u32 *out, u32 *words)
{
    while (load_acquire(&words[blockIdx.x]) == 0 && blockIdx.x > 0) {} // deadlock
    out[blockIdx.x] = 5 * (blockIdx.x + 1);
    store_release(&words[blockIdx.x], 1);
}

// Only two blocks are resident. Blocks draw their numbers when they start, or wait by their index.
__global__ void order_drawn(u32 *out, u32 *words)
{
    u32 number = atomicAdd(&words[7], 1);
    if (number > 0)
        while (load_acquire(&words[number - 1]) == 0) {}
    store_release(&words[number], 1);
    atomicAdd(&out[0], 1);
}

__global__ void order_by_index(u32 *out, u32 *words)
{
    if (blockIdx.x > 0)
        while (load_acquire(&words[blockIdx.x - 1]) == 0) {} // deadlock
    store_release(&words[blockIdx.x], 1);
    atomicAdd(&out[0], 1);
}

__global__ void order_backwards(u32 *out, u32 *words)
{
    if (blockIdx.x < gridDim.x - 1)
        while (load_acquire(&words[blockIdx.x + 1]) == 0) {} // deadlock
    store_release(&words[blockIdx.x], 1);
    atomicAdd(&out[0], 1);
}

} // extern "C"
