// The peer of gridsync's reductions of rows: CUB's DeviceSegmentedReduce, measured by the same rule.
//
//   nvcc -O3 -std=c++17 -arch=native cub_reduce_rows.cu -o cub_reduce_rows
//   echo "sum f32 fixed_16 16777216 32 2000" | ./cub_reduce_rows AT_LEAST AT_MOST UNCERTAINTY
//
// Modes: fixed_16 is the form for segments of one size, here 16 elements. offsets_16 is the form
// for segments of any size, with the same segments given by computed offsets. The input has as many
// whole rows as fit in N elements. The fixed form needs CUB 3.1 or newer; for headers newer than
// CUDA's see cub_reduce.cu.

#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "throughput.cuh"

using peer::Bench;
using peer::check;
using peer::Load;
using peer::Memory;
using peer::Spread;
using peer::Storage;

// The start of a row.
struct Begin {
  int64_t columns;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * columns; }
};

// µs of one two-step call of CUB, `reduce(storage, bytes, in, out, rows, stream)`.
template <typename Reduce>
std::optional<Spread> in_two_steps(const Bench& bench, const Load& load, int64_t columns, Reduce reduce) {
  Storage storage;
  const int64_t rows = (load.n + columns - 1) / columns;
  const Memory<float> results = peer::alloc<float>(rows);
  const Load whole{size_t(rows * columns), load.calls, load.sample_us};
  return bench.time<float>(whole, [&](const float* in, cudaStream_t stream) {
    size_t bytes = 0;
    check(reduce(nullptr, bytes, in, results.get(), rows, stream));
    check(reduce(storage.at_least(bytes), bytes, in, results.get(), rows, stream));
  });
}

std::optional<Spread> by_offsets(const Bench& bench, const Load& load, int64_t columns) {
  const auto begins =
      thrust::make_transform_iterator(thrust::make_counting_iterator<int64_t>(0), Begin{columns});
  return in_two_steps(bench, load, columns,
                      [&](void* storage, size_t& bytes, const float* in, float* out, int64_t rows,
                          cudaStream_t stream) {
                        return cub::DeviceSegmentedReduce::Sum(storage, bytes, in, out, rows, begins,
                                                               begins + 1, stream);
                      });
}

#if CUB_VERSION >= 300100
std::optional<Spread> by_size(const Bench& bench, const Load& load, int64_t columns) {
  return in_two_steps(bench, load, columns,
                      [&](void* storage, size_t& bytes, const float* in, float* out, int64_t rows,
                          cudaStream_t stream) {
                        return cub::DeviceSegmentedReduce::Sum(storage, bytes, in, out, rows,
                                                               static_cast<int>(columns), stream);
                      });
}
#else
// Prints that this CUB does not have the form.
std::optional<Spread> by_size(const Bench&, const Load&, int64_t) {
  peer::note("no segments of one size in CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
             std::to_string(CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION));
  return std::nullopt;
}
#endif

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const Bench& bench, const std::string& op, const std::string& dtype, const std::string& mode,
         const Load& load) -> std::optional<Spread> {
        const size_t under = mode.find('_');
        if (op != "sum" || dtype != "f32" || under == std::string::npos) return std::nullopt;
        const std::string form = mode.substr(0, under);
        // If the input is shorter than a row, it is one row.
        const int64_t columns = std::min<int64_t>(std::stoll(mode.substr(under + 1)), load.n);
        if (form == "fixed") return by_size(bench, load, columns);
        if (form == "offsets") return by_offsets(bench, load, columns);
        return std::nullopt;
      });
}
