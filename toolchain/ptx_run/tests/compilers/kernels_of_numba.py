"""Kernels of numba-cuda, and their PTX for two targets. It needs no GPU, but libNVVM:

    pip install --no-deps numba-cuda==0.30.4 numba==0.68.1 llvmlite==0.50.0 numpy==2.4.6
    CUDA_HOME=FOLDER_WITH_NVVM python kernels_of_numba.py

writes `numba_NAME_sm_80.ptx` and `numba_NAME_sm_90.ptx` next to this file.
"""

import re
from pathlib import Path

from numba import cuda, float32, int32
from numba.cuda import compile_ptx


def total(x, out):
    tile = cuda.shared.array(128, int32)
    thread, index = cuda.threadIdx.x, cuda.grid(1)
    tile[thread] = x[index] if index < x.size else 0
    cuda.syncthreads()
    step = 64
    while step > 0:
        if thread < step:
            tile[thread] += tile[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        cuda.atomic.add(out, 0, tile[0])


def count(x, out):
    """A histogram."""
    index = cuda.grid(1)
    if index < x.size:
        cuda.atomic.add(out, x[index] % out.size, 1)


def largest(x, out):
    """The largest float, which numba finds with a loop of comparisons and swaps."""
    index = cuda.grid(1)
    if index < x.size:
        cuda.atomic.max(out, 0, x[index])


def scale(x, out, factor):
    index = cuda.grid(1)
    if index < x.size:
        out[index] = x[index] ** 2 / factor + 0.5


INTEGERS, FLOATS = int32[::1], float32[::1]
KERNELS = [
    (total, (INTEGERS, INTEGERS)),
    (count, (INTEGERS, INTEGERS)),
    (largest, (FLOATS, FLOATS)),
    (scale, (FLOATS, FLOATS, float32)),
]

for kernel, signature in KERNELS:
    for capability in ((8, 0), (9, 0)):
        ptx, _ = compile_ptx(kernel, signature, cc=capability, fastmath=False)
        name = f"numba_{kernel.__name__}_sm_{capability[0]}{capability[1]}.ptx"
        Path(__file__).with_name(name).write_text(ptx.rstrip("\0\n ") + "\n")
