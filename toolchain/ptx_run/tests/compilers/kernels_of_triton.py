"""Kernels of Triton, and their PTX for two targets. It needs no GPU:

    pip install --no-deps triton==3.9.0
    python kernels_of_triton.py

writes `triton_NAME_sm_80.ptx` and `triton_NAME_sm_90.ptx` next to this file.
"""

import re
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    total = tl.load(x + index, mask=inside) + tl.load(y + index, mask=inside)
    tl.store(out + index, total, mask=inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    index = tl.arange(0, BLOCK)
    values = tl.load(x + row + index, mask=index < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row + index, powers / tl.sum(powers, axis=0), mask=index < columns)


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + index, mask=index < n, other=0)
    tl.atomic_add(out, tl.sum(values, axis=0))


@triton.jit
def matmul(a, b, c, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    """A product of two matrices of SIZE by SIZE halves, in steps of DEPTH."""
    rows, columns, depth = tl.arange(0, SIZE), tl.arange(0, SIZE), tl.arange(0, DEPTH)
    result = tl.zeros((SIZE, SIZE), dtype=tl.float32)
    for start in range(0, SIZE, DEPTH):
        left = tl.load(a + rows[:, None] * SIZE + (start + depth)[None, :])
        right = tl.load(b + (start + depth)[:, None] * SIZE + columns[None, :])
        result = tl.dot(left, right, result)
    tl.store(c + rows[:, None] * SIZE + columns[None, :], result)


@triton.jit
def chain(x, flags, out, blocks, BLOCK: tl.constexpr):
    """Running totals: each program waits for the flag of the one before it."""
    program = tl.program_id(0)
    index = tl.arange(0, BLOCK)
    mine = tl.sum(tl.load(x + program * BLOCK + index), axis=0)
    before = 0
    if program > 0:
        while tl.atomic_add(flags + program - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(out + program - 1)
    tl.store(out + program, before + mine)
    tl.debug_barrier()
    tl.atomic_xchg(flags + program, 1, sem="release")


@triton.jit
def halves(x, y, out, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    left, right = tl.load(x + index, mask=inside), tl.load(y + index, mask=inside)
    tl.store(out + index, left * right + tl.maximum(left, right), mask=inside)


KERNELS = [
    (add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 256}),
    (softmax, {"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 128}),
    (total, {"x": "*i32", "out": "*i32", "n": "i32"}, {"BLOCK": 256}),
    (matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp32"}, {"SIZE": 64, "DEPTH": 32}),
    (chain, {"x": "*i32", "flags": "*i32", "out": "*i32", "blocks": "i32"}, {"BLOCK": 128}),
    (halves, {"x": "*fp16", "y": "*fp16", "out": "*fp16", "n": "i32"}, {"BLOCK": 256}),
]


def without_debug(ptx):
    """The PTX without its sections of debug information, and without paths of this machine."""
    ptx = re.sub(r"\n\t\.section\t\.debug.*?\n\t\}(?=\n|$)", "", ptx, flags=re.DOTALL)
    return re.sub(r'"[^"]*/(?=[^/"]*")', '"', ptx).rstrip() + "\n"


for kernel, signature, constants in KERNELS:
    for capability in (80, 90):
        types = signature | {name: "constexpr" for name in constants}
        # Arrays begin at multiples of 16 bytes, as those of frameworks do.
        pointers = [at for at, ty in enumerate(signature.values()) if ty.startswith("*")]
        aligned = {(at,): [["tt.divisibility", 16]] for at in pointers}
        source = ASTSource(kernel, types, constants, aligned)
        target = GPUTarget("cuda", capability, 32)
        compiled = triton.compile(source, target=target, options={"num_warps": 4, "num_stages": 1})
        name = f"triton_{kernel.__name__}_sm_{capability}.ptx"
        Path(__file__).with_name(name).write_text(without_debug(compiled.asm["ptx"]))
