// Shared by all peers: errors, the time between two events, samples and their spread, and the lines
// of the protocol.
//
// A peer reads questions, one per line, from standard input. To each supported one it answers with
// the same line, a colon, and five numbers: "LINE: median quartile_range min max samples". Times
// are in µs. A line "note: …" explains why a question has no answer.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace peer {

// Exits if a CUDA call failed.
inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "peer: %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
  std::exit(3);
}

// Exits because a result is wrong. gridsync then fails as for a wrong result of its own kernels.
[[noreturn]] inline void wrong(const std::string& what) {
  std::fprintf(stderr, "peer: %s\n", what.c_str());
  std::exit(1);
}

// Device time in µs of the work that `work()` puts into the stream, after the work of `before()`.
template <typename Before, typename Work>
double time_us(cudaStream_t stream, Before before, Work work) {
  cudaEvent_t start, stop;
  check(cudaStreamSynchronize(stream));
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  before();
  check(cudaEventRecord(start, stream));
  work();
  check(cudaEventRecord(stop, stream));
  check(cudaEventSynchronize(stop));
  float ms;
  check(cudaEventElapsedTime(&ms, start, stop));
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  return 1e3 * ms;
}

// Device time in µs of the work that `work()` puts into the empty stream.
template <typename Work>
double time_us(cudaStream_t stream, Work work) {
  return time_us(stream, [] {}, work);
}

// The statistics of several samples of one quantity.
struct Spread {
  double median, quartile_range, min, max;
  int samples;
};

// The quantile `part` of `sorted`, which is not empty, interpolated between neighbours.
inline double quantile(const std::vector<double>& sorted, double part) {
  const double place = part * (sorted.size() - 1);
  const double below = sorted[static_cast<size_t>(std::floor(place))];
  const double above = sorted[static_cast<size_t>(std::ceil(place))];
  return below + (place - std::floor(place)) * (above - below);
}

inline Spread spread(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.75) - quantile(samples, 0.25),
          samples.front(), samples.back(), static_cast<int>(samples.size())};
}

// How often to measure: until the standard error of the median, divided by the median, is at most
// `uncertainty`, by the formula of gridsync's `Spread::uncertainty`.
struct Sampling {
  int at_least, at_most;
  double uncertainty;

  template <typename Sample>
  Spread measure(Sample sample) const {
    std::vector<double> samples;
    for (;;) {
      samples.push_back(sample());
      const int taken = static_cast<int>(samples.size());
      if (taken < at_least) continue;
      const Spread now = spread(samples);
      const double error = std::sqrt(std::acos(-1.0) / 2) * now.quartile_range / 1.349 / std::sqrt(taken);
      if (taken >= at_most || (now.median > 0 && error <= uncertainty * now.median)) return now;
    }
  }
};

// Reads AT_LEAST AT_MOST UNCERTAINTY, the last three arguments of every peer.
inline Sampling sampling(char** last_three) {
  return {std::atoi(last_three[0]), std::atoi(last_three[1]), std::atof(last_three[2])};
}

inline void answer(const std::string& line, const Spread& time) {
  std::printf("%s: %.6g %.6g %.6g %.6g %d\n", line.c_str(), time.median, time.quartile_range, time.min,
              time.max, time.samples);
}

inline void note(const std::string& text) { std::printf("note: %s\n", text.c_str()); }

}  // namespace peer
