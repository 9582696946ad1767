// The peer of gridsync's scans: CUB's DeviceScan::InclusiveSum, measured by the same rule. Its
// results are checked.
//
//   nvcc -O3 -std=c++17 -arch=native cub_scan.cu -o cub_scan
//   echo "sum f32 default 1048576 256 2000" | ./cub_scan AT_LEAST AT_MOST UNCERTAINTY
//
// Mode default is CUB's default. Its floating-point sums may differ from run to run.

#include <cub/device/device_scan.cuh>

#include "throughput.cuh"

using peer::Bench;
using peer::check;
using peer::Load;
using peer::Memory;
using peer::Spread;
using peer::Storage;

// Whether `sum` is too far from `exact`, the exact sum of `elements` elements of magnitude up to 8.
// As long as every partial sum is an integer that the type can represent, nothing is rounded.
// Beyond that, CUB does not specify the order of additions. Its tiles are larger than 1024
// elements, and the errors of that many additions hardly ever add up to more than ten times the
// square root of their number (Higham, Mary: A new approach to probabilistic rounding error
// analysis, 2019).
template <typename T>
__device__ bool is_wrong(T sum, int64_t exact, size_t elements) {
  if constexpr (std::is_integral_v<T>) {
    return sum != static_cast<T>(exact);
  } else {
    constexpr double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    const double magnitude = 8.0 * elements;
    const double additions = 1024 + elements / 1024.0;
    const double bound = magnitude <= 1 / unit ? 0 : 10 * sqrt(additions) * unit * magnitude;
    return !(fabs(static_cast<double>(sum) - static_cast<double>(exact)) <= bound);
  }
}

// Finds the first wrong inclusive sum of an input. `period` has the sums of its first period.
template <typename T>
__global__ void find_wrong(const T* sums, size_t n, const int64_t* period, unsigned long long* first) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    const size_t periods = i / peer::PERIOD;
    const int64_t whole = periods == 0 ? 0 : static_cast<int64_t>(periods) * period[peer::PERIOD - 1];
    if (is_wrong(sums[i], whole + period[i % peer::PERIOD], i + 1)) {
      atomicMin(first, static_cast<unsigned long long>(i));
    }
  }
}

// Ends the program if `sums` are not the inclusive sums of an input of `n` elements.
template <typename T>
void verify(const T* sums, size_t n) {
  constexpr int least = std::is_unsigned_v<T> ? 0 : -8;
  std::vector<int64_t> period(std::min<size_t>(n, peer::PERIOD));
  int64_t sum = 0;
  for (size_t i = 0; i < period.size(); ++i) {
    period[i] = sum += static_cast<int>(peer::hash(static_cast<uint32_t>(i)) % 16) + least;
  }
  const Memory<int64_t> exact = peer::alloc<int64_t>(period.size());
  check(cudaMemcpy(exact.get(), period.data(), period.size() * sizeof(int64_t), cudaMemcpyHostToDevice));
  const Memory<unsigned long long> first = peer::alloc<unsigned long long>(1);
  check(cudaMemset(first.get(), 0xff, sizeof(unsigned long long)));
  find_wrong<<<peer::FILL_BLOCKS, 256>>>(sums, n, exact.get(), first.get());
  check(cudaGetLastError());
  unsigned long long at;
  check(cudaMemcpy(&at, first.get(), sizeof at, cudaMemcpyDeviceToHost));
  if (at < n) {
    peer::wrong("cub::DeviceScan::InclusiveSum of " + std::to_string(n) + " elements of " +
                std::to_string(sizeof(T)) + " bytes is wrong at " + std::to_string(at));
  }
}

// µs of the inclusive sums of elements of `T`.
template <typename T>
std::optional<Spread> sum(const Bench& bench, const Load& load) {
  Storage storage;
  return peer::with_count(load.n, [&](auto n) {
    return bench.time_into<T, T>(
        load, load.n, peer::SmallIntegers{},
        [&](const T* in, T* out, cudaStream_t stream) {
          size_t bytes = 0;
          check(cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n, stream));
          check(cub::DeviceScan::InclusiveSum(storage.at_least(bytes), bytes, in, out, n, stream));
        },
        [&](const T* sums) { verify(sums, load.n); });
  });
}

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const Bench& bench, const std::string& op, const std::string& dtype, const std::string& mode,
         const Load& load) -> std::optional<Spread> {
        if (op != "sum" || mode != "default") return std::nullopt;
        if (dtype == "f32") return sum<float>(bench, load);
        if (dtype == "f64") return sum<double>(bench, load);
        if (dtype == "i32") return sum<int32_t>(bench, load);
        if (dtype == "u32") return sum<uint32_t>(bench, load);
        if (dtype == "u64") return sum<uint64_t>(bench, load);
        return std::nullopt;
      });
}
