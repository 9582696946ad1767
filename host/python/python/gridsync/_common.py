"""The most common calls in less time: one compiled function, without moving an axis or converting types.

They are those for a plain tensor on the current GPU, in row-major order, along its last axis. Each function
returns `None` for other calls. The functions of `_rows` have the same results.
"""

from __future__ import annotations

from . import _native, _rows
from ._frameworks import Array, Framework
from ._types import full, scanned, wide


def scan(f: Framework, x: Array, axis: int | None, op: str) -> Array | None:
    """Each element combined with all before it in its row."""
    dtype = f.dtype(x)
    stream = f.common(x, axis) if full(dtype) == dtype else None
    if stream is None:
        return None
    result = scanned(op, dtype)
    out = f.empty_like(x) if result == dtype else f.empty(x, x.shape, result)
    _native.scan(op, x, x.ndim - 1, out, stream)
    return out


def reduce(f: Framework, x: Array, axis: object, op: str, correction: int) -> Array | None:
    """Each row reduced to one number."""
    dtype = f.dtype(x)
    if wide(dtype) != dtype or op in ("any", "all") or (op in ("var", "std") and full(dtype) != dtype):
        return None
    stream = f.common(x, axis)
    if stream is None:
        return None
    out = f.empty(x, x.shape[:-1], _rows.reduced(op, dtype))
    _native.reduce(op, x, x.ndim - 1, correction, out, stream)
    return out


def softmax(f: Framework, x: Array, axis: int) -> Array | None:
    """The softmax of each row."""
    stream = f.common(x, axis)
    if stream is None:
        return None
    out = f.empty_like(x)
    _native.softmax(x, out, stream)
    return out


def sort(f: Framework, x: Array, axis: int, descending: bool) -> Array | None:
    """Each row sorted."""
    stream = f.common(x, axis)
    if stream is None:
        return None
    out = f.empty_like(x)
    _native.sort(x, descending, out, stream)
    return out


def argsort(f: Framework, x: Array, axis: int, descending: bool) -> Array | None:
    """The indices that sort each row."""
    stream = f.common(x, axis)
    if stream is None:
        return None
    out = f.empty(x, x.shape, "int64")
    _native.argsort(x, descending, out, stream)
    return out


def topk(f: Framework, x: Array, axis: int, k: int, largest: bool) -> tuple[Array, Array] | None:
    """The first elements of each row in order, and their indices."""
    stream = f.common(x, axis)
    if stream is None:
        return None
    shape = (*x.shape[:-1], k)
    values, indices = f.empty(x, shape, f.dtype(x)), f.empty(x, shape, "int64")
    _native.top_k(x, k, largest, values, indices, stream)
    return values, indices
