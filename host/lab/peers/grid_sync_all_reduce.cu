// The peer of gridsync's exchange: the mean of one number from each block, in every block, by
// cooperative groups' grid.sync(). A store, the barrier, then one warp of each block loads and adds
// up all numbers. Two sets of numbers take turns, so one barrier per round is enough.
//
//   nvcc -O3 -std=c++17 -arch=native -rdc=true grid_sync_all_reduce.cu -o all_reduce
//   echo "132 256" | ./all_reduce FEW MANY AT_LEAST AT_MOST UNCERTAINTY

#include <memory>

#include "slope.cuh"

__global__ void all_reduce(float* numbers, float* means, int rounds) {
  auto grid = cooperative_groups::this_grid();
  __shared__ float result[2];
  const int blocks = gridDim.x;
  float mean = means[blockIdx.x];
  for (int round = 0; round < rounds; ++round) {
    float* turn = numbers + round % 2 * blocks;
    if (threadIdx.x == 0) turn[blockIdx.x] = mean;
    grid.sync();
    if (threadIdx.x < 32) {
      float sum = 0;
      for (int i = threadIdx.x; i < blocks; i += 32) sum += turn[i];
      for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
      if (threadIdx.x == 0) result[round % 2] = sum;
    }
    __syncthreads();
    mean = result[round % 2] * (1.0f / blocks);
  }
  if (threadIdx.x == 0) means[blockIdx.x] = mean;
}

// `count` floats on the device, all 0, freed with their last owner.
static std::shared_ptr<float> zeros(int count) {
  float* memory;
  peer::check(cudaMalloc(&memory, count * sizeof(float)));
  peer::check(cudaMemset(memory, 0, count * sizeof(float)));
  return {memory, [](float* freed) { peer::check(cudaFree(freed)); }};
}

int main(int argc, char** argv) {
  return peer::answer_slopes(argc, argv, all_reduce, [](int blocks) {
    return [numbers = zeros(2 * blocks), means = zeros(blocks)](dim3 grid, dim3 block, int rounds) {
      float *first = numbers.get(), *second = means.get();
      void* args[] = {&first, &second, &rounds};
      peer::check(cudaLaunchCooperativeKernel((void*)all_reduce, grid, block, args, 0, 0));
    };
  });
}
