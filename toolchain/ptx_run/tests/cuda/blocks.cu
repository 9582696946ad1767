// Work of one block or warp in shared memory.
#include "atomics.cuh"
#define ALL 0xffffffff

extern "C" {

// The sum of 64 numbers by a tree.
__global__ void tree(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    for (u32 half = 32; half > 0; half /= 2) {
        if (t < half)
            sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[0] = sums[0];
}

__global__ void tree_of_neighbours(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t];
    for (u32 by = 1; by < 64; by *= 2) {
        __syncthreads();
        if (t % (2 * by) == 0)
            sums[t] += sums[t + by];
    }
    if (t == 0)
        out[0] = sums[0];
}

__global__ void sum_by_atomics(u32 *out, const u32 *in)
{
    __shared__ u32 sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 63)
        out[0] = sum;
}

__global__ void sum_by_one_thread(u32 *out, const u32 *in)
{
    __shared__ u32 all[64];
    all[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 17)
        for (u32 i = 0; i < 64; ++i)
            out[0] += all[i];
}

__global__ void tree_no_barrier_in_the_loop(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    for (u32 half = 32; half > 0; half /= 2)
        if (t < half)
            sums[t] += sums[t + half]; // race
    if (t == 0)
        out[0] = sums[0];
}

__global__ void tree_no_first_barrier(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t]; // race
    for (u32 half = 32; half > 0; half /= 2) {
        if (t < half)
            sums[t] += sums[t + half]; // race
        __syncthreads();
    }
    if (t == 0)
        out[0] = sums[0];
}

__global__ void tree_barrier_in_the_branch(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads(); // barrier
    for (u32 half = 32; half > 0; half /= 2)
        if (t < half) {
            sums[t] += sums[t + half];
            __syncthreads(); // barrier
        }
    if (t == 0)
        out[0] = sums[0];
}

__global__ void tree_one_element_too_far(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    for (u32 half = 32; half > 0; half /= 2) {
        if (t <= half)
            sums[t] += sums[t + half]; // out of bounds
        __syncthreads();
    }
    if (t == 0)
        out[0] = sums[0];
}

__global__ void tree_half_uninitialised(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    if (t < 32)
        sums[t] = in[t];
    __syncthreads();
    for (u32 half = 32; half > 0; half /= 2) {
        if (t < half)
            sums[t] += sums[t + half]; // uninitialised
        __syncthreads();
    }
    if (t == 0)
        out[0] = sums[0];
}

// The last steps within a warp.
__global__ void tree_of_warp(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    if (t < 32)
        for (u32 half = 32; half > 0; half /= 2) {
            u32 sum = sums[t] + sums[t + half];
            __syncwarp();
            sums[t] = sum;
            __syncwarp();
        }
    if (t == 0)
        out[0] = sums[0];
}

__global__ void tree_of_warp_no_syncwarp(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    if (t < 32)
        for (u32 half = 32; half > 0; half /= 2)
            sums[t] += sums[t + half]; // race
    if (t == 0)
        out[0] = sums[0];
}

__global__ void tree_of_warp_one_syncwarp(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    if (t < 32)
        for (u32 half = 32; half > 0; half /= 2) {
            sums[t] += sums[t + half]; // race
            __syncwarp();
        }
    if (t == 0)
        out[0] = sums[0];
}

// As if lanes still ran in lockstep.
__global__ void tree_of_warp_volatile(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    volatile u32 *all = sums;
    u32 t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    if (t < 32)
        for (u32 half = 32; half > 0; half /= 2)
            all[t] += all[t + half];
    if (t == 0)
        out[0] = sums[0];
}

__global__ void shuffles(u32 *out, const u32 *in)
{
    __shared__ u32 sums[2];
    u32 t = threadIdx.x, sum = in[t];
    for (u32 half = 16; half > 0; half /= 2)
        sum += __shfl_down_sync(ALL, sum, half);
    if (t % 32 == 0)
        sums[t / 32] = sum;
    __syncthreads();
    if (t == 0)
        out[0] = sums[0] + sums[1];
}

__global__ void shuffles_butterfly(u32 *out, const u32 *in)
{
    u32 sum = in[threadIdx.x];
    for (u32 by = 1; by < 32; by *= 2)
        sum += __shfl_xor_sync(ALL, sum, by);
    if (threadIdx.x % 32 == 31)
        atomicAdd(&out[0], sum);
}

__global__ void reduced_by_instruction(u32 *out, const u32 *in)
{
    u32 sum = __reduce_add_sync(ALL, in[threadIdx.x]);
    if (threadIdx.x % 32 == 5)
        atomicAdd(&out[0], sum);
}

// Half of the lanes, with their mask.
__global__ void shuffles_of_half_warps(u32 *out, const u32 *in)
{
    u32 lane = threadIdx.x % 32, sum = in[threadIdx.x];
    u32 mask = lane < 16 ? 0xffff : 0xffff0000;
    if (lane < 16)
        sum += __shfl_xor_sync(mask, sum, 8);
    else
        sum += __shfl_xor_sync(mask, sum, 8);
    for (u32 by = 4; by > 0; by /= 2)
        sum += __shfl_xor_sync(mask, sum, by);
    if (lane % 16 == 0)
        atomicAdd(&out[0], sum);
}

__global__ void shuffles_no_barrier(u32 *out, const u32 *in)
{
    __shared__ u32 sums[2];
    u32 t = threadIdx.x, sum = in[t];
    for (u32 half = 16; half > 0; half /= 2)
        sum += __shfl_down_sync(ALL, sum, half);
    if (t % 32 == 0)
        sums[t / 32] = sum; // race
    if (t == 0)
        out[0] = sums[0] + sums[1]; // race
}

__global__ void shuffles_barrier_of_warp(u32 *out, const u32 *in)
{
    __shared__ u32 sums[2];
    u32 t = threadIdx.x, sum = in[t];
    for (u32 half = 16; half > 0; half /= 2)
        sum += __shfl_down_sync(ALL, sum, half);
    if (t % 32 == 0)
        sums[t / 32] = sum; // race
    __syncwarp();
    if (t == 0)
        out[0] = sums[0] + sums[1]; // race
}

__global__ void shuffles_without_half_of_the_lanes(u32 *out, const u32 *in)
{
    __shared__ u32 sums[2];
    u32 t = threadIdx.x, sum = in[t];
    for (u32 half = 16; half > 0; half /= 2)
        if (t % 32 < half)
            sum += __shfl_down_sync(ALL, sum, half); // barrier
    if (t % 32 == 0)
        sums[t / 32] = sum;
    __syncthreads(); // barrier
    if (t == 0)
        out[0] = sums[0] + sums[1];
}

__global__ void shuffles_one_too_few(u32 *out, const u32 *in)
{
    __shared__ u32 sums[2];
    u32 t = threadIdx.x, sum = in[t];
    for (u32 half = 16; half > 1; half /= 2)
        sum += __shfl_down_sync(ALL, sum, half);
    if (t % 32 == 0)
        sums[t / 32] = sum;
    __syncthreads();
    if (t == 0)
        out[0] = sums[0] + sums[1];
}

// Threads beyond the end leave before the barrier.
__global__ void reversed(u32 *out, const u32 *in, u32 count)
{
    __shared__ u32 tile[64];
    u32 t = threadIdx.x;
    if (t < count)
        tile[t] = in[t];
    __syncthreads();
    if (t < count)
        out[t] = tile[count - 1 - t];
}

__global__ void reversed_without_sharing(u32 *out, const u32 *in, u32 count)
{
    if (threadIdx.x < count)
        out[threadIdx.x] = in[count - 1 - threadIdx.x];
}

// Threads beyond the end leave after the barrier.
__global__ void reversed_late_return(u32 *out, const u32 *in, u32 count)
{
    __shared__ u32 tile[64];
    u32 t = threadIdx.x;
    tile[t] = t < count ? in[t] : 0;
    __syncthreads();
    if (t >= count)
        return;
    out[t] = tile[count - 1 - t];
}

__global__ void reversed_early_return(u32 *out, const u32 *in, u32 count)
{
    __shared__ u32 tile[64];
    u32 t = threadIdx.x;
    if (t >= count)
        return;
    tile[t] = in[t];
    __syncthreads(); // barrier
    out[t] = tile[count - 1 - t];
}

__global__ void reversed_no_barrier(u32 *out, const u32 *in, u32 count)
{
    __shared__ u32 tile[64];
    u32 t = threadIdx.x;
    if (t < count)
        tile[t] = in[t]; // race
    if (t < count)
        out[t] = tile[count - 1 - t]; // race
}

__global__ void reversed_no_guard(u32 *out, const u32 *in, u32 count)
{
    __shared__ u32 tile[64];
    u32 t = threadIdx.x;
    tile[t] = in[t]; // out of bounds
    __syncthreads();
    if (t < count)
        out[t] = tile[count - 1 - t];
}

__global__ void reversed_one_too_far(u32 *out, const u32 *in, u32 count)
{
    __shared__ u32 tile[64];
    u32 t = threadIdx.x;
    if (t < count)
        tile[t] = in[t];
    __syncthreads();
    if (t < count)
        out[t] = tile[count - t]; // uninitialised
}

// In place, in device memory.
__global__ void shifted(u32 *out)
{
    u32 t = threadIdx.x, next = out[(t + 1) % blockDim.x];
    __syncthreads();
    out[t] = next;
}

__global__ void shifted_by_shuffle(u32 *out)
{
    u32 t = threadIdx.x, next = __shfl_sync(0xff, out[t], (t + 1) % blockDim.x);
    out[t] = next;
}

__global__ void shifted_barrier_of_warp(u32 *out)
{
    u32 t = threadIdx.x, next = out[(t + 1) % blockDim.x];
    __syncwarp(0xff);
    out[t] = next;
}

__global__ void shifted_no_barrier(u32 *out)
{
    u32 t = threadIdx.x, next = out[(t + 1) % blockDim.x]; // race
    out[t] = next; // race
}

} // extern "C"
