// A grid that starts before the previous one has ended, and reads what that one writes
// (NVIDIA/cccl#5297).

/// Writes 7 into each word, after it has let the next grid start.
__global__ void write(unsigned *words)
{
    cudaTriggerProgrammaticLaunchCompletion();
    words[blockIdx.x] = 7; // write
}

/// Adds up neighbours. FIXED waits for the previous grid before the reads.
__global__ void add_neighbours(const unsigned *words, unsigned *sums)
{
#ifdef FIXED
    cudaGridDependencySynchronize();
#endif
    unsigned low = words[blockIdx.x]; // read
    unsigned high = words[blockIdx.x + 1]; // read
#ifndef FIXED
    cudaGridDependencySynchronize();
#endif
    sums[blockIdx.x] = low + high;
}
