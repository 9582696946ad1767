// Two GPUs exchange a word, in a graph that is replayed (ROCm/aiter#3928).

__device__ void store_release(unsigned *to, unsigned value)
{
    asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}

__device__ unsigned load_acquire(const unsigned *from)
{
    unsigned value;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

/// Sends a value into the peer's inbox, and waits for the peer's value. A graph records its
/// arguments, so `recorded` is the same round in each replay, and only the first one waits. FIXED
/// counts the rounds in memory.
__global__ void exchange(unsigned *inbox, unsigned *of_peer, unsigned *flag, unsigned *flag_of_peer,
                         unsigned *rounds, unsigned recorded, unsigned value, unsigned *received)
{
#ifdef FIXED
    unsigned round = *rounds + 1;
    *rounds = round;
#else
    unsigned round = recorded;
#endif
    // Two words take turns, so that a fast peer does not overwrite a value before it is read.
    of_peer[round % 2] = value; // write
    store_release(flag_of_peer, round);
    while (load_acquire(flag) < round) {
    }
    *received = inbox[round % 2]; // read
}
