// The peer of gridsync's scan over all threads of a grid: each thread gets the sum of the numbers of
// all threads before it, by cooperative groups' grid.sync(). Each block scans its numbers and stores
// their sum; after the barrier one warp of each block loads the sums of all blocks. Two sets of sums
// take turns, so one barrier per round is enough.
//
//   nvcc -O3 -std=c++17 -arch=native -rdc=true grid_sync_scan_threads.cu -o scan_threads
//   echo "132 256" | ./scan_threads FEW MANY AT_LEAST AT_MOST UNCERTAINTY

#include <memory>

#include "slope.cuh"

// The sums of the numbers of this lane and the lanes before it.
__device__ unsigned scan_of_warp(unsigned number) {
  const int lane = threadIdx.x % 32;
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const unsigned before = __shfl_up_sync(~0u, number, lanes);
    if (lane >= lanes) number += before;
  }
  return number;
}

__global__ void scan_threads(unsigned* sums, unsigned* numbers, int rounds) {
  auto grid = cooperative_groups::this_grid();
  __shared__ unsigned totals[32], of_warps[32], of_blocks[2];
  const int blocks = gridDim.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned number = numbers[at];
  for (int round = 0; round < rounds; ++round) {
    unsigned* turn = sums + round % 2 * blocks;
    const unsigned scanned = scan_of_warp(number);
    if (lane == 31) totals[warp] = scanned;
    __syncthreads();
    if (warp == 0) {
      const unsigned total = lane < blockDim.x / 32 ? totals[lane] : 0;
      const unsigned in_block = scan_of_warp(total);
      of_warps[lane] = in_block - total;
      if (lane == 31) turn[blockIdx.x] = in_block;
    }
    grid.sync();
    if (warp == 0) {
      unsigned before = 0;
      for (int i = lane; i < blockIdx.x; i += 32) before += turn[i];
      for (int lanes = 16; lanes > 0; lanes /= 2) before += __shfl_xor_sync(~0u, before, lanes);
      if (lane == 0) of_blocks[round % 2] = before;
    }
    __syncthreads();
    number += 1 + of_blocks[round % 2] + of_warps[warp] + scanned - number;
  }
  numbers[at] = number;
}

// `count` numbers on the device, all 0, freed with their last owner.
static std::shared_ptr<unsigned> zeros(int count) {
  unsigned* memory;
  peer::check(cudaMalloc(&memory, count * sizeof(unsigned)));
  peer::check(cudaMemset(memory, 0, count * sizeof(unsigned)));
  return {memory, [](unsigned* freed) { peer::check(cudaFree(freed)); }};
}

int main(int argc, char** argv) {
  return peer::answer_slopes(argc, argv, scan_threads, [](int blocks) {
    return [sums = zeros(2 * blocks), numbers = zeros(1024 * blocks)](dim3 grid, dim3 block, int rounds) {
      unsigned *first = sums.get(), *second = numbers.get();
      void* args[] = {&first, &second, &rounds};
      peer::check(cudaLaunchCooperativeKernel((void*)scan_threads, grid, block, args, 0, 0));
    };
  });
}
