// The peer of gridsync's calls: the cost of CUB's DeviceReduce for the calling thread. Its
// temporary storage is allocated once.
//
//   nvcc -O3 -std=c++17 -arch=native calls.cu -o calls
//   echo "value 65536" | ./calls AT_LEAST AT_MOST UNCERTAINTY
//
// A line contains a call and the number of elements. The times of a launch, a graph launch and a
// value are the mean of 256 calls. A value is copied to pinned memory, and the call waits for the
// stream. A process is this program, which adds up that many numbers and prints the sum.

#include <chrono>
#include <cub/device/device_reduce.cuh>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.cuh"

using peer::check;

constexpr int CALLS = 256;

// A sum of `n` ones.
struct Sum {
  int n;
  float *in, *out, *on_host;
  void* storage = nullptr;
  size_t bytes = 0;
  cudaStream_t stream;

  explicit Sum(int n) : n(n) {
    check(cudaStreamCreate(&stream));
    check(cudaMalloc(&in, n * sizeof(float)));
    check(cudaMalloc(&out, sizeof(float)));
    check(cudaMallocHost(&on_host, sizeof(float)));
    const std::vector<float> ones(n, 1);
    check(cudaMemcpy(in, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    launch();
    check(cudaMalloc(&storage, bytes));
  }

  Sum(const Sum&) = delete;

  ~Sum() {
    check(cudaFree(in));
    check(cudaFree(out));
    check(cudaFreeHost(on_host));
    check(cudaFree(storage));
    check(cudaStreamDestroy(stream));
  }

  void launch() { check(cub::DeviceReduce::Sum(storage, bytes, in, out, n, stream)); }

  float value() {
    launch();
    check(cudaMemcpyAsync(on_host, out, sizeof(float), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    return *on_host;
  }
};

template <typename Work>
double us(Work work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count();
}

template <typename Call>
peer::Spread measure(const peer::Sampling& samples, Sum& sum, Call call) {
  const auto sample = [&] {
    check(cudaStreamSynchronize(sum.stream));
    return us([&] {
      for (int i = 0; i < CALLS; ++i) call();
    });
  };
  for (double passed = 0; passed < 20'000;) passed += sample();
  const peer::Spread time = samples.measure([&] { return sample() / CALLS; });
  check(cudaStreamSynchronize(sum.stream));
  return time;
}

// Time of this program from its start to its end.
double process_us(const char* n) {
  return us([&] {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/proc/self/exe", "peer", n, static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) peer::wrong("a process failed");
  });
}

int main(int argc, char** argv) {
  if (argc == 2) {
    const int n = std::atoi(argv[1]);
    Sum sum(n);
    const float value = sum.value();
    std::fprintf(stderr, "%g\n", value);
    return value == float(n) ? 0 : 1;
  }
  if (argc != 4) {
    std::fprintf(stderr, "peer: usage: PEER AT_LEAST AT_MOST UNCERTAINTY < lines\n");
    return 2;
  }
  const peer::Sampling samples = peer::sampling(argv + 1);
  std::vector<std::pair<std::string, int>> lines;
  std::string call;
  int n;
  while (std::cin >> call >> n) lines.emplace_back(call, n);
  // Processes come first, while this one has no context yet.
  for (const auto& [call, n] : lines) {
    if (call != "process") continue;
    const std::string number = std::to_string(n);
    process_us(number.c_str());
    const peer::Sampling fewer = {samples.at_least, 2 * samples.at_least, samples.uncertainty};
    peer::answer(call + " " + number, fewer.measure([&] { return process_us(number.c_str()); }));
  }
  for (const auto& [call, n] : lines) {
    if (call == "process") continue;
    const std::string line = call + " " + std::to_string(n);
    Sum sum(n);
    if (sum.value() != float(n)) peer::wrong("a sum of " + std::to_string(n) + " ones");
    if (call == "launch") {
      peer::answer(line, measure(samples, sum, [&] { sum.launch(); }));
    } else if (call == "value") {
      peer::answer(line, measure(samples, sum, [&] { sum.value(); }));
    } else if (call == "graph-launch") {
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      check(cudaStreamBeginCapture(sum.stream, cudaStreamCaptureModeRelaxed));
      sum.launch();
      check(cudaStreamEndCapture(sum.stream, &graph));
      check(cudaGraphInstantiate(&exec, graph, 0));
      check(cudaGraphDestroy(graph));
      peer::answer(line, measure(samples, sum, [&] { check(cudaGraphLaunch(exec, sum.stream)); }));
      check(cudaGraphExecDestroy(exec));
    }
  }
  return 0;
}
