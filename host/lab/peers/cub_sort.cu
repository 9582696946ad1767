// The peer of gridsync's sorts: CUB's DeviceRadixSort, and for rows its DeviceSegmentedSort, measured
// by the same rule. Their results are checked.
//
//   nvcc -O3 -std=c++17 -arch=native cub_sort.cu -o cub_sort
//   echo "keys f32 default 1048576 256 2000" | ./cub_sort AT_LEAST AT_MOST UNCERTAINTY
//
// Operations: keys, pairs (with values of 4 bytes) and argsort: pairs whose values are the indices,
// which the input has already. And rows and segments of 16, 1000
// and 100000: "rows-16", "segments-16".

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "throughput.cuh"

using peer::Bench;
using peer::check;
using peer::Load;
using peer::Spread;
using peer::Storage;

// A key of two hashes: for a float neither infinite nor NaN, because a bit of the exponent is zero.
template <typename K>
__host__ __device__ K key(uint32_t low, uint32_t high) {
  using Bits = std::conditional_t<sizeof(K) == 4, uint32_t, uint64_t>;
  Bits bits = static_cast<Bits>(uint64_t(high) << 32 | low);
  if (std::is_floating_point<K>::value) bits &= ~(Bits(1) << (8 * sizeof(K) - 2));
  K key;
  memcpy(&key, &bits, sizeof key);
  return key;
}

// Element i of every input: the key of the hashes of 2 i and 2 i + 1.
template <typename K>
__global__ void fill_keys(K* out, size_t n) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    const auto at = static_cast<uint32_t>(i % peer::PERIOD);
    out[i] = key<K>(peer::hash(2 * at), peer::hash(2 * at + 1));
  }
}

__global__ void fill_indices(uint32_t* out, size_t n) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = static_cast<uint32_t>(i);
  }
}

// Counts the elements that are less than their predecessor, and adds up the bits of all.
template <typename K>
__global__ void summarize(const K* keys, size_t n, unsigned long long* unordered, unsigned long long* sum) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  unsigned long long bits = 0;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    if (i > 0 && keys[i] < keys[i - 1]) atomicAdd(unordered, 1);
    unsigned long long word = 0;
    memcpy(&word, &keys[i], sizeof(K));
    bits += word;
  }
  atomicAdd(sum, bits);
}

// Ends the program if `sorted` is not in order, or has other elements than an input.
template <typename K>
void verify(const K* sorted, size_t n) {
  const peer::Memory<K> input = peer::alloc<K>(n);
  fill_keys<<<peer::FILL_BLOCKS, 256>>>(input.get(), n);
  const peer::Memory<unsigned long long> sums = peer::alloc<unsigned long long>(4);
  check(cudaMemset(sums.get(), 0, 4 * sizeof(unsigned long long)));
  summarize<<<peer::FILL_BLOCKS, 256>>>(sorted, n, sums.get(), sums.get() + 1);
  summarize<<<peer::FILL_BLOCKS, 256>>>(input.get(), n, sums.get() + 2, sums.get() + 3);
  check(cudaGetLastError());
  unsigned long long got[4];
  check(cudaMemcpy(got, sums.get(), sizeof got, cudaMemcpyDeviceToHost));
  if (got[0] != 0 || got[1] != got[3]) {
    peer::wrong("cub::DeviceRadixSort of " + std::to_string(n) + " elements of " +
                std::to_string(sizeof(K)) + " bytes is wrong");
  }
}

// µs of a sort of keys.
template <typename K>
std::optional<Spread> keys(const Bench& bench, const Load& load) {
  Storage storage;
  return peer::with_count(load.n, [&](auto n) {
    return bench.time_into<K, K>(
        load, load.n,
        [](K* out, size_t n, cudaStream_t stream) {
          fill_keys<<<peer::FILL_BLOCKS, 256, 0, stream>>>(out, n);
          check(cudaGetLastError());
        },
        [&](const K* in, K* out, cudaStream_t stream) {
          size_t bytes = 0;
          const int end = 8 * sizeof(K);
          check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, n, 0, end, stream));
          check(cub::DeviceRadixSort::SortKeys(storage.at_least(bytes), bytes, in, out, n, 0, end, stream));
        },
        [&](const K* sorted) { verify(sorted, load.n); });
  });
}

// µs of a sort of keys and values of 4 bytes. An array has the keys, then the values, aligned.
template <typename K>
std::optional<Spread> pairs(const Bench& bench, const Load& load) {
  static_assert(sizeof(K) == 4, "keys and values share an array");
  Storage storage;
  const size_t half = (load.n + 63) / 64 * 64;
  Load both = load;
  both.n = 2 * half;
  return peer::with_count(load.n, [&](auto n) {
    return bench.time_into<K, K>(
        both, both.n,
        [&](K* out, size_t, cudaStream_t stream) {
          fill_keys<<<peer::FILL_BLOCKS, 256, 0, stream>>>(out, load.n);
          fill_indices<<<peer::FILL_BLOCKS, 256, 0, stream>>>(reinterpret_cast<uint32_t*>(out + half), load.n);
          check(cudaGetLastError());
        },
        [&](const K* in, K* out, cudaStream_t stream) {
          const auto* values = reinterpret_cast<const uint32_t*>(in + half);
          auto* moved = reinterpret_cast<uint32_t*>(out + half);
          size_t bytes = 0;
          const auto step = [&](void* memory) {
            check(cub::DeviceRadixSort::SortPairs(memory, bytes, in, out, values, moved, n, 0,
                                                  int(8 * sizeof(K)), stream));
          };
          step(nullptr);
          step(storage.at_least(bytes));
        },
        [&](const K* sorted) { verify(sorted, load.n); });
  });
}

// Offset i is i times the length of a row.
__global__ void fill_offsets(uint32_t* out, size_t n, uint32_t columns) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = static_cast<uint32_t>(i) * columns;
  }
}

// Counts the keys that are less than their predecessor in the row, and adds up the bits of each row,
// times one more than the number of the row.
__global__ void summarize_rows(const float* keys, size_t n, uint32_t columns, unsigned long long* unordered,
                               unsigned long long* sum) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  unsigned long long bits = 0;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    if (i % columns > 0 && keys[i] < keys[i - 1]) atomicAdd(unordered, 1);
    bits += (i / columns + 1) * __float_as_uint(keys[i]);
  }
  atomicAdd(sum, bits);
}

// µs of a sort of rows of f32. Elements that are left over are not sorted.
std::optional<Spread> rows(const Bench& bench, const Load& load, uint32_t columns) {
  const size_t count = load.n / columns;
  if (count == 0) return std::nullopt;
  const peer::Memory<uint32_t> offsets = peer::alloc<uint32_t>(count + 1);
  fill_offsets<<<peer::FILL_BLOCKS, 256>>>(offsets.get(), count + 1, columns);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  Storage storage;
  Load whole = load;
  whole.n = count * columns;
  const uint32_t* starts = offsets.get();
  return peer::with_count(whole.n, [&](auto n) {
    return bench.time_into<float, float>(
        whole, whole.n,
        [](float* out, size_t n, cudaStream_t stream) {
          fill_keys<<<peer::FILL_BLOCKS, 256, 0, stream>>>(out, n);
          check(cudaGetLastError());
        },
        [&](const float* in, float* out, cudaStream_t stream) {
          size_t bytes = 0;
          const auto step = [&](void* memory) {
            check(cub::DeviceSegmentedSort::SortKeys(memory, bytes, in, out, n, static_cast<int64_t>(count),
                                                     starts, starts + 1, stream));
          };
          step(nullptr);
          step(storage.at_least(bytes));
        },
        [&](const float* sorted) {
          const peer::Memory<float> input = peer::alloc<float>(whole.n);
          fill_keys<<<peer::FILL_BLOCKS, 256>>>(input.get(), whole.n);
          const peer::Memory<unsigned long long> sums = peer::alloc<unsigned long long>(4);
          check(cudaMemset(sums.get(), 0, 4 * sizeof(unsigned long long)));
          summarize_rows<<<peer::FILL_BLOCKS, 256>>>(sorted, whole.n, columns, sums.get(), sums.get() + 1);
          summarize_rows<<<peer::FILL_BLOCKS, 256>>>(input.get(), whole.n, columns, sums.get() + 2,
                                                     sums.get() + 3);
          check(cudaGetLastError());
          unsigned long long got[4];
          check(cudaMemcpy(got, sums.get(), sizeof got, cudaMemcpyDeviceToHost));
          if (got[0] != 0 || got[1] != got[3]) {
            peer::wrong("cub::DeviceSegmentedSort of rows of " + std::to_string(columns) + " is wrong");
          }
        },
        // It waits for the numbers of long and short segments.
        false);
  });
}

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const Bench& bench, const std::string& op, const std::string& dtype, const std::string& mode,
         const Load& load) -> std::optional<Spread> {
        if (mode != "default") return std::nullopt;
        if (op == "keys" && dtype == "u32") return keys<uint32_t>(bench, load);
        if (op == "keys" && dtype == "f32") return keys<float>(bench, load);
        if (op == "keys" && dtype == "u64") return keys<uint64_t>(bench, load);
        if (op == "keys" && dtype == "f64") return keys<double>(bench, load);
        if (op == "pairs" && dtype == "u32") return pairs<uint32_t>(bench, load);
        if (op == "argsort" && dtype == "f32") return pairs<float>(bench, load);
        // Rows are segments too.
        if (op == "rows-16" || op == "segments-16") return rows(bench, load, 16);
        if (op == "rows-1000" || op == "segments-1000") return rows(bench, load, 1000);
        if (op == "rows-100000" || op == "segments-1e5") return rows(bench, load, 100000);
        return std::nullopt;
      });
}
