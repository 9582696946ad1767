// The peer of gridsync's partitions: CUB's DevicePartition::If, measured by the same rule. Its
// results are checked.
//
//   nvcc -O3 -std=c++17 -arch=native cub_partition.cu -o cub_partition
//   echo "partition f32 kept_50 1048576 256 2000" | ./cub_partition AT_LEAST AT_MOST UNCERTAINTY
//
// Mode kept_50 moves the elements below 0.5 to the front, in order. The elements are uniform
// between 0 and 1. CUB moves the others to the end, in reverse order.

#include <cub/device/device_partition.cuh>

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
        if (op != "partition" || dtype != "f32" || !kept) return std::nullopt;
        const peer::Below below = peer::below(*kept);
        Storage storage;
        return peer::with_count(load.n, [&](auto n) {
          return peer::time_selection(
              bench, load, peer::Uniform{},
              [&](const float* in, float* out, int64_t* count, cudaStream_t stream) {
                size_t bytes = 0;
                check(cub::DevicePartition::If(nullptr, bytes, in, out, count, n, below, stream));
                check(cub::DevicePartition::If(storage.at_least(bytes), bytes, in, out, count, n, below,
                                               stream));
              },
              [&](const std::vector<float>& in) {
                std::vector<float> parted(in.size());
                const auto ends =
                    std::partition_copy(in.begin(), in.end(), parted.begin(), parted.rbegin(), below);
                // Must be computed before the vector moves.
                const int64_t kept_ones = ends.first - parted.begin();
                return peer::Selection{std::move(parted), kept_ones};
              });
        });
      });
}
