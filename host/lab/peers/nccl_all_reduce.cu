// The peer of gridsync's collectives over several GPUs: ncclAllReduce of one f32 of each GPU. One
// thread drives all GPUs. Many calls are captured into one CUDA graph for each GPU, so that the
// launches of single calls do not count.
//
//   nvcc -O3 -std=c++17 -arch=native nccl_all_reduce.cu -o nccl_all_reduce -lnccl
//   echo "0,1" | ./nccl_all_reduce FEW MANY AT_LEAST AT_MOST UNCERTAINTY
//
// A line contains the numbers of the GPUs. The answer is µs per call: the slope between graphs of
// few and of many calls, by the time on the host, as in gridsync's own measurement.

#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "peer.cuh"

// Exits if an NCCL call failed.
static void check(ncclResult_t result) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "peer: NCCL: %s: %s\n", ncclGetErrorString(result), ncclGetLastError(nullptr));
  std::exit(3);
}

// GPUs that work together. GPU number g contributes g + 1.
class Group {
 public:
  explicit Group(const std::vector<int>& gpus)
      : gpus_(gpus), comms_(gpus.size()), streams_(gpus.size()), from_(gpus.size()), to_(gpus.size()) {
    check(ncclCommInitAll(comms_.data(), static_cast<int>(gpus.size()), gpus.data()));
    for (size_t g = 0; g < gpus_.size(); ++g) {
      const float mine = static_cast<float>(g + 1);
      peer::check(cudaSetDevice(gpus_[g]));
      peer::check(cudaStreamCreate(&streams_[g]));
      peer::check(cudaMalloc(&from_[g], sizeof(float)));
      peer::check(cudaMalloc(&to_[g], sizeof(float)));
      peer::check(cudaMemcpy(from_[g], &mine, sizeof(float), cudaMemcpyHostToDevice));
      peer::check(cudaMemset(to_[g], 0, sizeof(float)));
    }
    // The first call connects the GPUs, which allocates memory and must not happen in a capture.
    all_reduce();
    wait();
  }

  Group(const Group&) = delete;

  ~Group() {
    for (size_t g = 0; g < gpus_.size(); ++g) {
      peer::check(cudaSetDevice(gpus_[g]));
      peer::check(cudaFree(from_[g]));
      peer::check(cudaFree(to_[g]));
      peer::check(cudaStreamDestroy(streams_[g]));
      check(ncclCommDestroy(comms_[g]));
    }
  }

  // A graph of `calls` calls for each GPU.
  std::vector<cudaGraphExec_t> capture(int calls) const {
    for (size_t g = 0; g < gpus_.size(); ++g) {
      peer::check(cudaSetDevice(gpus_[g]));
      // Only this thread captures. NCCL's threads may allocate memory at the same time.
      peer::check(cudaStreamBeginCapture(streams_[g], cudaStreamCaptureModeThreadLocal));
    }
    for (int call = 0; call < calls; ++call) all_reduce();
    std::vector<cudaGraph_t> graphs(gpus_.size());
    for (size_t g = 0; g < gpus_.size(); ++g) {
      peer::check(cudaSetDevice(gpus_[g]));
      peer::check(cudaStreamEndCapture(streams_[g], &graphs[g]));
    }
    std::vector<cudaGraphExec_t> execs(gpus_.size());
    for (size_t g = 0; g < gpus_.size(); ++g) {
      peer::check(cudaSetDevice(gpus_[g]));
      peer::check(cudaGraphInstantiate(&execs[g], graphs[g], 0));
      peer::check(cudaGraphUpload(execs[g], streams_[g]));
      peer::check(cudaGraphDestroy(graphs[g]));
    }
    wait();
    return execs;
  }

  // Time on the host of one run of the graphs on all GPUs, in µs.
  double time_us(const std::vector<cudaGraphExec_t>& execs) const {
    const auto start = std::chrono::steady_clock::now();
    for (size_t g = 0; g < gpus_.size(); ++g) {
      peer::check(cudaSetDevice(gpus_[g]));
      peer::check(cudaGraphLaunch(execs[g], streams_[g]));
    }
    wait();
    const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start;
    return passed.count();
  }

  void destroy(const std::vector<cudaGraphExec_t>& execs) const {
    for (size_t g = 0; g < gpus_.size(); ++g) {
      peer::check(cudaSetDevice(gpus_[g]));
      peer::check(cudaGraphExecDestroy(execs[g]));
    }
  }

  // Makes the results wrong, so that `expect_right` fails unless they are written again.
  void clear() const {
    for (size_t g = 0; g < gpus_.size(); ++g) {
      peer::check(cudaSetDevice(gpus_[g]));
      peer::check(cudaMemset(to_[g], 0, sizeof(float)));
      peer::check(cudaDeviceSynchronize());
    }
  }

  // Exits if a GPU does not have 1 + 2 + … + n, which is exact in f32.
  void expect_right(const std::string& line) const {
    const float right = 0.5f * static_cast<float>(gpus_.size() * (gpus_.size() + 1));
    for (size_t g = 0; g < gpus_.size(); ++g) {
      float found;
      peer::check(cudaSetDevice(gpus_[g]));
      peer::check(cudaMemcpy(&found, to_[g], sizeof(float), cudaMemcpyDeviceToHost));
      if (found == right) continue;
      peer::wrong("ncclAllReduce on GPUs " + line + " gave " + std::to_string(found) + " to GPU " +
                  std::to_string(gpus_[g]) + ", not " + std::to_string(right));
    }
  }

 private:
  // One call on all GPUs. A single thread must group the calls of several GPUs, because each call
  // waits for the others.
  void all_reduce() const {
    check(ncclGroupStart());
    for (size_t g = 0; g < gpus_.size(); ++g) {
      check(ncclAllReduce(from_[g], to_[g], 1, ncclFloat32, ncclSum, comms_[g], streams_[g]));
    }
    check(ncclGroupEnd());
  }

  void wait() const {
    for (size_t g = 0; g < gpus_.size(); ++g) {
      peer::check(cudaSetDevice(gpus_[g]));
      peer::check(cudaStreamSynchronize(streams_[g]));
    }
  }

  std::vector<int> gpus_;
  std::vector<ncclComm_t> comms_;
  std::vector<cudaStream_t> streams_;
  std::vector<float*> from_, to_;
};

// The numbers in "0,1,2".
static std::vector<int> numbers(const std::string& line) {
  std::vector<int> numbers;
  std::istringstream words(line);
  for (std::string word; std::getline(words, word, ',');) numbers.push_back(std::atoi(word.c_str()));
  return numbers;
}

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "peer: usage: PEER FEW MANY AT_LEAST AT_MOST UNCERTAINTY < lines of GPUs\n");
    return 2;
  }
  // Without multicast (NVLink SHARP). The GPUs of a host may be shared with other programs, and a
  // multicast object occupies a part of their common switches: one that is leaked or fails can take
  // GPUs out of service. gridsync does not use multicast either.
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  const int few = std::atoi(argv[1]), many = std::atoi(argv[2]);
  const peer::Sampling samples = peer::sampling(argv + 3);
  for (std::string line; std::getline(std::cin, line);) {
    const Group group(numbers(line));
    const auto short_graphs = group.capture(few), long_graphs = group.capture(many);
    // The first run of a graph may be slower.
    group.time_us(short_graphs);
    group.time_us(long_graphs);
    group.clear();
    const peer::Spread slope = samples.measure([&] {
      const double short_us = group.time_us(short_graphs);
      const double long_us = group.time_us(long_graphs);
      return (long_us - short_us) / (many - few);
    });
    group.expect_right(line);
    peer::answer(line, slope);
    group.destroy(short_graphs);
    group.destroy(long_graphs);
  }
  return 0;
}
