// The peer of gridsync's first elements of runs: CUB's DeviceSelect::Unique, and
// DeviceRunLengthEncode::Encode, which also gives the lengths, measured by the same rule. Their
// results are checked.
//
//   nvcc -O3 -std=c++17 -arch=native cub_unique.cu -o cub_unique
//   echo "unique f32 kept_50 1048576 256 2000" | ./cub_unique AT_LEAST AT_MOST UNCERTAINTY
//
// Operations: unique and run-lengths. Modes: in kept_50, half of the elements differ from the
// previous one.

#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "select.cuh"

using peer::Bench;
using peer::check;
using peer::Load;
using peer::Spread;
using peer::Storage;

// The first elements of the runs.
peer::Selection firsts(const std::vector<float>& in) {
  std::vector<float> firsts;
  std::unique_copy(in.begin(), in.end(), std::back_inserter(firsts));
  const auto count = static_cast<int64_t>(firsts.size());
  return {std::move(firsts), count};
}

// µs of the first elements of the runs.
std::optional<Spread> unique(const Bench& bench, const Load& load, const peer::Runs& runs) {
  Storage storage;
  const auto n = static_cast<int64_t>(load.n);
  return peer::time_selection(
      bench, load, runs,
      [&](const float* in, float* out, int64_t* count, cudaStream_t stream) {
        size_t bytes = 0;
        check(cub::DeviceSelect::Unique(nullptr, bytes, in, out, count, n, stream));
        check(cub::DeviceSelect::Unique(storage.at_least(bytes), bytes, in, out, count, n, stream));
      },
      firsts);
}

// µs of the first elements and the lengths of the runs. The sum of the lengths is checked.
std::optional<Spread> run_lengths(const Bench& bench, const Load& load, const peer::Runs& runs) {
  Storage storage;
  // The lengths of the last call, which follow the elements of its output.
  int32_t* lengths = nullptr;
  return peer::with_count(load.n, [&](auto n) {
    return peer::time_selection(
        bench, load, runs,
        [&](const float* in, float* out, int64_t* count, cudaStream_t stream) {
          lengths = reinterpret_cast<int32_t*>(out + load.n);
          const auto step = [&](void* memory, size_t& bytes) {
            check(cub::DeviceRunLengthEncode::Encode(memory, bytes, in, out, lengths, count, n,
                                                     stream));
          };
          size_t bytes = 0;
          step(nullptr, bytes);
          step(storage.at_least(bytes), bytes);
        },
        [&](const std::vector<float>& in) {
          peer::Selection expected = firsts(in);
          std::vector<int32_t> told(expected.count);
          check(cudaMemcpy(told.data(), lengths, told.size() * sizeof(int32_t), cudaMemcpyDeviceToHost));
          int64_t all = 0;
          for (const int32_t length : told) all += length;
          if (all != static_cast<int64_t>(in.size())) {
            peer::wrong("runs of " + std::to_string(in.size()) + " elements have " + std::to_string(all));
          }
          return expected;
        },
        2);
  });
}

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const Bench& bench, const std::string& op, const std::string& dtype, const std::string& mode,
         const Load& load) -> std::optional<Spread> {
        const std::optional<int> kept = peer::percent_kept(mode);
        if (dtype != "f32" || !kept) return std::nullopt;
        const peer::Runs runs(*kept);
        if (op == "unique") return unique(bench, load, runs);
        if (op == "run-lengths") return run_lengths(bench, load, runs);
        return std::nullopt;
      });
}
