// Halves, roundings, approximations and bits, through the headers of CUDA.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void halves(__half2 *h, __nv_bfloat162 *b, __half2 *sum, float *f, double *d,
                                  unsigned *u) {
    int i = threadIdx.x;
    h[i] = __hfma2(h[i], h[i], __hmax2(h[i], __float2half2_rn(0.5f)));
    b[i] = __hfma2_relu(b[i], b[i], b[i]);
    atomicAdd(sum, h[i]);
    float x = f[i];
    f[i] = __expf(x) + __fdividef(x, 3.0f) + __fadd_rz(x, 1e-9f) + __frcp_ru(x + 2.0f)
        + rsqrtf(x + 1.0f) + __sinf(x);
    d[i] = __dadd_rd(d[i], 1e-30) + exp(d[i]) * sqrt(d[i] + 1.0);
    unsigned dot;  // `__dp4a` does not compile with -G.
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(dot) : "r"(u[i]), "r"(0x01020304), "r"(5));
    u[i] = dot + __umul24(u[i], 7u) + __fns(u[i], 0, 2)
        + __byte_perm(u[i], i, 0x5140);
}
