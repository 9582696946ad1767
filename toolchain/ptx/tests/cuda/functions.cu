// Device functions, called by name and by address, a table of jumps, constants, and printf.
#include <cstdio>

__constant__ double factors[3] = {1.0, 0.5, -2.0};

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
typedef int (*Function)(int, int);
__device__ Function functions[2] = {add, multiply};

struct Pair { int a; double b; };

__device__ __noinline__ Pair swap(Pair pair) { return Pair{(int)pair.b, (double)pair.a}; }

__global__ void call(int *out, int which, Pair pair)
{
    out[0] = functions[which & 1](out[1], out[2]);
    Pair swapped = swap(pair);
    switch (which) {
    case 0: out[3] = swapped.a; break;
    case 1: out[4] = add(out[3], 1); break;
    case 2: out[5] = swapped.b * factors[which]; break;
    case 3: out[6] = __popc(out[0]); break;
    case 4: printf("%d %f\n", which, pair.b); break;
    case 5: __trap();
    }
}
