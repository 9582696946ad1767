// The peer of gridsync's exchange: the mean over all blocks of one number of each, in every block,
// by cooperative groups' grid.sync(): a store, the barrier, and a warp of each block that loads and
// adds up all numbers. Two sets of numbers take turns, so that one barrier a round is enough.
//
//   nvcc -O3 -arch=native -rdc=true grid_sync_all_reduce.cu -o peer && ./peer FEW MANY SAMPLES < shapes
//
// Reads lines "blocks threads"; prints for each "blocks threads median min max" in µs per round:
// the slope between launches of FEW and of MANY rounds. A shape that cannot be resident prints
// nothing.

#include <algorithm>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "grid_sync_all_reduce: %s\n", cudaGetErrorString(error));
  std::exit(3);
}

static float *numbers, *means;

static double time_us(int blocks, int threads, int rounds) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  void* args[] = {&numbers, &means, &rounds};
  check(cudaEventRecord(start));
  check(cudaLaunchCooperativeKernel((void*)all_reduce, dim3(blocks), dim3(threads), args, 0, 0));
  check(cudaEventRecord(stop));
  check(cudaEventSynchronize(stop));
  float ms;
  check(cudaEventElapsedTime(&ms, start, stop));
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  return 1e3 * ms;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "grid_sync_all_reduce: usage: grid_sync_all_reduce FEW MANY SAMPLES < shapes\n");
    return 2;
  }
  const int few = std::atoi(argv[1]), many = std::atoi(argv[2]), samples = std::atoi(argv[3]);
  int multiprocessors, blocks, threads;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  while (std::scanf("%d %d", &blocks, &threads) == 2) {
    int per_multiprocessor;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, all_reduce, threads, 0));
    if (blocks > per_multiprocessor * multiprocessors) continue;
    check(cudaMalloc(&numbers, 2 * blocks * sizeof(float)));
    check(cudaMalloc(&means, blocks * sizeof(float)));
    check(cudaMemset(means, 0, blocks * sizeof(float)));
    time_us(blocks, threads, few);
    std::vector<double> slopes;
    for (int i = 0; i < samples; ++i) {
      const double short_us = time_us(blocks, threads, few);
      const double long_us = time_us(blocks, threads, many);
      slopes.push_back((long_us - short_us) / (many - few));
    }
    std::sort(slopes.begin(), slopes.end());
    std::printf("%d %d %.4f %.4f %.4f\n", blocks, threads, slopes[samples / 2], slopes.front(),
                slopes.back());
    check(cudaFree(numbers));
    check(cudaFree(means));
  }
}
