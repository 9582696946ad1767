// The peer of gridsync's grid barrier: cooperative groups' grid.sync(), measured by the same rule.
//
//   nvcc -O3 -arch=native -rdc=true grid_sync.cu -o grid_sync && ./grid_sync FEW MANY SAMPLES < shapes
//
// Reads lines "blocks threads"; prints for each "blocks threads median min max" in µs per barrier:
// the slope between launches of FEW and of MANY rounds. A shape that cannot be resident prints
// nothing.

#include <algorithm>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void cross(int rounds) {
  auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < rounds; ++i) grid.sync();
}

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "grid_sync: %s\n", cudaGetErrorString(error));
  std::exit(3);
}

static double time_us(int blocks, int threads, int rounds) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  void* args[] = {&rounds};
  check(cudaEventRecord(start));
  check(cudaLaunchCooperativeKernel((void*)cross, dim3(blocks), dim3(threads), args, 0, 0));
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
    std::fprintf(stderr, "grid_sync: usage: grid_sync FEW MANY SAMPLES < shapes\n");
    return 2;
  }
  const int few = std::atoi(argv[1]), many = std::atoi(argv[2]), samples = std::atoi(argv[3]);
  int multiprocessors, blocks, threads;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  while (std::scanf("%d %d", &blocks, &threads) == 2) {
    int per_multiprocessor;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, cross, threads, 0));
    if (blocks > per_multiprocessor * multiprocessors) continue;
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
  }
}
