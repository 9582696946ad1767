// A bulk copy with a barrier in shared memory, and the shared memory of another block of the cluster.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

// Clusters of two blocks of 64 threads. Each block copies 64 numbers, and each thread writes the number
// that the thread of the other block has copied, plus the blocks of the cluster.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    __shared__ int word[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    cg::cluster_group cluster = cg::this_cluster();
    const int me = threadIdx.x;
    if (me == 0) {
        init(&bar, blockDim.x);
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
    barrier::arrival_token token;
    if (me == 0) {
        cuda::device::memcpy_async_tx(tile, in + 64 * blockIdx.x, cuda::aligned_size_t<16>(256), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, 256);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    word[me] = tile[63 - me];
    cluster.sync();
    const int *other = cluster.map_shared_rank(word, cluster.block_rank() ^ 1);
    out[64 * blockIdx.x + me] = other[me] + (int)cluster.num_blocks();
    cluster.sync();
}
