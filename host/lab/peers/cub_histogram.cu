// The peer of gridsync's histograms: CUB's DeviceHistogram, measured by the same rule. Its counts
// are checked.
//
//   nvcc -O3 -std=c++17 -arch=native cub_histogram.cu -o cub_histogram
//   echo "even f32 bins_256 1048576 256 2000" | ./cub_histogram AT_LEAST AT_MOST UNCERTAINTY
//
// Operations: even, edges, numbers and bytes. In mode bins_N there are N bins. An input of bytes is
// asked for as u64, and each u64 is eight elements.

#include <cub/device/device_histogram.cuh>

#include "throughput.cuh"

using peer::Bench;
using peer::check;
using peer::Load;
using peer::Memory;
using peer::Spread;
using peer::Storage;

// Each kind of elements, as a function of a hash.
struct Uniform {
  __host__ __device__ float operator()(uint32_t hash) const {
    return static_cast<float>(hash >> 8) / float(1 << 24);
  }
};
struct Number {
  uint32_t bins;
  __host__ __device__ uint32_t operator()(uint32_t hash) const { return hash % bins; }
};
struct Byte {
  __host__ __device__ uint8_t operator()(uint32_t hash) const { return static_cast<uint8_t>(hash); }
};

// Element i of every input: that of the hash of 2 i.
template <typename T, typename Element>
__global__ void fill_elements(T* out, size_t n, Element element) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = element(peer::hash(2 * static_cast<uint32_t>(i % peer::PERIOD)));
  }
}

// Ends the program if a count is not that of the first `n` elements. `bin(element)` is exact.
template <typename Element, typename Bin>
void verify(const int* counts, int bins, size_t n, Element element, Bin bin) {
  std::vector<size_t> right(bins);
  for (uint32_t i = 0; i < std::min<size_t>(n, peer::PERIOD); ++i) {
    right[bin(element(peer::hash(2 * i)))] += n / peer::PERIOD + (i < n % peer::PERIOD);
  }
  std::vector<int> got(bins);
  check(cudaMemcpy(got.data(), counts, bins * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < bins; ++i) {
    if (static_cast<size_t>(got[i]) != right[i]) {
      peer::wrong("cub::DeviceHistogram of " + std::to_string(n) + " elements has " +
                  std::to_string(got[i]) + " in bin " + std::to_string(i) + " of " +
                  std::to_string(bins) + ", not " + std::to_string(right[i]));
    }
  }
}

// µs of one two-step call of CUB, `count(storage, bytes, in, counts, n, stream)`.
template <typename Element, typename Count, typename Bin>
std::optional<Spread> in_two_steps(const Bench& bench, const Load& load, int bins, Element element,
                                   Count count, Bin bin) {
  using T = decltype(element(0));
  Storage storage;
  return peer::with_count(load.n, [&](auto n) {
    return bench.time_into<T, int>(
        load, bins,
        [&](T* out, size_t n, cudaStream_t stream) {
          fill_elements<<<peer::FILL_BLOCKS, 256, 0, stream>>>(out, n, element);
          check(cudaGetLastError());
        },
        [&](const T* in, int* counts, cudaStream_t stream) {
          size_t bytes = 0;
          check(count(nullptr, bytes, in, counts, n, stream));
          check(count(storage.at_least(bytes), bytes, in, counts, n, stream));
        },
        [&](const int* counts) { verify(counts, bins, load.n, element, bin); });
  });
}

// µs of a count in bins of the same width from `low` to `high`.
template <typename Level, typename Element, typename Bin>
std::optional<Spread> even(const Bench& bench, const Load& load, int bins, Level low, Level high,
                           Element element, Bin bin) {
  const auto count = [=](void* storage, size_t& bytes, auto* in, int* counts, auto n, cudaStream_t stream) {
    return cub::DeviceHistogram::HistogramEven(storage, bytes, in, counts, bins + 1, low, high, n, stream);
  };
  return in_two_steps(bench, load, bins, element, count, bin);
}

// µs of a count in bins between the edges (k / bins)², which are exact if `bins` is a power of two.
std::optional<Spread> edges(const Bench& bench, const Load& load, int bins) {
  std::vector<float> edges(bins + 1);
  for (int k = 0; k <= bins; ++k) {
    const float part = static_cast<float>(k) / static_cast<float>(bins);
    edges[k] = part * part;
  }
  const Memory<float> levels = peer::alloc<float>(edges.size());
  check(cudaMemcpy(levels.get(), edges.data(), edges.size() * sizeof(float), cudaMemcpyHostToDevice));
  return in_two_steps(
      bench, load, bins, Uniform{},
      [&](void* storage, size_t& bytes, const float* in, int* counts, auto n, cudaStream_t stream) {
        return cub::DeviceHistogram::HistogramRange(storage, bytes, in, counts, bins + 1,
                                                    static_cast<const float*>(levels.get()), n, stream);
      },
      [&](float x) { return std::upper_bound(edges.begin(), edges.end(), x) - edges.begin() - 1; });
}

// The N of mode "bins_N", or 0 for other modes.
int bins_of(const std::string& mode) {
  const std::string begins = "bins_";
  return mode.rfind(begins, 0) == 0 ? std::atoi(mode.c_str() + begins.size()) : 0;
}

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const Bench& bench, const std::string& op, const std::string& dtype, const std::string& mode,
         const Load& load) -> std::optional<Spread> {
        const int bins = bins_of(mode);
        if (bins <= 0) return std::nullopt;
        if (op == "even" && dtype == "f32") {
          // Exact for a power of two.
          const auto bin = [=](float x) { return static_cast<int>(x * static_cast<float>(bins)); };
          return even(bench, load, bins, 0.0f, 1.0f, Uniform{}, bin);
        }
        if (op == "edges" && dtype == "f32") return edges(bench, load, bins);
        const auto itself = [](uint32_t number) { return number; };
        if (op == "numbers" && dtype == "u32") {
          const auto end = static_cast<uint32_t>(bins);
          return even(bench, load, bins, uint32_t(0), end, Number{end}, itself);
        }
        if (op == "bytes" && dtype == "u64" && bins == 256) {
          Load bytes = load;
          bytes.n *= sizeof(uint64_t);
          return even(bench, bytes, bins, 0, bins, Byte{}, itself);
        }
        return std::nullopt;
      });
}
