// The peer of gridsync's reductions: CUB's DeviceReduce, measured by the same rule.
//
//   nvcc -O3 -std=c++17 -arch=native cub_reduce.cu -o cub_reduce
//   echo "sum f32 run_to_run 1048576 256 2000" | ./cub_reduce AT_LEAST AT_MOST UNCERTAINTY
//
// Modes: run_to_run is CUB's default. run_to_run_in_f64 is the same with an initial value in f64,
// so that CUB accumulates in f64. gpu_to_gpu gives sums with the same bits on every GPU; it needs
// CUB 3.1 or newer, but CUDA 13.0 includes 3.0. Name newer headers (github.com/NVIDIA/cccl, or the
// folder include/cccl of the wheel nvidia-cuda-cccl) in NVCC_PREPEND_FLAGS, which nvcc reads:
//
//   NVCC_PREPEND_FLAGS="-I FOLDER/include/cccl" gridsync bench reduce --peers

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda/std/functional>

#include "throughput.cuh"

using peer::Bench;
using peer::check;
using peer::Load;
using peer::Memory;
using peer::Spread;
using peer::Storage;
using peer::with_count;

// µs of one two-step call of CUB, `reduce(storage, bytes, in, out, n, stream)`.
template <typename T, typename Result, typename Reduce>
std::optional<Spread> in_two_steps(const Bench& bench, const Load& load, Reduce reduce) {
  Storage storage;
  const Memory<Result> result = peer::alloc<Result>(1);
  return with_count(load.n, [&](auto n) {
    return bench.time<T>(load, [&](const T* in, cudaStream_t stream) {
      size_t bytes = 0;
      check(reduce(nullptr, bytes, in, result.get(), n, stream));
      check(reduce(storage.at_least(bytes), bytes, in, result.get(), n, stream));
    });
  });
}

#if CUB_VERSION >= 300100
// Lends the storage to CUB as a memory resource, so that a call allocates nothing.
struct Lender {
  Storage* storage;

  void* allocate(cuda::stream_ref, size_t bytes, size_t = 0) { return storage->at_least(bytes); }
  void deallocate(cuda::stream_ref, void*, size_t, size_t = 0) {}
  // A memory resource must have these two as well; CUB does not call them.
  void* allocate_sync(size_t bytes, size_t = 0) { return storage->at_least(bytes); }
  void deallocate_sync(void*, size_t, size_t = 0) {}

  friend bool operator==(const Lender& a, const Lender& b) { return a.storage == b.storage; }
  friend bool operator!=(const Lender& a, const Lender& b) { return !(a == b); }
};

// The environment of a one-step call: mode, stream and memory. nvcc 13.5 fails on CUB's own `env`
// with three parts. The names with underscores are CUB's; before 3.5 there are no others.
struct GpuToGpu {
  cudaStream_t stream;
  Storage* storage;

  auto query(cuda::execution::__get_requirements_t) const noexcept {
    return cuda::std::execution::env<cuda::execution::determinism::gpu_to_gpu_t>{};
  }
  auto query(cuda::get_stream_t) const noexcept { return cuda::stream_ref{stream}; }
  auto query(cuda::mr::__get_memory_resource_t) const noexcept { return Lender{storage}; }
};

// µs of a sum in mode gpu_to_gpu.
template <typename T>
std::optional<Spread> sum_gpu_to_gpu(const Bench& bench, const Load& load) {
  Storage storage;
  const Memory<T> result = peer::alloc<T>(1);
  return with_count(load.n, [&](auto n) {
    return bench.time<T>(load, [&](const T* in, cudaStream_t stream) {
      check(cub::DeviceReduce::Sum(in, result.get(), n, GpuToGpu{stream, &storage}));
    });
  });
}
#else
// Prints that this CUB does not have the mode.
template <typename T>
std::optional<Spread> sum_gpu_to_gpu(const Bench&, const Load&) {
  peer::note("no mode gpu_to_gpu in CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
             std::to_string(CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION));
  return std::nullopt;
}
#endif

// µs of `op` on elements of `T` in `mode`, or nullopt if the op or the mode is not supported.
template <typename T>
std::optional<Spread> measure(const Bench& bench, const std::string& op, const std::string& mode,
                              const Load& load) {
  if (mode == "run_to_run" && op == "sum") {
    return in_two_steps<T, T>(bench, load, [](void* storage, size_t& bytes, auto... rest) {
      return cub::DeviceReduce::Sum(storage, bytes, rest...);
    });
  }
  if (mode == "run_to_run" && op == "min") {
    return in_two_steps<T, T>(bench, load, [](void* storage, size_t& bytes, auto... rest) {
      return cub::DeviceReduce::Min(storage, bytes, rest...);
    });
  }
  if (mode == "run_to_run" && op == "max") {
    return in_two_steps<T, T>(bench, load, [](void* storage, size_t& bytes, auto... rest) {
      return cub::DeviceReduce::Max(storage, bytes, rest...);
    });
  }
  if constexpr (std::is_same_v<T, float>) {
    if (mode == "run_to_run_in_f64" && op == "sum") {
      return in_two_steps<T, double>(
          bench, load,
          [](void* storage, size_t& bytes, const T* in, double* out, auto n, cudaStream_t stream) {
            return cub::DeviceReduce::Reduce(storage, bytes, in, out, n, cuda::std::plus<>{}, 0.0, stream);
          });
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (mode == "gpu_to_gpu" && op == "sum") return sum_gpu_to_gpu<T>(bench, load);
  }
  return std::nullopt;
}

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const Bench& bench, const std::string& op, const std::string& dtype, const std::string& mode,
         const Load& load) -> std::optional<Spread> {
        if (dtype == "f32") return measure<float>(bench, op, mode, load);
        if (dtype == "f64") return measure<double>(bench, op, mode, load);
        if (dtype == "i32") return measure<int32_t>(bench, op, mode, load);
        if (dtype == "u64") return measure<uint64_t>(bench, op, mode, load);
        return std::nullopt;
      });
}
