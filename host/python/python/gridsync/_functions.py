"""The public functions: they move axes, convert types and refuse arguments, then call those over rows."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple, cast

from ._frameworks import Array, Framework, framework_of
from ._types import EVERY, FLOATS, expect, real, wide

Axis = int | Sequence[int] | None


class ValuesAndIndices(NamedTuple):
    """Elements, and where they are."""

    values: Array
    indices: Array


class ValuesAndCounts(NamedTuple):
    """Distinct elements, and how often each occurs."""

    values: Array
    counts: Array


class CountsAndEdges(NamedTuple):
    """The number or weight of the elements in each bin, and the edges of the bins."""

    counts: Array
    edges: Array


def sum(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The sum along axes. Integers are added in 64 bits. The bits of a row do not depend on other rows."""
    return _reduced("sum", x, axis, keepdims, dtype=dtype)


def prod(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The product along axes. Integers are multiplied in 64 bits."""
    return _reduced("prod", x, axis, keepdims, dtype=dtype)


def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The maximum along axes: NaN if an element is."""
    return _extreme("max", x, axis, keepdims)


def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The minimum along axes: NaN if an element is."""
    return _extreme("min", x, axis, keepdims)


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the first maximum along an axis, or in the flattened array."""
    return _extreme("argmax", x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the first minimum along an axis, or in the flattened array."""
    return _extreme("argmin", x, axis, keepdims)


def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The mean along axes. That of integers is a float64, rounded once."""
    return _reduced("mean", x, axis, keepdims)


def var(x: Array, /, *, axis: Axis = None, correction: int = 0, keepdims: bool = False) -> Array:
    """The variance along axes, with the divisor n − `correction`; NaN if that is not positive."""
    return _reduced("var", x, axis, keepdims, correction=correction)


def std(x: Array, /, *, axis: Axis = None, correction: int = 0, keepdims: bool = False) -> Array:
    """The standard deviation along axes: the root of the variance."""
    return _reduced("std", x, axis, keepdims, correction=correction)


def sum_squares(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The sum of squares along axes, added in float64."""
    return _reduced("sum_squares", x, axis, keepdims)


def logsumexp(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The logarithm of the sum of exponentials along axes."""
    return _reduced("logsumexp", x, axis, keepdims)


def any(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether any element along axes is not zero."""
    return _reduced("any", x, axis, keepdims)


def all(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether no element along axes is zero."""
    return _reduced("all", x, axis, keepdims)


def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Each element plus all before it along an axis; with `include_initial` after a zero."""
    return _scanned("sum", x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Each element times all before it along an axis; with `include_initial` after a one."""
    return _scanned("prod", x, axis, dtype, 1 if include_initial else None)


def cumulative_max(x: Array, /, *, axis: int | None = None) -> Array:
    """The maximum of each element and all before it along an axis."""
    return _scanned("max", x, axis)


def cumulative_min(x: Array, /, *, axis: int | None = None) -> Array:
    """The minimum of each element and all before it along an axis."""
    return _scanned("min", x, axis)


def softmax(x: Array, /, *, axis: int = -1) -> Array:
    """The softmax along an axis. The bits of a row do not depend on other rows."""
    f, x = _array("softmax", x, FLOATS)
    return _each(f, x, axis, lambda rows: f.call("softmax", rows))


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order along an axis. NaN is greater than all others. Always stable."""
    f, x = _array("sort", x)
    return _each(f, x, axis, lambda rows: f.call("sort", rows, descending))


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that sort along an axis. Always stable, also in descending order."""
    f, x = _array("argsort", x)
    return _each(f, x, axis, lambda rows: f.call("argsort", rows, descending))


def topk(x: Array, k: int, /, *, axis: int = -1, largest: bool = True) -> ValuesAndIndices:
    """The `k` largest or smallest elements along an axis, in order. Of equal ones the first comes first."""
    f, x = _array("topk", x)
    rows, axis = _rows(f, x, axis)
    if not 0 <= k <= rows.shape[-1]:
        raise ValueError(
            f"the first {k} of {rows.shape[-1]} elements do not exist: choose 0 to {rows.shape[-1]}"
        )
    return ValuesAndIndices(*(f.move_back(found, axis) for found in f.call("topk", rows, k, largest)))


def kth_value(x: Array, k: int, /, *, axis: int = -1, keepdims: bool = False) -> ValuesAndIndices:
    """The element of rank `k`, from 0, along an axis, and its index."""
    f, x = _array("kth_value", x)
    rows, axis = _rows(f, x, axis)
    if not 0 <= k < rows.shape[-1]:
        raise ValueError(f"there is no rank {k} in {rows.shape[-1]} elements: ranks count from 0")
    found = f.call("kth_value", rows, k)
    return ValuesAndIndices(*(_kept(f, each, x.ndim, (axis,), keepdims) for each in found))


def quantile(
    x: Array,
    q: float | Sequence[float],
    /,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """The quantiles `q`, from 0 to 1, along axes, by one of NumPy's methods. NaN if an element is.

    They are interpolated in float64, and have the type of the elements if that is floating point. If `q`
    is a sequence, they are along a new first axis.
    """
    f, x = _array("quantile", x)
    axes = _axes(axis, x.ndim)
    is_one = isinstance(q, Real)
    wanted = [float(each) for each in cast(Sequence[float], [q] if is_one else q)]
    found = f.cast(f.call("quantile", _flat(f, x, axes), wanted, method), real(f.dtype(x)))
    each = [_kept(f, found[..., at], x.ndim, axes, keepdims) for at in range(len(wanted))]
    return each[0] if is_one else f.library.stack(each)


def unique_values(x: Array, /) -> Array:
    """The distinct elements of the flattened array, in ascending order. Each NaN is distinct."""
    return unique_counts(x).values


def unique_counts(x: Array, /) -> ValuesAndCounts:
    """The distinct elements of the flattened array, in ascending order, and how often each occurs."""
    f, x = _array("unique_counts", x)
    return ValuesAndCounts(*f.call("unique", x.reshape(-1)))


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
    f, x = _array("histogram", x)
    x = _counted_as(f, x.reshape(-1))
    if weights is not None:
        weights = f.contiguous(_same(f, "weights", weights).reshape(-1))
    if not isinstance(bins, Integral):
        edges = [float(edge) for edge in cast(Sequence[float], bins)]
        return CountsAndEdges(*f.call("histogram", x, edges, False, weights))
    low, high = _range(f, x) if range is None else range
    return CountsAndEdges(*f.call("histogram", x, [float(low), float(high), float(bins)], True, weights))


def dot(x: Array, y: Array, /) -> Array:
    """The dot product of two arrays of one dimension. Products of floating point are added in float64."""
    f, x = _array("dot", x)
    y = _same(f, "y", y)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"arrays of shapes {tuple(x.shape)} and {tuple(y.shape)}: pass two of one length")
    dtype = wide(f.dtype(x))
    return f.result(f.call("dot", f.cast(x, dtype), f.cast(y, dtype)))


def segment_sum(x: Array, offsets: Array, /) -> Array:
    """The sum of each segment of an array of one dimension: from one offset up to the next."""
    f, x = _array("segment_sum", x)
    offsets = _same(f, "offsets", offsets)
    if x.ndim != 1 or offsets.ndim != 1 or offsets.shape[0] == 0:
        shapes = f"{tuple(x.shape)} and {tuple(offsets.shape)}"
        raise ValueError(f"elements and offsets of shapes {shapes}: pass two of one dimension, and an offset")
    return f.call("segment_sum", f.cast(x, wide(f.dtype(x))), f.cast(offsets, "int64"))


def scatter_sum(into: Array, indices: Array, values: Array, /) -> Array:
    """A copy of `into`, of one dimension, with each value added to the element at its index.

    Those of an index are added in their order, so the bits depend on the arrays only.
    """
    f, into = _array(
        "scatter_sum", into, EVERY - {"bool", "int8", "int16", "uint8", "uint16", "float16", "bfloat16"}
    )
    indices, values = _same(f, "indices", indices), _same(f, "values", values)
    if into.ndim != 1 or tuple(indices.shape) != tuple(values.shape):
        shapes = ", ".join(str(tuple(each.shape)) for each in (into, indices, values))
        raise ValueError(f"arrays of shapes {shapes}: pass one of one dimension, and an index for each value")
    values = f.cast(values, f.dtype(into)).reshape(-1)
    return f.call("scatter_sum", into, f.cast(indices, "int64").reshape(-1), values)


def select(x: Array, /, low: float | None = None, high: float | None = None) -> ValuesAndIndices:
    """The elements of the flattened array from `low` to `high`, both included, and their indices."""
    f, x = _array("select", x)
    dtype = f.dtype(x)
    found = f.call("select", f.cast(x.reshape(-1), wide(dtype)), low, high)
    return ValuesAndIndices(f.cast(found[0], dtype), found[1])


def _array(function: str, x: Array, accepted: frozenset[str] = EVERY) -> tuple[Framework, Array]:
    f = framework_of(x)
    x = f.prepared(x)
    expect(function, f.dtype(x), accepted)
    return f, x


def _same(f: Framework, name: str, x: Array) -> Array:
    other = framework_of(x)
    if other.library is not f.library:
        raise TypeError(f"{name} are of {other.library.__name__}, the elements of {f.library.__name__}")
    return f.prepared(x)


def _axis(axis: int, dimensions: int) -> int:
    axis = operator.index(axis)
    if not -dimensions <= axis < dimensions:
        raise ValueError(f"axis {axis} is not in an array of {dimensions} dimensions")
    return axis % dimensions


def _axes(axis: Axis, dimensions: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(dimensions))
    several = [axis] if isinstance(axis, Integral) else cast(Sequence[int], axis)
    axes = [_axis(cast(int, each), dimensions) for each in several]
    if len(set(axes)) < len(axes):
        raise ValueError(f"axes {tuple(axes)} contain one twice")
    return tuple(sorted(axes))


def _flat(f: Framework, x: Array, axes: tuple[int, ...]) -> Array:
    """The array with these axes as one, at the end."""
    x = f.move_last(x, axes)
    batch = x.shape[: x.ndim - len(axes)]
    return x.reshape((*batch, math.prod(x.shape[x.ndim - len(axes) :])))


def _kept(f: Framework, x: Array, dimensions: int, axes: tuple[int, ...], keepdims: bool) -> Array:
    if keepdims:
        left = iter(x.shape)
        x = x.reshape(tuple(1 if at in axes else next(left) for at in range(dimensions)))
    return f.result(x)


def _reduced(
    op: str, x: Array, axis: Axis, keepdims: bool, *, dtype: Any = None, correction: int = 0
) -> Array:
    f, x = _array(op, x, FLOATS if op == "logsumexp" else EVERY)
    axes = _axes(axis, x.ndim)
    given = f.dtype(x) if dtype is None else _name(dtype)
    if not isinstance(correction, Integral) or correction < 0:
        raise ValueError(f"correction {correction} is not an integer of 0 or more")
    x = f.cast(x, given)
    rows = _flat(f, x, axes)
    if op not in ("any", "all"):
        rows = f.cast(rows, wide(given))
    if op in ("var", "std") and given in ("float16", "bfloat16"):
        rows = f.cast(rows, "float32")
    found = f.call("reduce", rows, op, correction)
    if op in ("max", "min") or (dtype is not None and f.dtype(found) != given) or op in ("var", "std"):
        found = f.cast(found, real(given) if op in ("var", "std") else given)
    return _kept(f, found, x.ndim, axes, keepdims)


def _extreme(op: str, x: Array, axis: Axis, keepdims: bool) -> Array:
    if axis is not None and not isinstance(axis, Integral) and op.startswith("arg"):
        raise TypeError(f"{op} along the axes {axis}: choose one, or None")
    framework_of(x)
    for at in _axes(axis, x.ndim):
        if x.shape[at] == 0:
            raise ValueError(f"{op} of 0 elements along axis {at}: they have none")
    return _reduced(op, x, axis, keepdims)


def _rows(f: Framework, x: Array, axis: int) -> tuple[Array, int]:
    """The array with this axis at the end, and where it was."""
    axis = _axis(axis, x.ndim)
    return f.move_last(x, (axis,)), axis


def _each(f: Framework, x: Array, axis: int, function: Any) -> Array:
    rows, axis = _rows(f, x, axis)
    return f.move_back(function(rows), axis)


def _scanned(op: str, x: Array, axis: int | None, dtype: Any = None, initial: int | None = None) -> Array:
    f, x = _array(f"cumulative_{op}", x)
    if x.ndim == 0:
        x = x.reshape(1)
    if axis is None and x.ndim > 1:
        raise ValueError(f"an array of {x.ndim} dimensions: choose an axis")
    given = f.dtype(x) if dtype is None else _name(dtype)
    rows, axis = _rows(f, f.cast(x, wide(given)), 0 if axis is None else axis)
    found = f.call("scan", rows, op)
    if op in ("max", "min") or given in FLOATS or dtype is not None:
        found = f.cast(found, given)
    if initial is not None:
        first = f.full(found, (*found.shape[:-1], 1), f.dtype(found), initial)
        found = f.concat([first, found])
    return f.move_back(found, axis)


def _name(dtype: Any) -> str:
    """The name of a type of NumPy, CuPy or torch, or the name itself."""
    if isinstance(dtype, str):
        return dtype
    return getattr(dtype, "__name__", None) or str(dtype).removeprefix("torch.")


def _counted_as(f: Framework, x: Array) -> Array:
    return f.cast(x, "uint8") if f.dtype(x) == "bool" else x


def _range(f: Framework, x: Array) -> tuple[float, float]:
    """The range that NumPy chooses for a histogram."""
    if x.shape[0] == 0:
        return 0.0, 1.0
    low, high = float(min(x)), float(max(x))
    return (low - 0.5, high + 0.5) if low == high else (low, high)
