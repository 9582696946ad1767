"""The public functions of whole arrays: distinct elements, searches, histograms, segments, selections."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Literal, cast

from ._along import max, min
from ._arguments import (
    CountsAndEdges,
    Unique,
    ValuesAndCounts,
    ValuesAndIndices,
    ValuesAndInverse,
    accepted,
    same,
)
from ._frameworks import Array, Framework
from ._types import EVERY, SIGNED, UNSIGNED, expect, wide


def unique_values(x: Array, /) -> Array:
    """The distinct elements of the flattened array, in ascending order. Each NaN is distinct."""
    return unique_counts(x).values


def unique_counts(x: Array, /) -> ValuesAndCounts:
    """The distinct elements of the flattened array, in ascending order, and how often each occurs."""
    f, x = accepted("unique_counts", x)
    return ValuesAndCounts(*f.call("unique", x.reshape(-1)))


def unique_inverse(x: Array, /) -> ValuesAndInverse:
    """The distinct elements of the flattened array, in ascending order, and where each element is in them.

    These indices have the shape of the array.
    """
    found = unique_all(x)
    return ValuesAndInverse(found.values, found.inverse_indices)


def unique_all(x: Array, /) -> Unique:
    """The distinct elements of the flattened array, in ascending order, with indices and counts.

    For each distinct element, the index of the first one that is equal to it, and the number of these. For
    each element of the array, in its shape, where it is in the distinct ones. Each NaN is distinct.
    """
    f, x = accepted("unique_all", x)
    flat = x.reshape(-1)
    order = f.call("argsort", flat, False)
    ordered = f.signed(f.gather(flat, order))
    is_new = f.full(flat, flat.shape, "bool", True)
    is_new[1:] = ordered[1:] != ordered[:-1]
    is_new = f.cast(is_new, "int32")
    inverse = f.empty(flat, flat.shape, "int64")
    inverse[order] = f.call("scan", is_new, "sum") - 1
    # Where the runs of equal elements begin.
    starts = f.call("select", is_new, 1, None)[1]
    ends = f.concat([starts, f.full(starts, (1,), "int64", flat.shape[0])])
    first = order[starts]
    return Unique(f.gather(flat, first), first, inverse.reshape(x.shape), ends[1:] - starts)


def searchsorted(
    x1: Array, x2: Array, /, *, side: Literal["left", "right"] = "left", sorter: Array | None = None
) -> Array:
    """The index in `x1`, of one dimension and in ascending order, before which each element of `x2` belongs.

    Before equal elements, or after them if `side` is right. `sorter` has the indices that sort `x1`. Both
    arrays have elements of one type. NaN is greater than all others.
    """
    f, x1 = accepted("searchsorted", x1)
    x2 = same(f, "values", x2)
    if f.dtype(x1) != f.dtype(x2):
        raise TypeError(f"elements of {f.dtype(x1)} and values of {f.dtype(x2)}: convert them to one type")
    if side not in ("left", "right"):
        raise ValueError(f"side {side} is not left or right")
    if x1.ndim != 1:
        raise ValueError(f"a sorted array of shape {tuple(x1.shape)}: pass one of one dimension")
    if sorter is not None:
        sorter = same(f, "indices", sorter)
        expect("a sorter", f.dtype(sorter), SIGNED | UNSIGNED)
        if sorter.shape != x1.shape:
            shapes = f"{tuple(x1.shape)} and {tuple(sorter.shape)}"
            raise ValueError(f"elements and a sorter of shapes {shapes}: pass an index for each element")
        x1 = f.gather(x1, f.cast(sorter, "int64"))
    return f.result(f.call("searchsorted", x1, x2, side == "right"))


def histogram(
    x: Array,
    /,
    bins: int | Sequence[float] = 10,
    *,
    range: tuple[float, float] | None = None,
    weights: Array | None = None,
) -> CountsAndEdges:
    """The number of elements in each bin, with the edges of NumPy: a number of bins, or their edges.

    With `weights` of float32 or float64, the sum of the weights of these elements, added in float64 in an
    order that depends on the elements only.
    """
    f, x = accepted("histogram", x)
    x = _counted_as(f, x.reshape(-1))
    if weights is not None:
        weights = f.contiguous(same(f, "weights", weights).reshape(-1))
    if not isinstance(bins, Integral):
        edges = [float(edge) for edge in cast(Sequence[float], bins)]
        return CountsAndEdges(*f.call("histogram", x, edges, False, weights))
    low, high = _range(f, x) if range is None else range
    return CountsAndEdges(*f.call("histogram", x, [float(low), float(high), float(bins)], True, weights))


def dot(x: Array, y: Array, /) -> Array:
    """The dot product of two arrays of one dimension. Products of floating point are added in float64."""
    f, x = accepted("dot", x)
    y = same(f, "y", y)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"arrays of shapes {tuple(x.shape)} and {tuple(y.shape)}: pass two of one length")
    dtype = wide(f.dtype(x))
    return f.result(f.call("dot", f.cast(x, dtype), f.cast(y, dtype)))


def segment_sum(x: Array, offsets: Array, /) -> Array:
    """The sum of each segment of an array of one dimension: from one offset up to the next."""
    f, x = accepted("segment_sum", x)
    offsets = same(f, "offsets", offsets)
    if x.ndim != 1 or offsets.ndim != 1 or offsets.shape[0] == 0:
        shapes = f"{tuple(x.shape)} and {tuple(offsets.shape)}"
        raise ValueError(f"elements and offsets of shapes {shapes}: pass two of one dimension, and an offset")
    return f.call("segment_sum", f.cast(x, wide(f.dtype(x))), f.cast(offsets, "int64"))


def scatter_sum(into: Array, indices: Array, values: Array, /) -> Array:
    """A copy of `into`, of one dimension, with each value added to the element at its index.

    Those of an index are added in their order, so the bits depend on the arrays only.
    """
    f, into = accepted(
        "scatter_sum", into, EVERY - {"bool", "int8", "int16", "uint8", "uint16", "float16", "bfloat16"}
    )
    indices, values = same(f, "indices", indices), same(f, "values", values)
    if into.ndim != 1 or tuple(indices.shape) != tuple(values.shape):
        shapes = ", ".join(str(tuple(each.shape)) for each in (into, indices, values))
        raise ValueError(f"arrays of shapes {shapes}: pass one of one dimension, and an index for each value")
    values = f.cast(values, f.dtype(into)).reshape(-1)
    return f.call("scatter_sum", into, f.cast(indices, "int64").reshape(-1), values)


def select(x: Array, /, low: float | None = None, high: float | None = None) -> ValuesAndIndices:
    """The elements of the flattened array from `low` to `high`, both included, and their indices."""
    f, x = accepted("select", x)
    dtype = f.dtype(x)
    found = f.call("select", f.cast(x.reshape(-1), wide(dtype)), low, high)
    return ValuesAndIndices(f.cast(found[0], dtype), found[1])


def _counted_as(f: Framework, x: Array) -> Array:
    return f.cast(x, "uint8") if f.dtype(x) == "bool" else x


def _range(f: Framework, x: Array) -> tuple[float, float]:
    """The range that NumPy chooses for a histogram."""
    if x.shape[0] == 0:
        return 0.0, 1.0
    low, high = float(min(x)), float(max(x))
    return (low - 0.5, high + 0.5) if low == high else (low, high)
