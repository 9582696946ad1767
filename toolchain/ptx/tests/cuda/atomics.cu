// Atomics, fences, and a flag.
__device__ unsigned int counter;
__device__ volatile int flag;
__device__ unsigned int *where = &counter;

__global__ void last_block(unsigned long long *sum, int *out, float *floats)
{
    atomicAdd(sum, 1ULL);
    atomicMax(out, (int)threadIdx.x);
    atomicAdd(floats, 0.5f);
    __threadfence();
    if (atomicInc(&counter, gridDim.x) == gridDim.x - 1)
        flag = atomicCAS(out + 1, 0, 1);
    while (flag == 0) {}
    __threadfence_system();
    *where = atomicExch_block(&counter, 0);
}
