// The peer of gridsync's reductions of segments: CUB's DeviceSegmentedReduce, measured by the same
// rule.
//
//   nvcc -O3 -std=c++17 -arch=native cub_segments.cu -o cub_segments
//   echo "sum-16 f32 default 16777216 32 2000" | ./cub_segments AT_LEAST AT_MOST UNCERTAINTY
//
// Operations: sums of segments of 16, 1000 and 100000 elements, of which the last may be shorter, and
// of one segment of half of all elements after segments of one each ("sum-skewed"). The offsets are in
// device memory, 8 bytes each.

#include <algorithm>

#include <cub/device/device_segmented_reduce.cuh>

#include "throughput.cuh"

using peer::Bench;
using peer::check;
using peer::Load;
using peer::Memory;
using peer::Spread;
using peer::Storage;

// Offset i is i times the length of a segment, and at most the length of the array.
__global__ void fill_even(int64_t* out, size_t count, int64_t len, int64_t each) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
    const int64_t start = static_cast<int64_t>(i) * each;
    out[i] = start < len ? start : len;
  }
}

// Offset i is i, but the last one is the length of the array.
__global__ void fill_skewed(int64_t* out, size_t count, int64_t len) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
    out[i] = i + 1 < count ? static_cast<int64_t>(i) : len;
  }
}

// µs of the sums of segments whose offsets `fill` writes: as many as there are segments, and one more.
template <typename Fill>
std::optional<Spread> sums(const Bench& bench, const Load& load, int64_t segments, Fill fill) {
  Storage storage;
  const Memory<int64_t> offsets = peer::alloc<int64_t>(segments + 1);
  fill(offsets.get(), size_t(segments) + 1);
  check(cudaGetLastError());
  const Memory<float> results = peer::alloc<float>(segments);
  const int64_t* starts = offsets.get();
  return bench.time<float>(load, [&](const float* in, cudaStream_t stream) {
    size_t bytes = 0;
    const auto step = [&](void* memory) {
      check(cub::DeviceSegmentedReduce::Sum(memory, bytes, in, results.get(), segments, starts, starts + 1,
                                            stream));
    };
    step(nullptr);
    step(storage.at_least(bytes));
  });
}

std::optional<Spread> even(const Bench& bench, const Load& load, int64_t each) {
  const auto len = static_cast<int64_t>(load.n);
  return sums(bench, load, (len + each - 1) / each, [&](int64_t* out, size_t count) {
    fill_even<<<peer::FILL_BLOCKS, 256>>>(out, count, len, each);
  });
}

std::optional<Spread> skewed(const Bench& bench, const Load& load) {
  const auto len = static_cast<int64_t>(load.n);
  return sums(bench, load, len / 2 + 1, [&](int64_t* out, size_t count) {
    fill_skewed<<<peer::FILL_BLOCKS, 256>>>(out, count, len);
  });
}

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const Bench& bench, const std::string& op, const std::string& dtype, const std::string& mode,
         const Load& load) -> std::optional<Spread> {
        if (mode != "default" || dtype != "f32") return std::nullopt;
        if (op == "sum-16") return even(bench, load, 16);
        if (op == "sum-1000") return even(bench, load, 1000);
        if (op == "sum-1e5") return even(bench, load, 100000);
        if (op == "sum-skewed") return skewed(bench, load);
        return std::nullopt;
      });
}
