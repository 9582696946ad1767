// Only the ceilings, for suites of gridsync that have no other peer in CUDA C++: the time to read or to
// copy as many bytes, measured by the same rule.
//
//   nvcc -O3 -std=c++17 -arch=native ceiling.cu -o ceiling
//   echo "copy u8 plain 67108864 16 2000" | ./ceiling AT_LEAST AT_MOST UNCERTAINTY

#include "throughput.cuh"

int main(int argc, char** argv) {
  return peer::answer_throughputs(
      argc, argv,
      [](const peer::Bench&, const std::string&, const std::string&, const std::string&,
         const peer::Load&) -> std::optional<peer::Spread> { return std::nullopt; });
}
