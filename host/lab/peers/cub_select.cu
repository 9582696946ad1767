// The peer of gridsync's selections: CUB's DeviceSelect::If, measured by the same rule. Its results
// are checked.
//
//   nvcc -O3 -std=c++17 -arch=native cub_select.cu -o cub_select
//   echo "select f32 kept_50 1048576 256 2000" | ./cub_select AT_LEAST AT_MOST UNCERTAINTY
//
// Mode kept_50 keeps the elements below 0.5. The elements are uniform between 0 and 1.

#include <cub/device/device_select.cuh>

#include "select.cuh"

using peer::Bench;
using peer::check;
using peer::Load;
using peer::Spread;
using peer::Storage;

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const Bench& bench, const std::string& op, const std::string& dtype, const std::string& mode,
         const Load& load) -> std::optional<Spread> {
        const std::optional<int> kept = peer::percent_kept(mode);
        if (op != "select" || dtype != "f32" || !kept) return std::nullopt;
        const peer::Below below = peer::below(*kept);
        Storage storage;
        const auto n = static_cast<int64_t>(load.n);
        return peer::time_selection(
            bench, load, peer::Uniform{},
            [&](const float* in, float* out, int64_t* count, cudaStream_t stream) {
              size_t bytes = 0;
              check(cub::DeviceSelect::If(nullptr, bytes, in, out, count, n, below, stream));
              check(cub::DeviceSelect::If(storage.at_least(bytes), bytes, in, out, count, n, below, stream));
            },
            [&](const std::vector<float>& in) {
              std::vector<float> selected;
              std::copy_if(in.begin(), in.end(), std::back_inserter(selected), below);
              const auto count = static_cast<int64_t>(selected.size());
              return peer::Selection{std::move(selected), count};
            });
      });
}
