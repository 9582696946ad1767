// Tiles, histograms and scans of one block in shared memory.
#include "atomics.cuh"

extern "C" {

// Sums of tiles that are loaded into the same shared memory.
__global__ void tiles(u32 *out, const u32 *in)
{
    __shared__ u32 tile[32];
    u32 t = threadIdx.x, sum = 0;
    for (u32 first = 0; first < 64; first += 32) {
        tile[t] = in[first + t];
        __syncthreads();
        sum += tile[31 - t];
        __syncthreads();
    }
    atomicAdd(&out[0], sum);
}

__global__ void tiles_no_second_barrier(u32 *out, const u32 *in)
{
    __shared__ u32 tile[32];
    u32 t = threadIdx.x, sum = 0;
    for (u32 first = 0; first < 64; first += 32) {
        tile[t] = in[first + t]; // race
        __syncthreads();
        sum += tile[31 - t]; // race
    }
    atomicAdd(&out[0], sum);
}

__global__ void tiles_no_first_barrier(u32 *out, const u32 *in)
{
    __shared__ u32 tile[32];
    u32 t = threadIdx.x, sum = 0;
    for (u32 first = 0; first < 64; first += 32) {
        tile[t] = in[first + t]; // race
        sum += tile[31 - t]; // race
        __syncthreads();
    }
    atomicAdd(&out[0], sum);
}

// Two buffers need one barrier for each tile.
__global__ void tiles_of_two_buffers(u32 *out, const u32 *in)
{
    __shared__ u32 tile[2][32];
    u32 t = threadIdx.x, sum = 0;
    for (u32 first = 0; first < 64; first += 32) {
        u32 *mine = tile[first / 32 % 2];
        mine[t] = in[first + t];
        __syncthreads();
        sum += mine[31 - t];
    }
    atomicAdd(&out[0], sum);
}

// A histogram of the lowest two bits.
__global__ void histogram(u32 *out, const u32 *in)
{
    __shared__ u32 bins[4];
    u32 t = threadIdx.x;
    if (t < 4)
        bins[t] = 0;
    __syncthreads();
    atomicAdd_block(&bins[in[t] % 4], 1);
    __syncthreads();
    if (t < 4)
        atomicAdd(&out[t], bins[t]);
}

__global__ void histogram_of_device(u32 *out, const u32 *in)
{
    atomicAdd(&out[in[threadIdx.x] % 4], 1);
}

__global__ void histogram_of_equal_lanes(u32 *out, const u32 *in)
{
    u32 bin = in[threadIdx.x] % 4, equal = __match_any_sync(0xffffffff, bin);
    if (threadIdx.x % 32 == 31 - __clz(equal))
        atomicAdd(&out[bin], __popc(equal));
}

__global__ void histogram_by_votes(u32 *out, const u32 *in)
{
    for (u32 bin = 0; bin < 4; ++bin) {
        u32 count = __syncthreads_count(in[threadIdx.x] % 4 == bin);
        if (threadIdx.x == bin)
            out[bin] = count;
    }
}

__global__ void histogram_no_first_barrier(u32 *out, const u32 *in)
{
    __shared__ u32 bins[4];
    u32 t = threadIdx.x;
    if (t < 4)
        bins[t] = 0; // race
    atomicAdd_block(&bins[in[t] % 4], 1); // race
    __syncthreads();
    if (t < 4)
        atomicAdd(&out[t], bins[t]);
}

__global__ void histogram_no_last_barrier(u32 *out, const u32 *in)
{
    __shared__ u32 bins[4];
    u32 t = threadIdx.x;
    if (t < 4)
        bins[t] = 0;
    __syncthreads();
    atomicAdd_block(&bins[in[t] % 4], 1); // race
    if (t < 4)
        atomicAdd(&out[t], bins[t]); // race
}

__global__ void histogram_plain(u32 *out, const u32 *in)
{
    __shared__ u32 bins[4];
    u32 t = threadIdx.x;
    if (t < 4)
        bins[t] = 0;
    __syncthreads();
    bins[in[t] % 4] += 1; // race
    __syncthreads();
    if (t < 4)
        atomicAdd(&out[t], bins[t]);
}

__global__ void histogram_not_cleared(u32 *out, const u32 *in)
{
    __shared__ u32 bins[4];
    u32 t = threadIdx.x;
    atomicAdd_block(&bins[in[t] % 4], 1); // uninitialised
    __syncthreads();
    if (t < 4)
        atomicAdd(&out[t], bins[t]);
}

__global__ void histogram_too_few_bins(u32 *out, const u32 *in)
{
    __shared__ u32 bins[4];
    u32 t = threadIdx.x;
    if (t < 4)
        bins[t] = 0;
    __syncthreads();
    atomicAdd_block(&bins[in[t] % 5], 1); // out of bounds
    __syncthreads();
    if (t < 4)
        atomicAdd(&out[t], bins[t]);
}

// A scan in shared memory.
__global__ void scan(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x, sum = in[t];
    for (u32 by = 1; by < 64; by *= 2) {
        sums[t] = sum;
        __syncthreads();
        if (t >= by)
            sum += sums[t - by];
        __syncthreads();
    }
    out[t] = sum;
}

__global__ void scan_of_two_buffers(u32 *out, const u32 *in)
{
    __shared__ u32 sums[2][64];
    u32 t = threadIdx.x, sum = in[t], which = 0;
    for (u32 by = 1; by < 64; by *= 2, which ^= 1) {
        sums[which][t] = sum;
        __syncthreads();
        if (t >= by)
            sum += sums[which][t - by];
    }
    out[t] = sum;
}

__global__ void scan_of_warps(u32 *out, const u32 *in)
{
    __shared__ u32 first;
    u32 t = threadIdx.x, sum = in[t];
    for (u32 by = 1; by < 32; by *= 2) {
        u32 before = __shfl_up_sync(0xffffffff, sum, by);
        if (t % 32 >= by)
            sum += before;
    }
    if (t == 31)
        first = sum;
    __syncthreads();
    out[t] = t < 32 ? sum : sum + first;
}

__global__ void scan_one_barrier(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x, sum = in[t];
    for (u32 by = 1; by < 64; by *= 2) {
        sums[t] = sum; // race
        __syncthreads();
        if (t >= by)
            sum += sums[t - by]; // race
    }
    out[t] = sum;
}

__global__ void scan_in_place(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    for (u32 by = 1; by < 64; by *= 2) {
        if (t >= by)
            sums[t] += sums[t - by]; // race
        __syncthreads();
    }
    out[t] = sums[t];
}

__global__ void scan_wraps_around(u32 *out, const u32 *in)
{
    __shared__ u32 sums[64];
    u32 t = threadIdx.x, sum = in[t];
    for (u32 by = 1; by < 64; by *= 2) {
        sums[t] = sum;
        __syncthreads();
        if (t + 1 >= by)
            sum += sums[t - by]; // out of bounds
        __syncthreads();
    }
    out[t] = sum;
}

// As many barriers as the thread's number asks for.
__global__ void rounds(u32 *out)
{
    for (u32 round = 0; round < 4; ++round) {
        if (threadIdx.x % 4 == round)
            atomicAdd(&out[round], 1);
        __syncthreads();
    }
}

__global__ void rounds_counted(u32 *out)
{
    for (u32 round = 0; round < 4; ++round) {
        u32 count = __syncthreads_count(threadIdx.x % 4 == round);
        if (threadIdx.x == 0)
            out[round] = count;
    }
}

__global__ void rounds_of_own_number(u32 *out)
{
    for (u32 round = 0; round <= threadIdx.x % 4; ++round) {
        if (threadIdx.x % 4 == round)
            atomicAdd(&out[round], 1);
        __syncthreads(); // barrier
    }
}

__global__ void rounds_in_two_branches(u32 *out)
{
    for (u32 round = 0; round < 4; ++round) {
        if (threadIdx.x % 4 == round) {
            atomicAdd(&out[round], 1);
            __syncthreads(); // barrier
        } else {
            __syncthreads(); // barrier
        }
    }
}

} // extern "C"
