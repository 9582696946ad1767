// Asynchronous copies, a barrier in shared memory, and the barrier of the grid.

#include <cooperative_groups.h>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// Two blocks of 64 threads. Each thread writes the sum of four numbers: two that its block has copied,
// and two that other threads have written before a barrier.
extern "C" __global__ void cooperative(const int4 *in, int *out, int *sums) {
    __shared__ int4 tile[2][64];
    __shared__ int word;
    __shared__ __mbarrier_t barrier;
    cg::thread_block block = cg::this_thread_block();
    cg::grid_group grid = cg::this_grid();
    const int me = threadIdx.x;
    if (me == 0) {
        __mbarrier_init(&barrier, 64);
        word = 0;
    }
    block.sync();
    __pipeline_memcpy_async(&tile[0][me], &in[blockIdx.x * 128 + me], 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[1][me], &in[blockIdx.x * 128 + 64 + me], 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    atomicAdd_block(&word, 1);
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    out[grid.thread_rank()] = tile[0][63 - me].x + tile[1][63 - me].y + tile[1][63 - me].z;
    grid.sync();
    const int other = (grid.thread_rank() + 64) % 128;
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    sums[grid.thread_rank()] = out[other] + word + warp.shfl_down(me, 0) - me;
}
