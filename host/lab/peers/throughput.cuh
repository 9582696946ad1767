// Shared by the peers for throughputs: device time in µs of one call whose input is in no cache,
// measured as in gridsync's bench/throughput. Also the ceilings: the time to only load or only
// copy.

#pragma once

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <type_traits>

#include "peer.cuh"

namespace peer {

// An input repeats after this many elements.
constexpr uint32_t PERIOD = 1u << 24;
// Blocks of the kernels that fill inputs.
constexpr int FILL_BLOCKS = 1024;
// The warm-up: µs of device time before the first sample, and the most replays for it.
constexpr double WARM_UP_US = 20000;
constexpr int WARM_UP_REPLAYS = 1000;
// The most replays in a sample.
constexpr int MOST_REPLAYS = 1 << 12;

// The finaliser of MurmurHash3 (public domain, Austin Appleby).
__host__ __device__ inline uint32_t hash(uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

// Element i of every input: the lowest four bits of a hash, starting at 0 or -8.
template <typename T>
__global__ void fill(T* out, size_t n) {
  constexpr int least = std::is_unsigned<T>::value ? 0 : -8;
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = static_cast<T>(static_cast<int>(hash(uint32_t(i % PERIOD)) % 16) + least);
  }
}

// Fills an input with small integers.
struct SmallIntegers {
  template <typename T>
  void operator()(T* out, size_t n, cudaStream_t stream) const {
    fill<<<FILL_BLOCKS, 256, 0, stream>>>(out, n);
    check(cudaGetLastError());
  }
};

constexpr int READ_THREADS = 256;
constexpr int READS_IN_FLIGHT = 8;
constexpr size_t READ_TILE = size_t(READ_THREADS) * READS_IN_FLIGHT;

// Loads `packs` of 16 bytes, eight in flight per thread. Nobody reads what it writes. The condition
// keeps the compiler from dropping the loads, and is hardly ever true.
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

// Copies `packs` of 16 bytes, eight in flight per thread.
__global__ void copy(const uint4* in, uint4* out, size_t packs) {
  for (size_t tile = blockIdx.x * READ_TILE; tile < packs; tile += gridDim.x * READ_TILE) {
    uint4 loaded[READS_IN_FLIGHT];
#pragma unroll
    for (int i = 0; i < READS_IN_FLIGHT; ++i) {
      const size_t at = tile + i * READ_THREADS + threadIdx.x;
      if (at < packs) loaded[i] = in[at];
    }
#pragma unroll
    for (int i = 0; i < READS_IN_FLIGHT; ++i) {
      const size_t at = tile + i * READ_THREADS + threadIdx.x;
      if (at < packs) out[at] = loaded[i];
    }
  }
}

struct Free {
  void operator()(void* memory) const { check(cudaFree(memory)); }
};

// Device memory, freed with its owner.
template <typename T>
using Memory = std::unique_ptr<T, Free>;

// Space for `n` elements, or null if they do not fit in memory.
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

// Calls `use` with the count in the type that indexes fastest: CUB derives its offset type from it.
template <typename Use>
auto with_count(size_t n, Use use) {
  return n <= INT32_MAX ? use(static_cast<int32_t>(n)) : use(static_cast<int64_t>(n));
}

// The temporary storage of a call, allocated before the capture, not in each call.
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

// The calls to measure, on inputs of `n` elements.
struct Load {
  size_t n;
  // Calls of a replay, each on its own input.
  int calls;
  // Least time of a sample in µs, reached by replays; 0 if a second replay would find inputs in the
  // L2 cache.
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

  // µs of one `call(input, stream)`, on inputs of small integers, or nullopt if they do not fit in
  // memory.
  template <typename T, typename Call>
  std::optional<Spread> time(const Load& load, Call call) const {
    const std::vector<Memory<T>> inputs = filled<T>(load, SmallIntegers{});
    if (inputs.empty()) return std::nullopt;
    return time_calls(load, [&](int i) { call(inputs[i].get(), stream_); });
  }

  // µs of one `call(input, output, stream)`, or nullopt if the arrays do not fit in memory. Each
  // call has a separate input, which `fill(input, n, stream)` fills, and a separate output of
  // `written` elements. Then `verify(output)` checks the output of the last call. Calls in a row are
  // captured in a graph, unless they wait for the device, which a graph cannot do.
  template <typename T, typename Result, typename Fill, typename Call, typename Verify>
  std::optional<Spread> time_into(const Load& load, size_t written, Fill fill, Call call, Verify verify,
                                  bool is_captured = true) const {
    const std::vector<Memory<T>> inputs = filled<T>(load, fill);
    if (inputs.empty()) return std::nullopt;
    const std::vector<Memory<Result>> outputs = room<Result>(load.calls, written);
    if (outputs.empty()) return std::nullopt;
    const Spread time = time_calls(
        load, [&](int i) { call(inputs[i].get(), outputs[i].get(), stream_); }, is_captured);
    check(cudaStreamSynchronize(stream_));
    verify(static_cast<const Result*>(outputs.back().get()));
    return time;
  }

  // The read ceiling: µs to load `load.n` bytes, by a grid of one block per tile or by a grid that
  // is completely resident, whichever is faster.
  std::optional<Spread> read_ceiling(const Load& load) const {
    const size_t packs = load.n / sizeof(uint4);
    std::optional<Spread> fastest;
    for (const unsigned blocks : grids(read, packs)) {
      const auto took = time<uint8_t>(load, [&](const uint8_t* input, cudaStream_t stream) {
        launch_read(blocks, reinterpret_cast<const uint4*>(input), packs, stream);
      });
      keep_faster(fastest, took);
    }
    return fastest;
  }

  // The copy ceiling: µs to copy `load.n` bytes, by the driver or by a kernel in either of those
  // grids, whichever is fastest.
  std::optional<Spread> copy_ceiling(const Load& load) const {
    const size_t packs = load.n / sizeof(uint4);
    const auto time_copy = [&](auto call) {
      return time_into<uint8_t, uint8_t>(load, load.n, SmallIntegers{}, call, [](const uint8_t*) {});
    };
    auto fastest = time_copy([&](const uint8_t* in, uint8_t* out, cudaStream_t stream) {
      check(cudaMemcpyAsync(out, in, load.n, cudaMemcpyDeviceToDevice, stream));
    });
    for (const unsigned blocks : grids(copy, packs)) {
      keep_faster(fastest, time_copy([&](const uint8_t* in, uint8_t* out, cudaStream_t stream) {
                    copy<<<blocks, READ_THREADS, 0, stream>>>(reinterpret_cast<const uint4*>(in),
                                                              reinterpret_cast<uint4*>(out), packs);
                    check(cudaGetLastError());
                  }));
    }
    return fastest;
  }

 private:
  // `count` arrays of `n` elements; if they do not all fit in memory, prints a note and returns
  // none.
  template <typename T>
  static std::vector<Memory<T>> room(int count, size_t n) {
    std::vector<Memory<T>> arrays;
    for (int i = 0; i < count; ++i) {
      arrays.push_back(try_alloc<T>(n));
      if (!arrays.back()) {
        note("no room for " + std::to_string(count) + " × " + std::to_string(n * sizeof(T)) + " bytes");
        return {};
      }
    }
    return arrays;
  }

  // The inputs of a load, filled; empty if they do not fit in memory.
  template <typename T, typename Fill>
  std::vector<Memory<T>> filled(const Load& load, Fill fill) const {
    std::vector<Memory<T>> inputs = room<T>(load.calls, load.n);
    for (const Memory<T>& input : inputs) fill(input.get(), load.n, stream_);
    return inputs;
  }

  // µs of one call; `call(i)` is the i-th.
  template <typename Call>
  Spread time_calls(const Load& load, Call call, bool is_captured = true) const {
    // Modules that the first call loads and memory that it allocates cannot be captured.
    call(0);
    check(cudaStreamSynchronize(stream_));
    const auto evict = [&] { launch_read(8 * multiprocessors_, evict_.get(), evict_packs_, stream_); };
    if (load.calls == 1 && load.sample_us == 0) {
      // One call alone, after work that empties the L2.
      const auto alone = [&] { return time_us(stream_, evict, [&] { call(0); }); };
      double passed = 0;
      for (int i = 0; i < WARM_UP_REPLAYS && passed < WARM_UP_US; ++i) passed += alone();
      return sampling_.measure(alone);
    }

    const auto each = [&] {
      for (int i = 0; i < load.calls; ++i) call(i);
    };
    cudaGraph_t graph;
    cudaGraphExec_t replayed;
    if (is_captured) {
      check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
      each();
      check(cudaStreamEndCapture(stream_, &graph));
      check(cudaGraphInstantiate(&replayed, graph, 0));
      check(cudaGraphUpload(replayed, stream_));
    }
    const auto replay_us = [&](int times) {
      return time_us(stream_, [&] {
        for (int i = 0; i < times; ++i) {
          if (is_captured) {
            check(cudaGraphLaunch(replayed, stream_));
          } else {
            each();
          }
        }
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
    if (is_captured) {
      check(cudaGraphExecDestroy(replayed));
      check(cudaGraphDestroy(graph));
    }
    return time;
  }

  // Blocks for `packs` packs: one per tile, and as many as are resident if that is fewer.
  template <typename Kernel>
  std::vector<unsigned> grids(Kernel kernel, size_t packs) const {
    const size_t tiles = std::max<size_t>(1, (packs + READ_TILE - 1) / READ_TILE);
    int per_multiprocessor;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, READ_THREADS, 0));
    const size_t resident = size_t(per_multiprocessor) * multiprocessors_;
    std::vector<unsigned> grids{static_cast<unsigned>(tiles)};
    if (resident < tiles) grids.push_back(static_cast<unsigned>(resident));
    return grids;
  }

  static void keep_faster(std::optional<Spread>& fastest, const std::optional<Spread>& took) {
    if (took && (!fastest || took->median < fastest->median)) fastest = took;
  }

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

// The main function of such a peer, called as `PEER AT_LEAST AT_MOST UNCERTAINTY`. Answers lines
// "OP DTYPE MODE N CALLS SAMPLE_US". `measure(bench, op, dtype, mode, load)` returns the time, or
// nullopt, for every op except "read" and "copy".
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
    const std::optional<Spread> time = op == "read"   ? bench.read_ceiling(load)
                                       : op == "copy" ? bench.copy_ceiling(load)
                                                      : measure(bench, op, dtype, mode, load);
    if (time) answer(line, *time);
  }
  return 0;
}

}  // namespace peer
