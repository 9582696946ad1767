// The peer of gridsync's grid barrier: cooperative groups' grid.sync(), measured by the same rule.
//
//   nvcc -O3 -std=c++17 -arch=native -rdc=true grid_sync.cu -o grid_sync
//   echo "132 256" | ./grid_sync FEW MANY AT_LEAST AT_MOST UNCERTAINTY

#include "slope.cuh"

__global__ void cross(int rounds) {
  auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < rounds; ++i) grid.sync();
}

int main(int argc, char** argv) {
  return peer::answer_slopes(argc, argv, cross, [](int) {
    return [](dim3 grid, dim3 block, int rounds) {
      void* args[] = {&rounds};
      peer::check(cudaLaunchCooperativeKernel((void*)cross, grid, block, args, 0, 0));
    };
  });
}
