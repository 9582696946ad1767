// Loads, stores and atomics with an order and a scope, as of cuda::atomic_ref.
#pragma once
typedef unsigned int u32;

#define LOAD(name, order)                                                                          \
    __device__ __forceinline__ u32 name(const u32 *from)                                           \
    {                                                                                              \
        u32 value;                                                                                 \
        asm volatile("ld." order ".u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");           \
        return value;                                                                              \
    }
#define STORE(name, order)                                                                         \
    __device__ __forceinline__ void name(u32 *to, u32 value)                                       \
    {                                                                                              \
        asm volatile("st." order ".u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");             \
    }
#define ADD(name, order)                                                                           \
    __device__ __forceinline__ u32 name(u32 *to, u32 value)                                        \
    {                                                                                              \
        u32 old;                                                                                   \
        asm volatile("atom." order ".add.u32 %0, [%1], %2;"                                        \
                     : "=r"(old) : "l"(to), "r"(value) : "memory");                                \
        return old;                                                                                \
    }

LOAD(load_acquire, "acquire.gpu")
LOAD(load_acquire_block, "acquire.cta")
LOAD(load_relaxed, "relaxed.gpu")
STORE(store_release, "release.gpu")
STORE(store_release_block, "release.cta")
STORE(store_relaxed, "relaxed.gpu")
ADD(add_acq_rel, "acq_rel.gpu")
ADD(add_release, "release.gpu")
