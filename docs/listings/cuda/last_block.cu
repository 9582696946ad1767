/// How many blocks have written their sums.
__device__ unsigned arrived;

/// Each block writes the sum of its numbers. The block that arrives last adds them up.
__global__ void sum(const unsigned *numbers, unsigned *of_blocks, unsigned *total) {
    __shared__ unsigned of_block;
    if (threadIdx.x == 0) {
        of_block = 0;
    }
    __syncthreads();
    atomicAdd(&of_block, numbers[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        of_blocks[blockIdx.x] = of_block;
#ifdef FENCES
        __threadfence();
#endif
        unsigned before = atomicAdd(&arrived, 1);
#ifdef FENCES
        __threadfence();
#endif
        if (before == gridDim.x - 1) {
            unsigned all = 0;
            for (unsigned block = 0; block < gridDim.x; ++block) {
                all += of_blocks[block];
            }
            *total = all;
        }
    }
}
