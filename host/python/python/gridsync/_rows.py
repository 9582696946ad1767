"""The functions over the last axis: they make the outputs, and the compiled ones fill them.

The first argument is the library of the arrays. All are pure. Outputs are contiguous, except that a scan
leaves the elements where those of the argument are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from . import _native
from ._types import full, real, scanned, summed, wide

if TYPE_CHECKING:
    from ._frameworks import Array, Framework

_IDENTITIES = {
    "sum": 0,
    "prod": 1,
    "any": 0,
    "all": 1,
    "sum_squares": 0,
    "logsumexp": -math.inf,
    "mean": math.nan,
    "var": math.nan,
    "std": math.nan,
}

_RESULTS: dict[str, Callable[[str], str]] = {
    "sum": summed,
    "prod": summed,
    "max": str,
    "min": str,
    "argmax": lambda _: "int64",
    "argmin": lambda _: "int64",
    "any": lambda _: "bool",
    "all": lambda _: "bool",
}


def reduced(op: str, dtype: str) -> str:
    """The type of the results of a reduction."""
    return _RESULTS.get(op, real)(dtype)


def reduce(f: Framework, x: Array, op: str, correction: int = 0) -> Array:
    """Each row reduced to one number."""
    dtype = reduced(op, f.dtype(x))
    if x.shape[-1] == 0:
        return f.full(x, x.shape[:-1], dtype, _IDENTITIES[op])
    if op in ("any", "all") and f.is_on_gpu(x):
        # No kernels have these.
        numbers = f.cast(f.cast(x, "bool"), "int32")
        return f.cast(reduce(f, numbers, "max" if op == "any" else "min"), dtype)
    out = f.empty(x, x.shape[:-1], dtype)
    laid_out, axis = f.laid_out(x)
    f.run(_native.reduce, op, laid_out, axis, correction, out, f.stream(x))
    return out


def scan(f: Framework, x: Array, op: str) -> Array:
    """Each element combined with all before it in its row. Floats of 16 bits become float32."""
    x = f.cast(x, full(f.dtype(x)))
    laid_out, axis = f.laid_out(x)
    out = f.empty(x, laid_out.shape, scanned(op, f.dtype(x)))
    f.run(_native.scan, op, laid_out, axis, out, f.stream(x))
    return f.move_last(out, (axis,))


def softmax(f: Framework, x: Array) -> Array:
    """The softmax of each row."""
    out = f.empty(x, x.shape, f.dtype(x))
    f.run(_native.softmax, f.contiguous(x), out, f.stream(x))
    return out


def sort(f: Framework, x: Array, descending: bool) -> Array:
    """Each row sorted."""
    out = f.empty(x, x.shape, f.dtype(x))
    f.run(_native.sort, f.contiguous(x), descending, out, f.stream(x))
    return out


def argsort(f: Framework, x: Array, descending: bool) -> Array:
    """The indices that sort each row."""
    out = f.empty(x, x.shape, "int64")
    f.run(_native.argsort, f.contiguous(x), descending, out, f.stream(x))
    return out


def topk(f: Framework, x: Array, k: int, largest: bool) -> tuple[Array, Array]:
    """The first elements of each row in order, and their indices."""
    shape = (*x.shape[:-1], k)
    values, indices = f.empty(x, shape, f.dtype(x)), f.empty(x, shape, "int64")
    f.run(_native.top_k, f.contiguous(x), k, largest, values, indices, f.stream(x))
    return values, indices


def kth_value(f: Framework, x: Array, k: int) -> tuple[Array, Array]:
    """The element of rank `k`, from 0, of each row, and its index."""
    values, indices = f.empty(x, x.shape[:-1], f.dtype(x)), f.empty(x, x.shape[:-1], "int64")
    f.run(_native.kth, f.contiguous(x), k, values, indices, f.stream(x))
    return values, indices


def quantile(f: Framework, x: Array, q: Sequence[float], method: str) -> Array:
    """The quantiles of each row, along a new last axis."""
    out = f.empty(x, (*x.shape[:-1], len(q)), "float64")
    f.run(_native.quantile, f.contiguous(x), list(q), method, out, f.stream(x))
    return out


def dot(f: Framework, x: Array, y: Array) -> Array:
    """The dot product of two arrays of one dimension."""
    out = f.empty(x, (), summed(f.dtype(x)))
    f.run(_native.dot, f.contiguous(x), f.contiguous(y), out, f.stream(x))
    return out


def segment_sum(f: Framework, x: Array, offsets: Array) -> Array:
    """The sum of each segment. Floats of 16 bits are added as float32."""
    dtype, x = summed(f.dtype(x)), f.cast(x, full(f.dtype(x)))
    out = f.empty(x, (offsets.shape[0] - 1,), summed(f.dtype(x)))
    f.run(_native.segment_sum, f.contiguous(x), f.contiguous(offsets), out, f.stream(x))
    return f.cast(out, dtype)


def scatter_sum(f: Framework, into: Array, indices: Array, values: Array) -> Array:
    """A copy of `into`, with values added at indices."""
    dtype = f.dtype(into)
    if dtype in ("int32", "uint32") and f.is_on_gpu(into):
        # Its kernels add integers in 64 bits, of which the lower half is the sum in 32.
        into, values = (f.cast(each, summed(dtype)) for each in (into, values))
    out = f.copy(into)
    f.run(_native.scatter_sum, f.contiguous(indices), f.contiguous(values), out, f.stream(into))
    return f.cast(out, dtype)


def histogram(
    f: Framework, x: Array, bins: Sequence[float], is_even: bool, weights: Array | None
) -> tuple[Array, Array]:
    """The number or weight of the elements in bins, and their edges.

    Bins are between the edges `bins`, or even ones: the first edge, the last, and the number of bins.
    """
    count = int(bins[2]) if is_even else len(bins) - 1
    out = f.empty(x, (count,), "int64" if weights is None else "float64")
    edges = f.empty(x, (count + 1,), "float64")
    wanted = (bins[0], bins[1], count) if is_even else list(bins)
    f.run(_native.histogram, f.contiguous(x), wanted, weights, out, edges, f.stream(x))
    return out, edges


def unique(f: Framework, x: Array) -> tuple[Array, Array]:
    """The distinct elements, and how often each occurs."""
    dtype = f.dtype(x)
    if f.is_on_gpu(x):
        x = f.cast(x, wide(dtype))
    values, counts = f.empty(x, x.shape, f.dtype(x)), f.empty(x, x.shape, "int64")
    found = f.run(_native.unique, f.contiguous(x), values, counts, f.stream(x))
    return f.cast(f.first(values, found), dtype), f.first(counts, found)


def searchsorted(f: Framework, x1: Array, x2: Array, right: bool) -> Array:
    """The index in a sorted array of one dimension of each element of another."""
    dtype = full(f.dtype(x1))
    x1, x2 = (f.contiguous(f.cast(each, dtype)) for each in (x1, x2))
    out = f.empty(x2, x2.shape, "int64")
    f.run(_native.searchsorted, x1, x2, right, out, f.stream(x1))
    return out


def select(f: Framework, x: Array, low: float | None, high: float | None) -> tuple[Array, Array]:
    """The elements from `low` to `high`, and their indices."""
    values, indices = f.empty(x, x.shape, f.dtype(x)), f.empty(x, x.shape, "int64")
    found = f.run(_native.select, f.contiguous(x), low, high, values, indices, f.stream(x))
    return f.first(values, found), f.first(indices, found)
