// Shared by the peers for latencies: µs per round of a cooperative kernel, as the slope between
// launches of few and of many rounds. The cost of a launch cancels out.

#pragma once

#include <cooperative_groups.h>
#include <iostream>

#include "peer.cuh"

namespace peer {

// The main function of such a peer, called as `PEER FEW MANY AT_LEAST AT_MOST UNCERTAINTY`. Answers
// lines "blocks threads" for grids that can be resident. `prepare(blocks)` returns a `launch(grid,
// block, rounds)` of `kernel`.
template <typename Kernel, typename Prepare>
int answer_slopes(int argc, char** argv, Kernel kernel, Prepare prepare) {
  if (argc != 6) {
    std::fprintf(stderr, "peer: usage: PEER FEW MANY AT_LEAST AT_MOST UNCERTAINTY < shapes\n");
    return 2;
  }
  const int few = std::atoi(argv[1]), many = std::atoi(argv[2]);
  const Sampling samples = sampling(argv + 3);
  int multiprocessors, blocks, threads;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  while (std::cin >> blocks >> threads) {
    int per_multiprocessor;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, 0));
    if (blocks > per_multiprocessor * multiprocessors) continue;
    const auto launch = prepare(blocks);
    const auto time = [&](int rounds) {
      return time_us(0, [&] { launch(dim3(blocks), dim3(threads), rounds); });
    };
    time(few);
    const Spread slope = samples.measure([&] {
      const double short_us = time(few);
      const double long_us = time(many);
      return (long_us - short_us) / (many - few);
    });
    answer(std::to_string(blocks) + " " + std::to_string(threads), slope);
  }
  return 0;
}

}  // namespace peer
