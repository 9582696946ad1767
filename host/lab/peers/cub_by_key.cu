// The peer of gridsync's operations on runs of equal keys: CUB's DeviceReduce::ReduceByKey,
// DeviceScan::InclusiveSumByKey and DeviceSelect::UniqueByKey, measured by the same rule. Their
// results are checked.
//
//   nvcc -O3 -std=c++17 -arch=native cub_by_key.cu -o cub_by_key
//   echo "reduce-16 f32 default 16777216 1 0" | ./cub_by_key AT_LEAST AT_MOST UNCERTAINTY
//
// Operations: "reduce-N", "scan-N" and "unique-N", where each run has N keys, and the last may have
// fewer. Keys are u32. Each call of a replay has its own keys, which are alike. Everything stays in device
// memory.

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>

#include "throughput.cuh"

using peer::Bench;
using peer::check;
using peer::Load;
using peer::Memory;
using peer::Spread;
using peer::Storage;

// Key i is the number of its run.
__global__ void fill_keys(uint32_t* out, size_t n, size_t each) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    out[i] = static_cast<uint32_t>(i / each);
  }
}

// Value i of every input, as SmallIntegers fills them.
float value(size_t i) {
  return static_cast<float>(static_cast<int>(peer::hash(static_cast<uint32_t>(i % peer::PERIOD)) % 16) - 8);
}

// Ends the program if element i of `written`, in device memory, is not `expected(i)`. Asks for them in
// order.
template <typename T, typename Expected>
void verify(const char* what, const T* written, size_t count, Expected expected) {
  std::vector<T> elements(count);
  check(cudaMemcpy(elements.data(), written, count * sizeof(T), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < count; ++i) {
    if (elements[i] != expected(i)) {
      peer::wrong(std::string("by key, ") + what + " " + std::to_string(i) + " of " + std::to_string(count) +
                  " is wrong");
    }
  }
}

// The keys of each call, and what a call finds about their runs.
struct Runs {
  Runs(const Load& load, size_t of_each)
      : n(load.n),
        each(of_each),
        count((load.n + of_each - 1) / of_each),
        firsts(peer::alloc<uint32_t>(count)),
        counted(peer::alloc<int64_t>(1)) {
    for (int i = 0; i < load.calls; ++i) {
      keys.push_back(peer::alloc<uint32_t>(n));
      fill_keys<<<peer::FILL_BLOCKS, 256>>>(keys.back().get(), n, each);
      check(cudaGetLastError());
    }
    check(cudaDeviceSynchronize());
  }

  // The keys of the next call.
  const uint32_t* next() const { return keys[called++ % keys.size()].get(); }

  // Ends the program if the keys of the runs or their number are wrong.
  void verify_firsts() const {
    verify("key", firsts.get(), count, [](size_t run) { return static_cast<uint32_t>(run); });
    verify("number of runs", counted.get(), 1, [&](size_t) { return static_cast<int64_t>(count); });
  }

  size_t n, each, count;
  std::vector<Memory<uint32_t>> keys;
  Memory<uint32_t> firsts;
  Memory<int64_t> counted;

 private:
  mutable size_t called = 0;
};

// µs of one two-step call of CUB, `call(storage, bytes, keys, values, output, n, stream)`, which writes
// `written` elements.
template <typename Call, typename Verify>
std::optional<Spread> in_two_steps(const Bench& bench, const Load& load, const Runs& runs, size_t written,
                                   Call call, Verify verify) {
  Storage storage;
  return peer::with_count(load.n, [&](auto n) {
    return bench.time_into<float, float>(
        load, written, peer::SmallIntegers{},
        [&](const float* values, float* out, cudaStream_t stream) {
          const uint32_t* keys = runs.next();
          size_t bytes = 0;
          check(call(nullptr, bytes, keys, values, out, n, stream));
          check(call(storage.at_least(bytes), bytes, keys, values, out, n, stream));
        },
        verify);
  });
}

// µs of the key and the sum of each run.
std::optional<Spread> reduce(const Bench& bench, const Load& load, const Runs& runs) {
  return in_two_steps(
      bench, load, runs, runs.count,
      [&](void* storage, size_t& bytes, const uint32_t* keys, const float* values, float* sums, auto n,
          cudaStream_t stream) {
        return cub::DeviceReduce::ReduceByKey(storage, bytes, keys, runs.firsts.get(), values, sums,
                                              runs.counted.get(), cuda::std::plus<>{}, n, stream);
      },
      [&](const float* sums) {
        runs.verify_firsts();
        verify("sum", sums, runs.count, [&](size_t run) {
          float sum = 0;
          for (size_t i = run * runs.each; i < std::min(runs.n, (run + 1) * runs.each); ++i) sum += value(i);
          return sum;
        });
      });
}

// µs of the inclusive sums of each run.
std::optional<Spread> scan(const Bench& bench, const Load& load, const Runs& runs) {
  return in_two_steps(
      bench, load, runs, load.n,
      [&](void* storage, size_t& bytes, const uint32_t* keys, const float* values, float* sums, auto n,
          cudaStream_t stream) {
        return cub::DeviceScan::InclusiveSumByKey(storage, bytes, keys, values, sums, n,
                                                  cuda::std::equal_to<>{}, stream);
      },
      [&](const float* sums) {
        float sum = 0;
        verify("sum", sums, runs.n, [&](size_t i) {
          sum = i % runs.each == 0 ? value(i) : sum + value(i);
          return sum;
        });
      });
}

// µs of the key and the first value of each run.
std::optional<Spread> unique(const Bench& bench, const Load& load, const Runs& runs) {
  return in_two_steps(
      bench, load, runs, runs.count,
      [&](void* storage, size_t& bytes, const uint32_t* keys, const float* values, float* kept, auto n,
          cudaStream_t stream) {
        return cub::DeviceSelect::UniqueByKey(storage, bytes, keys, values, runs.firsts.get(), kept,
                                              runs.counted.get(), n, stream);
      },
      [&](const float* kept) {
        runs.verify_firsts();
        verify("value", kept, runs.count, [&](size_t run) { return value(run * runs.each); });
      });
}

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const Bench& bench, const std::string& op, const std::string& dtype, const std::string& mode,
         const Load& load) -> std::optional<Spread> {
        const size_t hyphen = op.find('-');
        if (mode != "default" || dtype != "f32" || hyphen == std::string::npos) return std::nullopt;
        const size_t each = std::strtoull(op.c_str() + hyphen + 1, nullptr, 10);
        if (each == 0) return std::nullopt;
        const std::string does = op.substr(0, hyphen);
        const Runs runs(load, each);
        if (does == "reduce") return reduce(bench, load, runs);
        if (does == "scan") return scan(bench, load, runs);
        if (does == "unique") return unique(bench, load, runs);
        return std::nullopt;
      });
}
