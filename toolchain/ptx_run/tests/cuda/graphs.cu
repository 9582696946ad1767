// Irregular kernels on a graph of six nodes in CSR form. Node 0 is the hub of a star, and nodes 1 to 5
// are also in a ring.
#include "atomics.cuh"
#define VOLATILE(words) ((volatile u32 *)(words))
#define NODE (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" {

// Push: each node adds its number to all its neighbours.
__global__ void push(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            atomicAdd(&out[list[i]], v);
}

// Threads work on edges, and search for the node that each belongs to.
__global__ void push_by_edges(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    for (u32 i = NODE, v = 0; i < index[nodes]; i += gridDim.x * blockDim.x) {
        while (index[v + 1] <= i)
            ++v;
        atomicAdd(&out[list[i]], v);
    }
}

// Each block adds to its own copy, and then all copies to the result.
__global__ void push_by_copies(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    __shared__ u32 copy[8];
    copy[threadIdx.x] = copy[threadIdx.x + 4] = 0;
    __syncthreads();
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            atomicAdd_block(&copy[list[i]], v);
    __syncthreads();
    for (u32 i = threadIdx.x; i < nodes; i += blockDim.x)
        atomicAdd(&out[i], copy[i]);
}

__global__ void pull_by_warp(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    for (u32 v = blockIdx.x; v < nodes; v += gridDim.x) {
        u32 sum = 0;
        for (u32 i = index[v] + threadIdx.x; i < index[v + 1]; i += blockDim.x)
            sum += list[i];
        sum += __shfl_xor_sync(0xf, sum, 2);
        sum += __shfl_xor_sync(0xf, sum, 1);
        if (threadIdx.x == 0)
            out[v] = sum;
    }
}

__global__ void push_plain(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            out[list[i]] += v; // race
}

__global__ void push_of_block_scope(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    // cause: block scope does not reach the other thread
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            atomicAdd_block(&out[list[i]], v); // race
}

__global__ void push_no_guard(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    for (u32 i = index[v]; i < index[v + 1]; ++i) // out of bounds
        atomicAdd(&out[list[i]], v);
}

__global__ void push_guard_too_late(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v <= nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i) // out of bounds
            atomicAdd(&out[list[i]], v);
}

__global__ void push_one_edge_too_many(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i <= index[v + 1]; ++i)
            atomicAdd(&out[list[i]], v); // out of bounds
}

// Pull: each node sums the numbers of its neighbours.
__global__ void pull(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE, sum = 0;
    if (v < nodes) {
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            sum += list[i];
        out[v] = sum;
    }
}

// Each block works on every other node, and its threads on the edges.
__global__ void pull_by_block(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    __shared__ u32 sum;
    for (u32 v = blockIdx.x; v < nodes; v += gridDim.x) {
        if (threadIdx.x == 0)
            sum = 0;
        __syncthreads();
        for (u32 i = index[v] + threadIdx.x; i < index[v + 1]; i += blockDim.x)
            atomicAdd_block(&sum, list[i]);
        __syncthreads();
        if (threadIdx.x == 0)
            out[v] = sum;
    }
}

__global__ void pull_by_block_no_first_barrier(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    __shared__ u32 sum;
    for (u32 v = blockIdx.x; v < nodes; v += gridDim.x) {
        if (threadIdx.x == 0)
            sum = 0; // race
        for (u32 i = index[v] + threadIdx.x; i < index[v + 1]; i += blockDim.x)
            atomicAdd_block(&sum, list[i]); // race
        __syncthreads();
        if (threadIdx.x == 0)
            out[v] = sum; // race
    }
}

__global__ void pull_by_block_no_second_barrier(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    __shared__ u32 sum;
    for (u32 v = blockIdx.x; v < nodes; v += gridDim.x) {
        if (threadIdx.x == 0)
            sum = 0; // race
        __syncthreads();
        for (u32 i = index[v] + threadIdx.x; i < index[v + 1]; i += blockDim.x)
            atomicAdd_block(&sum, list[i]); // race
        if (threadIdx.x == 0)
            out[v] = sum; // race
    }
}

__global__ void pull_by_block_plain(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    __shared__ u32 sum;
    for (u32 v = blockIdx.x; v < nodes; v += gridDim.x) {
        if (threadIdx.x == 0)
            sum = 0;
        __syncthreads();
        for (u32 i = index[v] + threadIdx.x; i < index[v + 1]; i += blockDim.x)
            sum += list[i]; // race
        __syncthreads();
        if (threadIdx.x == 0)
            out[v] = sum;
    }
}

// A maximum, which a look at the old value can save.
__global__ void push_max(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            atomicMax(&out[list[i]], v);
}

__global__ void push_max_volatile_look(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            if (VOLATILE(out)[list[i]] < v)
                atomicMax(&out[list[i]], v);
}

__global__ void push_max_by_swaps(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i) {
            u32 seen = load_relaxed(&out[list[i]]), old;
            while (seen < v && (old = atomicCAS(&out[list[i]], seen, v)) != seen)
                seen = old;
        }
}

__global__ void pull_max(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE, most = 0;
    if (v < nodes) {
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            most = max(most, list[i]);
        out[v] = most;
    }
}

__global__ void push_max_plain_look(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            if (out[list[i]] < v)            // race
                atomicMax(&out[list[i]], v); // race
}

__global__ void push_max_plain(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            if (out[list[i]] < v)  // race
                out[list[i]] = v;  // race
}

__global__ void push_max_look_and_store(u32 *out, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            if (VOLATILE(out)[list[i]] < v)
                VOLATILE(out)[list[i]] = v;
}

// One level of a search: neighbours of the odd nodes, which are of level 0, get level 1 if they have
// none yet, 9. Those are counted in the word after the levels.
__global__ void search_level(u32 *level, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes && v % 2 == 1)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            if (atomicCAS(&level[list[i]], 9, 1) == 9)
                atomicAdd(&level[nodes], 1);
}

__global__ void search_level_looks(u32 *level, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes && v % 2 == 1)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            if (VOLATILE(level)[list[i]] == 9 && atomicExch(&level[list[i]], 1) == 9)
                atomicAdd(&level[nodes], 1);
}

// Each node looks for a neighbour of level 0.
__global__ void search_level_pulls(u32 *level, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes && v % 2 == 0)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            if (list[i] % 2 == 1) {
                level[v] = 1;
                atomicAdd(&level[nodes], 1);
                break;
            }
}

__global__ void search_level_plain(u32 *level, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes && v % 2 == 1)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            if (level[list[i]] == 9) {  // race
                level[list[i]] = 1;     // race
                atomicAdd(&level[nodes], 1);
            }
}

__global__ void search_level_twice(u32 *level, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes && v % 2 == 1)
        for (u32 i = index[v]; i < index[v + 1]; ++i)
            if (VOLATILE(level)[list[i]] == 9) {
                VOLATILE(level)[list[i]] = 1;
                atomicAdd(&level[nodes], 1);
            }
}

// Labels of components: until nothing changes, each node passes its label on if it is smaller.
__global__ void components(u32 *label, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = threadIdx.x;
    for (bool again = true; again;) {
        bool changed = false;
        if (v < nodes)
            for (u32 i = index[v]; i < index[v + 1]; ++i) {
                u32 mine = atomicAdd(&label[v], 0);
                changed |= atomicMin(&label[list[i]], mine) > mine;
            }
        again = __syncthreads_or(changed);
    }
}

__global__ void components_flag(u32 *label, const u32 *index, const u32 *list, u32 nodes)
{
    __shared__ u32 changed;
    u32 v = threadIdx.x;
    do {
        __syncthreads();
        if (v == 0)
            changed = 0;
        __syncthreads();
        if (v < nodes)
            for (u32 i = index[v]; i < index[v + 1]; ++i) {
                u32 mine = atomicAdd(&label[v], 0);
                if (atomicMin(&label[list[i]], mine) > mine)
                    atomicExch(&changed, 1);
            }
        __syncthreads();
    } while (changed != 0);
}

// The flag is volatile: all who set it write the same.
__global__ void components_flag_volatile(u32 *label, const u32 *index, const u32 *list, u32 nodes)
{
    __shared__ u32 changed;
    u32 v = threadIdx.x;
    do {
        __syncthreads();
        if (v == 0)
            changed = 0;
        __syncthreads();
        if (v < nodes)
            for (u32 i = index[v]; i < index[v + 1]; ++i) {
                u32 mine = VOLATILE(label)[v];
                if (atomicMin(&label[list[i]], mine) > mine)
                    VOLATILE(&changed)[0] = 1;
            }
        __syncthreads();
    } while (changed != 0);
}

__global__ void components_flag_plain(u32 *label, const u32 *index, const u32 *list, u32 nodes)
{
    __shared__ u32 changed;
    u32 v = threadIdx.x;
    do {
        __syncthreads();
        if (v == 0)
            changed = 0;
        __syncthreads();
        if (v < nodes)
            for (u32 i = index[v]; i < index[v + 1]; ++i) {
                u32 mine = atomicAdd(&label[v], 0);
                if (atomicMin(&label[list[i]], mine) > mine)
                    changed = 1; // race
            }
        __syncthreads();
    } while (changed != 0);
}

__global__ void components_flag_cleared_early(u32 *label, const u32 *index, const u32 *list, u32 nodes)
{
    __shared__ u32 changed;
    u32 v = threadIdx.x;
    do {
        if (v == 0)
            changed = 0; // race
        __syncthreads();
        if (v < nodes)
            for (u32 i = index[v]; i < index[v + 1]; ++i) {
                u32 mine = atomicAdd(&label[v], 0);
                if (atomicMin(&label[list[i]], mine) > mine)
                    atomicExch(&changed, 1);
            }
        __syncthreads();
    } while (changed != 0); // race
}

__global__ void components_plain_label(u32 *label, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = threadIdx.x;
    for (bool again = true; again;) {
        bool changed = false;
        if (v < nodes)
            for (u32 i = index[v]; i < index[v + 1]; ++i) {
                u32 mine = label[v];                                   // race
                changed |= atomicMin(&label[list[i]], mine) > mine;    // race
            }
        again = __syncthreads_or(changed);
    }
}

// Nodes with more than three neighbours are put into a list, after its length.
__global__ void worklist(u32 *work, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes && index[v + 1] - index[v] > 3)
        work[1 + atomicAdd(&work[0], 1)] = v;
}

__global__ void worklist_no_room(u32 *work, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE;
    if (v < nodes && index[v + 1] - index[v] > 1)
        work[1 + atomicAdd(&work[0], 1)] = v; // out of bounds
}

__global__ void worklist_by_ballot(u32 *work, const u32 *index, const u32 *list, u32 nodes)
{
    u32 v = NODE, lane = threadIdx.x % 32;
    bool is_hub = v < nodes && index[v + 1] - index[v] > 3;
    u32 mask = __ballot_sync(0xffffffff, is_hub), first = 0;
    if (lane == 0 && mask != 0)
        first = atomicAdd(&work[0], __popc(mask));
    first = __shfl_sync(0xffffffff, first, 0);
    if (is_hub)
        work[1 + first + __popc(mask & ((1u << lane) - 1))] = v;
}

} // extern "C"
