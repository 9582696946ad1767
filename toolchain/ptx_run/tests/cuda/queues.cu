// Queues, pools of tasks, and work stealing.
#include "atomics.cuh"
#define VOLATILE(words) ((volatile u32 *)(words))

extern "C" {

// Threads draw tasks until none are left, and count each one. Word 0 is the next task.
__global__ void draw_tasks(u32 *out, u32 *words)
{
    for (u32 task; (task = atomicAdd(&words[0], 1)) < 8;)
        atomicAdd(&out[task], 1);
}

__global__ void draw_tasks_in_pairs(u32 *out, u32 *words)
{
    for (u32 task; (task = atomicAdd(&words[0], 2)) < 8;) {
        out[task] += 1;
        out[task + 1] += 1;
    }
}

__global__ void draw_tasks_for_each_block(u32 *out, u32 *words)
{
    for (u32 task; (task = atomicAdd_block(&words[blockIdx.x], 1)) < 4;)
        out[blockIdx.x * 4 + task] += 1;
}

__global__ void tasks_in_strides(u32 *out, u32 *words)
{
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < 8; i += gridDim.x * blockDim.x)
        out[i] = 1;
}

// A task is claimed by its flag.
__global__ void claim_tasks(u32 *out, u32 *words)
{
    for (u32 task = 0; task < 8; ++task)
        if (VOLATILE(words)[task] == 0 && atomicExch(&words[task], 1) == 0)
            out[task] += 1;
}

__global__ void draw_tasks_plain(u32 *out, u32 *words)
{
    for (u32 task; (task = words[0]++) < 8;) // race
        atomicAdd(&out[task], 1);
}

__global__ void draw_tasks_volatile(u32 *out, u32 *words)
{
    for (u32 task; (task = VOLATILE(words)[0]++) < 8;)
        atomicAdd(&out[task], 1);
}

__global__ void draw_tasks_of_block_scope(u32 *out, u32 *words)
{
    // cause: block scope does not reach the other thread
    for (u32 task; (task = atomicAdd_block(&words[0], 1)) < 8;) // race
        atomicAdd(&out[task], 1);
}

__global__ void draw_tasks_too_many(u32 *out, u32 *words)
{
    for (u32 task; (task = atomicAdd(&words[0], 1)) <= 8;)
        atomicAdd(&out[task], 1); // out of bounds
}

// One thread draws for its block, and shares the number.
__global__ void draw_tasks_by_block(u32 *out, u32 *words)
{
    __shared__ u32 task;
    for (;;) {
        if (threadIdx.x == 0)
            task = atomicAdd(&words[0], 1);
        __syncthreads();
        u32 mine = task;
        __syncthreads();
        if (mine >= 8)
            return;
        if (threadIdx.x == 1)
            atomicAdd(&out[mine], 1);
    }
}

__global__ void draw_tasks_by_block_one_barrier(u32 *out, u32 *words)
{
    __shared__ u32 task;
    for (;;) {
        if (threadIdx.x == 0)
            task = atomicAdd(&words[0], 1); // race
        __syncthreads();
        u32 mine = task; // race
        if (mine >= 8)
            return;
        if (threadIdx.x == 1)
            atomicAdd(&out[mine], 1);
    }
}

// Each block has four tasks, and takes those of the other one when it has none. The counters of both
// are in words 0 and 1.
__global__ void steal(u32 *out, u32 *words)
{
    for (u32 of = 0; of < gridDim.x; ++of) {
        u32 victim = (blockIdx.x + of) % gridDim.x;
        for (u32 task; (task = atomicAdd(&words[victim], 1)) < 4;)
            atomicAdd(&out[victim * 4 + task], 1);
    }
}

// The owner counts at block scope.
__global__ void steal_from_block_scope(u32 *out, u32 *words)
{
    // cause: block scope does not reach the other thread
    for (u32 of = 0; of < gridDim.x; ++of) {
        u32 victim = (blockIdx.x + of) % gridDim.x, task;
        for (;;) {
            if (of == 0)
                task = atomicAdd_block(&words[victim], 1); // race
            else
                task = atomicAdd(&words[victim], 1); // race
            if (task >= 4)
                break;
            atomicAdd(&out[victim * 4 + task], 1);
        }
    }
}

// The owner does not use atomics, because it is alone most of the time.
__global__ void steal_from_plain(u32 *out, u32 *words)
{
    for (u32 of = 0; of < gridDim.x; ++of) {
        u32 victim = (blockIdx.x + of) % gridDim.x, task;
        for (;;) {
            if (of == 0)
                task = words[victim]++; // race
            else
                task = atomicAdd(&words[victim], 1); // race
            if (task >= 4)
                break;
            atomicAdd(&out[victim * 4 + task], 1);
        }
    }
}

// The first block produces six numbers in a ring of two, and the second one sums them. Words 0 and 1
// count those produced and consumed.
__global__ void ring(u32 *out, u32 *words, u32 *slots)
{
    for (u32 i = 0; i < 6; ++i)
        if (blockIdx.x == 0) {
            while (i - load_acquire(&words[1]) >= 2) {}
            slots[i % 2] = i + 1;
            store_release(&words[0], i + 1);
        } else {
            while (load_acquire(&words[0]) <= i) {}
            out[0] += slots[i % 2];
            store_release(&words[1], i + 1);
        }
}

__global__ void ring_fences(u32 *out, u32 *words, u32 *slots)
{
    for (u32 i = 0; i < 6; ++i)
        if (blockIdx.x == 0) {
            while (i - VOLATILE(words)[1] >= 2) {}
            __threadfence();
            slots[i % 2] = i + 1;
            __threadfence();
            VOLATILE(words)[0] = i + 1;
        } else {
            while (VOLATILE(words)[0] <= i) {}
            __threadfence();
            out[0] += slots[i % 2];
            __threadfence();
            VOLATILE(words)[1] = i + 1;
        }
}

// The producer may overwrite what has not been read.
// Each slot has the number of its next use, so that there is no counter of all.
__global__ void ring_of_numbered_slots(u32 *out, u32 *words, u32 *slots)
{
    for (u32 i = 0; i < 6; ++i) {
        u32 *turn = &words[i % 2], use = 2 * (i / 2);
        if (blockIdx.x == 0) {
            while (load_acquire(turn) != use) {}
            slots[i % 2] = i + 1;
            store_release(turn, use + 1);
        } else {
            while (load_acquire(turn) != use + 1) {}
            out[0] += slots[i % 2];
            store_release(turn, use + 2);
        }
    }
}

__global__ void ring_no_wait_for_room(u32 *out, u32 *words, u32 *slots)
{
    for (u32 i = 0; i < 6; ++i)
        if (blockIdx.x == 0) {
            slots[i % 2] = i + 1; // race
            store_release(&words[0], i + 1);
        } else {
            while (load_acquire(&words[0]) <= i) {}
            out[0] += slots[i % 2]; // race
            store_release(&words[1], i + 1);
        }
}

__global__ void ring_one_too_many(u32 *out, u32 *words, u32 *slots)
{
    for (u32 i = 0; i < 6; ++i)
        if (blockIdx.x == 0) {
            while (i - load_acquire(&words[1]) > 2) {}
            slots[i % 2] = i + 1; // race
            store_release(&words[0], i + 1);
        } else {
            while (load_acquire(&words[0]) <= i) {}
            out[0] += slots[i % 2]; // race
            store_release(&words[1], i + 1);
        }
}

__global__ void ring_consumer_does_not_release(u32 *out, u32 *words, u32 *slots)
{
    // cause: the write is not released
    for (u32 i = 0; i < 6; ++i)
        if (blockIdx.x == 0) {
            while (i - load_acquire(&words[1]) >= 2) {}
            slots[i % 2] = i + 1; // race
            store_release(&words[0], i + 1);
        } else {
            while (load_acquire(&words[0]) <= i) {}
            out[0] += slots[i % 2]; // race
            store_relaxed(&words[1], i + 1);
        }
}

// The producer waits for an empty slot that the consumer frees only after two.
__global__ void ring_waits_for_each_other(u32 *out, u32 *words, u32 *slots)
{
    for (u32 i = 0; i < 6; ++i)
        if (blockIdx.x == 0) {
            while (i - load_acquire(&words[1]) >= 2) {} // deadlock
            slots[i % 2] = i + 1;
            store_release(&words[0], i + 1);
        } else {
            while (load_acquire(&words[0]) <= i + 2) {} // deadlock
            out[0] += slots[i % 2];
            store_release(&words[1], i + 1);
        }
}

// All threads append their numbers to a list, whose length is in word 0.
__global__ void append(u32 *out, u32 *words, u32 *list)
{
    list[atomicAdd(&words[0], 1)] = 1;
    __threadfence();
    if (atomicAdd(&words[1], 1) == gridDim.x * blockDim.x - 1) {
        __threadfence();
        for (u32 i = 0; i < VOLATILE(words)[0]; ++i)
            out[0] += list[i];
    }
}

// An entry is published by a flag of its own.
__global__ void append_with_flags(u32 *out, u32 *words, u32 *list)
{
    store_relaxed(&list[atomicAdd(&words[0], 1)], 1);
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        u32 sum = 0;
        for (u32 i = 0; i < gridDim.x * blockDim.x; ++i) {
            while (load_relaxed(&list[i]) == 0) {}
            sum += 1;
        }
        out[0] = sum;
    }
}

__global__ void append_for_the_block(u32 *out, u32 *words, u32 *list)
{
    __shared__ u32 first;
    if (threadIdx.x == 0)
        first = atomicAdd(&words[0], blockDim.x);
    __syncthreads();
    list[first + threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0 && add_acq_rel(&words[1], 1) == gridDim.x - 1)
        for (u32 i = 0; i < words[0]; ++i)
            out[0] += list[i];
}

__global__ void append_plain(u32 *out, u32 *words, u32 *list)
{
    list[words[0]++] = 1; // race
    __threadfence();
    if (atomicAdd(&words[1], 1) == gridDim.x * blockDim.x - 1) {
        __threadfence();
        for (u32 i = 0; i < words[0]; ++i)
            out[0] += list[i];
    }
}

// An entry is read as soon as it is counted, and not when it is written.
__global__ void append_and_read(u32 *out, u32 *words, u32 *list)
{
    list[atomicAdd(&words[0], 1)] = 1; // race
    if (VOLATILE(words)[0] == gridDim.x * blockDim.x && atomicExch(&words[1], 1) == 0)
        for (u32 i = 0; i < gridDim.x * blockDim.x; ++i)
            out[0] += list[i]; // race
}

__global__ void append_beyond_the_end(u32 *out, u32 *words, u32 *list)
{
    list[atomicAdd(&words[0], 1) + 1] = 1; // out of bounds
    __threadfence();
    if (atomicAdd(&words[1], 1) == gridDim.x * blockDim.x - 1) {
        __threadfence();
        for (u32 i = 1; i <= VOLATILE(words)[0]; ++i)
            out[0] += list[i];
    }
}

} // extern "C"
