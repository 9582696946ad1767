// The peer of gridsync's chains of kernels, launched by CUDA C++: each node adds 1 to the number of
// the previous node.
//
//   nvcc -O3 -std=c++17 -arch=native -rdc=true -lcudadevrt dag_chain.cu -o dag_chain
//   echo "one-stream 100" | ./dag_chain AT_LEAST AT_MOST UNCERTAINTY
//
// A line contains a method and the number of nodes. The answer is µs of the whole chain.

#include <iostream>
#include <vector>

#include "peer.cuh"

// The work of a gridsync node: combines its array of one number with those of its inputs.
__device__ void node(unsigned* arrays, const unsigned* inputs, int count, unsigned* out, unsigned value) {
  unsigned all = value;
  for (int k = 0; k < count; ++k) all += arrays[inputs[k]];
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = all;
}

__global__ void add(unsigned* arrays, const unsigned* inputs, int count, unsigned* out, unsigned value) {
  node(arrays, inputs, count, out, value);
}

__global__ void add_overlapping(unsigned* arrays, const unsigned* inputs, int count, unsigned* out,
                                unsigned value) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  node(arrays, inputs, count, out, value);
}

// Node `id` and all later ones, each launched by the previous one when that has ended.
__global__ void add_and_go_on(unsigned* arrays, const unsigned* inputs, int id, int nodes) {
  node(arrays, inputs + (id > 0 ? id - 1 : 0), id > 0, arrays + id, 1);
  if (threadIdx.x == 0 && id + 1 < nodes) {
    add_and_go_on<<<1, 32, 0, cudaStreamTailLaunch>>>(arrays, inputs, id + 1, nodes);
  }
}

// All nodes, launched by one thread into one stream of the device.
__global__ void launch_all(unsigned* arrays, const unsigned* inputs, int nodes) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (int id = 0; id < nodes; ++id) {
    add<<<1, 32, 0, stream>>>(arrays, inputs + (id > 0 ? id - 1 : 0), id > 0, arrays + id, 1);
  }
  cudaStreamDestroy(stream);
}

struct Chain {
  int nodes;
  unsigned *arrays, *inputs;
  cudaStream_t stream;

  explicit Chain(int nodes) : nodes(nodes) {
    std::vector<unsigned> before(nodes);
    for (int id = 0; id < nodes; ++id) before[id] = id;
    peer::check(cudaMalloc(&arrays, nodes * sizeof(unsigned)));
    peer::check(cudaMalloc(&inputs, nodes * sizeof(unsigned)));
    peer::check(cudaMemcpy(inputs, before.data(), nodes * sizeof(unsigned), cudaMemcpyHostToDevice));
    peer::check(cudaStreamCreate(&stream));
    clear();
  }

  Chain(const Chain&) = delete;

  ~Chain() {
    peer::check(cudaFree(arrays));
    peer::check(cudaFree(inputs));
    peer::check(cudaStreamDestroy(stream));
  }

  void clear() { peer::check(cudaMemset(arrays, 0, nodes * sizeof(unsigned))); }

  void launch_each() const {
    for (int id = 0; id < nodes; ++id) {
      add<<<1, 32, 0, stream>>>(arrays, inputs + (id > 0 ? id - 1 : 0), id > 0, arrays + id, 1);
    }
    peer::check(cudaGetLastError());
  }

  void launch_overlapping() const {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {dim3(1), dim3(32), 0, stream, &attribute, 1};
    for (int id = 0; id < nodes; ++id) {
      const unsigned* before = inputs + (id > 0 ? id - 1 : 0);
      peer::check(cudaLaunchKernelEx(&config, add_overlapping, arrays, before, int(id > 0), arrays + id, 1u));
    }
  }

  void expect_right() const {
    std::vector<unsigned> found(nodes);
    peer::check(cudaMemcpy(found.data(), arrays, nodes * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (int id = 0; id < nodes; ++id) {
      if (found[id] != unsigned(id + 1)) peer::wrong("node " + std::to_string(id));
    }
  }
};

// A graph of the work that `put()` puts into the stream.
template <typename Put>
cudaGraphExec_t capture(cudaStream_t stream, Put put) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  peer::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  put();
  peer::check(cudaStreamEndCapture(stream, &graph));
  peer::check(cudaGraphInstantiate(&exec, graph, 0));
  peer::check(cudaGraphUpload(exec, stream));
  peer::check(cudaGraphDestroy(graph));
  return exec;
}

template <typename Work>
void measure(const std::string& line, const Chain& chain, const peer::Sampling& samples, Work work) {
  for (int i = 0; i < 20; ++i) work();
  const peer::Spread time = samples.measure([&] { return peer::time_us(chain.stream, work); });
  chain.expect_right();
  peer::answer(line, time);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "peer: usage: PEER AT_LEAST AT_MOST UNCERTAINTY < lines\n");
    return 2;
  }
  const peer::Sampling samples = peer::sampling(argv + 1);
  std::string way;
  int nodes;
  while (std::cin >> way >> nodes) {
    const std::string line = way + " " + std::to_string(nodes);
    const Chain chain(nodes);
    const auto each = [&] { chain.launch_each(); };
    const auto overlapping = [&] { chain.launch_overlapping(); };
    const auto measure_graph = [&](cudaGraphExec_t exec) {
      measure(line, chain, samples, [&] { peer::check(cudaGraphLaunch(exec, chain.stream)); });
      peer::check(cudaGraphExecDestroy(exec));
    };
    if (way == "one-stream") {
      measure(line, chain, samples, each);
    } else if (way == "overlapping") {
      measure(line, chain, samples, overlapping);
    } else if (way == "graph") {
      measure_graph(capture(chain.stream, each));
    } else if (way == "overlapping-graph") {
      measure_graph(capture(chain.stream, overlapping));
    } else if (way == "device-stream") {
      // By default, further launches would wait for space.
      peer::check(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, nodes + 16));
      measure(line, chain, samples, [&] {
        launch_all<<<1, 1, 0, chain.stream>>>(chain.arrays, chain.inputs, chain.nodes);
        peer::check(cudaGetLastError());
      });
    } else if (way == "device-tail") {
      measure(line, chain, samples, [&] {
        add_and_go_on<<<1, 32, 0, chain.stream>>>(chain.arrays, chain.inputs, 0, chain.nodes);
        peer::check(cudaGetLastError());
      });
    }
  }
  return 0;
}
