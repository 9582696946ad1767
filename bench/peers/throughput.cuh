// The peers of throughputs: µs of device time of one call whose input is in no cache, measured as
// gridsync's bench/throughput does. And the read ceiling: what a kernel takes that only loads.

#pragma once

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <type_traits>

#include "peer.cuh"

namespace peer {

// Elements after which an input starts over.
constexpr uint32_t PERIOD = 1u << 24;
// µs of device time before the first sample, and the replays that may take at most.
constexpr double WARM_UP_US = 20000;
constexpr int WARM_UP_REPLAYS = 1000;
// Replays within a sample at most.
constexpr int MOST_REPLAYS = 1 << 12;

// The finaliser of MurmurHash3 (public domain, Austin Appleby).
__host__ __device__ inline uint32_t hash(uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

// Element i of every input: the lowest four bits of a hash, from 0 or from -8 on.
template <typename T>
__global__ void fill(T* out, size_t n) {
  constexpr int least = std::is_unsigned<T>::value ? 0 : -8;
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = static_cast<T>(static_cast<int>(hash(uint32_t(i % PERIOD)) % 16) + least);
  }
}

constexpr int READ_THREADS = 256;
constexpr int READS_IN_FLIGHT = 8;
constexpr size_t READ_TILE = size_t(READ_THREADS) * READS_IN_FLIGHT;

// Loads `packs` of 16 bytes, eight in flight in each thread. What it writes nobody reads: the
// condition keeps the compiler from dropping the loads, and hardly ever holds.
__global__ void read(const uint4* in, size_t packs, uint32_t* nowhere) {
  uint32_t all = 0;
  for (size_t tile = blockIdx.x * READ_TILE; tile < packs; tile += gridDim.x * READ_TILE) {
    uint4 loaded[READS_IN_FLIGHT];
#pragma unroll
    for (int i = 0; i < READS_IN_FLIGHT; ++i) {
      const size_t at = tile + i * READ_THREADS + threadIdx.x;
      loaded[i] = at < packs ? in[at] : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < READS_IN_FLIGHT; ++i) {
      all ^= loaded[i].x ^ loaded[i].y ^ loaded[i].z ^ loaded[i].w;
    }
  }
  if (all == 0x9e3779b9u) *nowhere = all;
}

struct Free {
  void operator()(void* memory) const { check(cudaFree(memory)); }
};

// Device memory, freed with its owner.
template <typename T>
using Memory = std::unique_ptr<T, Free>;

// `n` elements; none if there is no room for them.
template <typename T>
Memory<T> try_alloc(size_t n) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, n * sizeof(T));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // Forgets it.
    return nullptr;
  }
  check(error);
  return Memory<T>(static_cast<T*>(memory));
}

template <typename T>
Memory<T> alloc(size_t n) {
  Memory<T> memory = try_alloc<T>(n);
  if (!memory) check(cudaErrorMemoryAllocation);
  return memory;
}

// What a call works in: allocated before it is captured, not with each call.
class Storage {
 public:
  void* at_least(size_t bytes) {
    if (bytes > bytes_) {
      memory_ = alloc<char>(bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  Memory<char> memory_;
  size_t bytes_ = 0;
};

// What is measured: calls on inputs of `n` elements.
struct Load {
  size_t n;
  // Calls of a replay, each on an input of its own.
  int calls;
  // µs that a sample takes at least, by replays; 0 if a second replay would find inputs in the L2.
  double sample_us;
};

class Bench {
 public:
  explicit Bench(const Sampling& sampling) : sampling_(sampling) {
    int l2;
    check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, 0));
    check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    nowhere_ = alloc<uint32_t>(1);
    evict_packs_ = 4 * size_t(l2) / sizeof(uint4);
    evict_ = alloc<uint4>(evict_packs_);
    check(cudaMemset(evict_.get(), 0, evict_packs_ * sizeof(uint4)));
    check(cudaDeviceSynchronize());
  }

  // µs of one `call(input, stream)`; none if there is no room for the inputs.
  template <typename T, typename Call>
  std::optional<Spread> time(const Load& load, Call call) const {
    std::vector<Memory<T>> inputs;
    for (int i = 0; i < load.calls; ++i) {
      inputs.push_back(try_alloc<T>(load.n));
      if (!inputs.back()) {
        note("no room for " + std::to_string(load.calls) + " × " + std::to_string(load.n * sizeof(T)) +
             " bytes");
        return std::nullopt;
      }
      fill<<<8 * multiprocessors_, 256, 0, stream_>>>(inputs.back().get(), load.n);
      check(cudaGetLastError());
    }
    // What is loaded or allocated at the first call cannot be captured.
    call(inputs[0].get(), stream_);
    check(cudaStreamSynchronize(stream_));
    const auto evict = [&] { launch_read(8 * multiprocessors_, evict_.get(), evict_packs_, stream_); };
    if (load.calls == 1 && load.sample_us == 0) {
      // One call alone, behind what empties the L2.
      const auto alone = [&] { return time_us(stream_, evict, [&] { call(inputs[0].get(), stream_); }); };
      double passed = 0;
      for (int i = 0; i < WARM_UP_REPLAYS && passed < WARM_UP_US; ++i) passed += alone();
      return sampling_.measure(alone);
    }

    cudaGraph_t graph;
    cudaGraphExec_t replayed;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
    for (const Memory<T>& input : inputs) call(input.get(), stream_);
    check(cudaStreamEndCapture(stream_, &graph));
    check(cudaGraphInstantiate(&replayed, graph, 0));
    check(cudaGraphUpload(replayed, stream_));
    const auto replay_us = [&](int times) {
      return time_us(stream_, [&] {
        for (int i = 0; i < times; ++i) check(cudaGraphLaunch(replayed, stream_));
      });
    };

    double passed = 0;
    for (int i = 0; i < WARM_UP_REPLAYS && passed < WARM_UP_US; ++i) passed += replay_us(1);
    const int replays =
        static_cast<int>(std::clamp(std::ceil(load.sample_us / replay_us(1)), 1.0, double(MOST_REPLAYS)));
    const Spread time = sampling_.measure([&] {
      evict();
      return replay_us(replays) / replays / load.calls;
    });
    check(cudaGraphExecDestroy(replayed));
    check(cudaGraphDestroy(graph));
    return time;
  }

  // The read ceiling: µs to load `load.n` bytes, by a grid of a tile each block or by one that is
  // resident at once, whichever is faster.
  std::optional<Spread> read_ceiling(const Load& load) const {
    const size_t packs = load.n / sizeof(uint4);
    const size_t tiles = std::max<size_t>(1, (packs + READ_TILE - 1) / READ_TILE);
    int per_multiprocessor;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, read, READ_THREADS, 0));
    const size_t resident = size_t(per_multiprocessor) * multiprocessors_;
    std::optional<Spread> fastest;
    for (const size_t blocks : {tiles, resident}) {
      if (blocks > tiles) continue;
      const auto took = time<uint8_t>(load, [&](const uint8_t* input, cudaStream_t stream) {
        launch_read(static_cast<unsigned>(blocks), reinterpret_cast<const uint4*>(input), packs, stream);
      });
      if (took && (!fastest || took->median < fastest->median)) fastest = took;
    }
    return fastest;
  }

 private:
  void launch_read(unsigned blocks, const uint4* in, size_t packs, cudaStream_t stream) const {
    read<<<blocks, READ_THREADS, 0, stream>>>(in, packs, nowhere_.get());
    check(cudaGetLastError());
  }

  Sampling sampling_;
  int multiprocessors_;
  cudaStream_t stream_;
  Memory<uint32_t> nowhere_;
  Memory<uint4> evict_;
  size_t evict_packs_;
};

// The main of such a peer, called as `PEER AT_LEAST AT_MOST UNCERTAINTY`. Answers lines
// "OP DTYPE MODE N CALLS SAMPLE_US"; `measure(bench, op, dtype, mode, load)` gives the time, or none,
// of every op but "read".
template <typename Measure>
int answer_throughputs(int argc, char** argv, Measure measure) {
  if (argc != 4) {
    std::fprintf(stderr, "peer: usage: PEER AT_LEAST AT_MOST UNCERTAINTY < questions\n");
    return 2;
  }
  const Bench bench(sampling(argv + 1));
  std::string line, op, dtype, mode;
  while (std::getline(std::cin, line)) {
    Load load;
    std::istringstream words(line);
    if (!(words >> op >> dtype >> mode >> load.n >> load.calls >> load.sample_us)) {
      std::fprintf(stderr, "peer: not a question: %s\n", line.c_str());
      return 2;
    }
    const std::optional<Spread> time =
        op == "read" ? bench.read_ceiling(load) : measure(bench, op, dtype, mode, load);
    if (time) answer(line, *time);
  }
  return 0;
}

}  // namespace peer
