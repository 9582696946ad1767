// Shared by the peers that keep some of the elements: inputs with a given fraction to keep, and the
// check of the kept elements.

#pragma once

#include <iterator>

#include "throughput.cuh"

namespace peer {

// The N of mode "kept_N", in percent, or nullopt for other modes.
inline std::optional<int> percent_kept(const std::string& mode) {
  const std::string begins = "kept_";
  if (mode.rfind(begins, 0) != 0) return std::nullopt;
  return std::atoi(mode.c_str() + begins.size());
}

// Keeps the elements below a bound.
struct Below {
  float bound;
  __host__ __device__ bool operator()(float x) const { return x < bound; }
};

// Keeps `percent` percent of elements that are uniform between 0 and 1.
inline Below below(int percent) { return {static_cast<float>(percent) / 100}; }

// Element i: the upper 24 bits of a hash, as a fraction of 2^24, below 1.
__global__ void fill_uniform(float* out, size_t n) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = static_cast<float>(hash(uint32_t(i % PERIOD)) >> 8) / float(1 << 24);
  }
}

struct Uniform {
  void operator()(float* out, size_t n, cudaStream_t stream) const {
    fill_uniform<<<FILL_BLOCKS, 256, 0, stream>>>(out, n);
    check(cudaGetLastError());
  }
};

// Repeats `period`, of `length` elements.
__global__ void repeat(const float* period, size_t length, float* out, size_t n) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = period[i % length];
  }
}

// Fills with runs. The given percentage of the elements of a period are greater by 1 than the
// previous one, and the others equal it. The hashes of `fill_uniform` decide which.
class Runs {
 public:
  explicit Runs(int percent) : period_(alloc<float>(PERIOD)) {
    std::vector<float> period(PERIOD);
    float value = 0;
    for (uint32_t i = 0; i < PERIOD; ++i) {
      const float uniform = static_cast<float>(hash(i) >> 8) / float(1 << 24);
      if (below(percent)(uniform)) value += 1;
      period[i] = value;
    }
    check(cudaMemcpy(period_.get(), period.data(), PERIOD * sizeof(float), cudaMemcpyHostToDevice));
  }

  void operator()(float* out, size_t n, cudaStream_t stream) const {
    repeat<<<FILL_BLOCKS, 256, 0, stream>>>(period_.get(), PERIOD, out, n);
    check(cudaGetLastError());
  }

 private:
  Memory<float> period_;
};

// The expected output of a call: these elements and this count.
struct Selection {
  std::vector<float> elements;
  int64_t count;
};

// µs of one `call(input, output, count, stream)` on inputs that `fill` fills, into outputs of
// `arrays` times their length. `expected(input)` returns the expected start of the output of the
// last call. If it differs, the program exits.
template <typename Fill, typename Call, typename Expected>
std::optional<Spread> time_selection(const Bench& bench, const Load& load, const Fill& fill, Call call,
                                     Expected expected, size_t arrays = 1) {
  const Memory<int64_t> count = alloc<int64_t>(1);
  const auto verify = [&](const float* written) {
    std::vector<float> input(load.n);
    {
      const Memory<float> filled = alloc<float>(load.n);
      fill(filled.get(), load.n, nullptr);
      check(cudaMemcpy(input.data(), filled.get(), load.n * sizeof(float), cudaMemcpyDeviceToHost));
    }
    const Selection right = expected(input);
    int64_t counted;
    check(cudaMemcpy(&counted, count.get(), sizeof counted, cudaMemcpyDeviceToHost));
    if (counted != right.count) {
      wrong(std::to_string(counted) + " of " + std::to_string(load.n) + " elements kept, not " +
            std::to_string(right.count));
    }
    std::vector<float> elements(right.elements.size());
    check(cudaMemcpy(elements.data(), written, elements.size() * sizeof(float), cudaMemcpyDeviceToHost));
    if (elements != right.elements) wrong("other elements kept of " + std::to_string(load.n));
  };
  return bench.time_into<float, float>(
      load, arrays * load.n, [&](float* out, size_t n, cudaStream_t stream) { fill(out, n, stream); },
      [&](const float* in, float* out, cudaStream_t stream) { call(in, out, count.get(), stream); }, verify);
}

}  // namespace peer
