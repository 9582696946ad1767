// Errors of published code, rebuilt from their reports, and their corrections.
#include "atomics.cuh"
#define VOLATILE(words) ((volatile u32 *)(words))

extern "C" {

// All threads of the last block read what thread 0 of each block has written
// (pytorch/pytorch#128455).
__global__ void last_block_reduces(u32 *out, u32 *words, u32 *parts)
{
    __shared__ bool last;
    if (threadIdx.x == 0)
        parts[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(&words[0], 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        atomicAdd(&out[0], parts[threadIdx.x]);
}

__global__ void last_block_reduces_no_acquire(u32 *out, u32 *words, u32 *parts)
{
    // cause: the read does not acquire
    __shared__ bool last;
    if (threadIdx.x == 0)
        parts[blockIdx.x] = blockIdx.x + 1; // race
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&words[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        atomicAdd(&out[0], parts[threadIdx.x]); // race
}

__global__ void last_block_reduces_fence_of_release(u32 *out, u32 *words, u32 *parts)
{
    // cause: the read does not acquire
    __shared__ bool last;
    if (threadIdx.x == 0)
        parts[blockIdx.x] = blockIdx.x + 1; // race
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&words[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        atomicAdd(&out[0], parts[threadIdx.x]); // race
}

// Blocks add to the same tile in their order, one after the other (NVIDIA/Fuser#2391).
__global__ void in_order(u32 *out, u32 *words)
{
    if (threadIdx.x == 0)
        while (load_acquire(&words[0]) != blockIdx.x) {}
    __syncthreads();
    out[threadIdx.x] = out[threadIdx.x] * 10 + blockIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0)
        store_release(&words[0], blockIdx.x + 1);
}

__global__ void in_order_fences(u32 *out, u32 *words)
{
    if (threadIdx.x == 0) {
        while (VOLATILE(words)[0] != blockIdx.x) {}
        __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = out[threadIdx.x] * 10 + blockIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        VOLATILE(words)[0] = blockIdx.x + 1;
    }
}

__global__ void in_order_no_release(u32 *out, u32 *words)
{
    // cause: the write is not released
    if (threadIdx.x == 0)
        while (load_acquire(&words[0]) != blockIdx.x) {}
    __syncthreads();
    out[threadIdx.x] = out[threadIdx.x] * 10 + blockIdx.x + 1; // race
    __syncthreads();
    if (threadIdx.x == 0)
        store_relaxed(&words[0], blockIdx.x + 1);
}

__global__ void in_order_no_last_barrier(u32 *out, u32 *words)
{
    if (threadIdx.x == 0)
        while (load_acquire(&words[0]) != blockIdx.x) {}
    __syncthreads();
    out[threadIdx.x] = out[threadIdx.x] * 10 + blockIdx.x + 1; // race
    if (threadIdx.x == 0)
        store_release(&words[0], blockIdx.x + 1);
}

// All threads count in a histogram, and after a barrier of the grid each block makes as many passes
// as it has read there (ROCm/aiter#4007). Words: the histogram, arrivals, flag, arrivals of passes.
__global__ void passes(u32 *out, u32 *words)
{
    atomicAdd(&words[0], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (add_acq_rel(&words[1], 1) == gridDim.x - 1)
            store_release(&words[2], 1);
        else
            while (load_acquire(&words[2]) == 0) {}
        u32 count = load_relaxed(&words[0]);
        for (u32 pass = 1; pass <= count; ++pass) {
            add_acq_rel(&words[3], 1);
            while (load_acquire(&words[3]) < pass * gridDim.x) {}
        }
        atomicAdd(&out[0], count);
    }
}

__global__ void passes_relaxed_arrival(u32 *out, u32 *words)
{
    atomicAdd(&words[0], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (atomicAdd(&words[1], 1) == gridDim.x - 1)
            store_release(&words[2], 1);
        else
            while (load_acquire(&words[2]) == 0) {}
        u32 count = load_relaxed(&words[0]);
        for (u32 pass = 1; pass <= count; ++pass) {
            add_acq_rel(&words[3], 1);
            while (load_acquire(&words[3]) < pass * gridDim.x) {} // deadlock
        }
        atomicAdd(&out[0], 6);
    }
}

// Workers wait for an event that the last block posts when all of them have counted in, but not all
// blocks are resident (mirage-project/mirage#761). Right: the last one to count in does the work.
__global__ void events_by_the_last(u32 *out, u32 *words)
{
    if (add_acq_rel(&words[0], 1) == gridDim.x - 1)
        out[0] = gridDim.x - 1;
}

__global__ void events_waited_for(u32 *out, u32 *words)
{
    if (blockIdx.x < gridDim.x - 1) {
        add_acq_rel(&words[0], 1);
        while (load_acquire(&words[1]) == 0) {} // deadlock
        atomicAdd(&out[0], 1);
    } else {
        while (load_acquire(&words[0]) < gridDim.x - 1) {} // deadlock
        store_release(&words[1], 1);
    }
}

// One warp publishes tiles, and the other two read each of them (NVlabs/cuda-oxide#1066).
__global__ void publish(u32 *out)
{
    __shared__ u32 tile, ready, freed;
    if (threadIdx.x == 0)
        ready = freed = 0;
    __syncthreads();
    for (u32 i = 1; i <= 3 && threadIdx.x % 32 == 0; ++i)
        if (threadIdx.x == 0) {
            while (VOLATILE(&freed)[0] < 2 * (i - 1)) {}
            __threadfence_block();
            tile = i;
            __threadfence_block();
            VOLATILE(&ready)[0] = i;
        } else {
            while (VOLATILE(&ready)[0] < i) {}
            __threadfence_block();
            atomicAdd(&out[0], tile);
            __threadfence_block();
            atomicAdd_block(&freed, 1);
        }
}

// Each tile has its own place.
__global__ void publish_side_by_side(u32 *out)
{
    __shared__ u32 tile[4], ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    for (u32 i = 1; i <= 3 && threadIdx.x % 32 == 0; ++i)
        if (threadIdx.x == 0) {
            tile[i] = i;
            __threadfence_block();
            VOLATILE(&ready)[0] = i;
        } else {
            while (VOLATILE(&ready)[0] < i) {}
            __threadfence_block();
            atomicAdd(&out[0], tile[i]);
        }
}

__global__ void publish_too_early(u32 *out)
{
    __shared__ u32 tile, ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    for (u32 i = 1; i <= 3 && threadIdx.x % 32 == 0; ++i)
        if (threadIdx.x == 0) {
            tile = i; // race
            __threadfence_block();
            VOLATILE(&ready)[0] = i;
        } else {
            while (VOLATILE(&ready)[0] < i) {}
            __threadfence_block();
            atomicAdd(&out[0], tile); // race
        }
}

__global__ void publish_waits_for_one_reader(u32 *out)
{
    __shared__ u32 tile, ready, freed;
    if (threadIdx.x == 0)
        ready = freed = 0;
    __syncthreads();
    for (u32 i = 1; i <= 3 && threadIdx.x % 32 == 0; ++i)
        if (threadIdx.x == 0) {
            while (VOLATILE(&freed)[0] < i - 1) {}
            __threadfence_block();
            tile = i; // race
            __threadfence_block();
            VOLATILE(&ready)[0] = i;
        } else {
            while (VOLATILE(&ready)[0] < i) {}
            __threadfence_block();
            atomicAdd(&out[0], tile); // race
            __threadfence_block();
            atomicAdd_block(&freed, 1);
        }
}

// Blocks count in when they take work and when they are done: with one counter for both, a block may
// pass before others are done (tokenspeed#351).
__global__ void two_counters(u32 *out, u32 *words, u32 *data)
{
    atomicAdd(&words[1], 1);
    store_relaxed(&data[blockIdx.x], 7);
    add_release(&words[0], 1);
    while (load_acquire(&words[0]) < gridDim.x) {}
    out[blockIdx.x] = load_relaxed(&data[(blockIdx.x + 1) % gridDim.x]);
}

__global__ void one_counter_for_two(u32 *out, u32 *words, u32 *data)
{
    atomicAdd(&words[0], 1);
    store_relaxed(&data[blockIdx.x], 7);
    add_release(&words[0], 1);
    while (load_acquire(&words[0]) < gridDim.x) {}
    out[blockIdx.x] = load_relaxed(&data[(blockIdx.x + 1) % gridDim.x]);
}

} // extern "C"
