"""The public functions along axes: they move the axis, convert types, and call those over rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, cast

from . import _common
from ._arguments import Axis, ValuesAndIndices, accepted, axes_of, flat, kept, name_of, rows_along
from ._frameworks import Array, Framework, framework_of
from ._types import EVERY, FLOATS, real, wide


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


def var(x: Array, /, *, axis: Axis = None, correction: float = 0, keepdims: bool = False) -> Array:
    """The variance along axes, with the divisor n − `correction`; NaN if that is not positive."""
    return _reduced("var", x, axis, keepdims, correction=correction)


def std(x: Array, /, *, axis: Axis = None, correction: float = 0, keepdims: bool = False) -> Array:
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
    """Each element plus all before it along an axis; with `include_initial` after a zero.

    The bits of a row do not depend on other rows.
    """
    return _scanned("sum", x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Each element times all before it along an axis; with `include_initial` after a one.

    The bits of a row do not depend on other rows.
    """
    return _scanned("prod", x, axis, dtype, 1 if include_initial else None)


def cumulative_max(x: Array, /, *, axis: int | None = None) -> Array:
    """The maximum of each element and all before it along an axis."""
    return _scanned("max", x, axis)


def cumulative_min(x: Array, /, *, axis: int | None = None) -> Array:
    """The minimum of each element and all before it along an axis."""
    return _scanned("min", x, axis)


def softmax(x: Array, /, *, axis: int = -1) -> Array:
    """The softmax along an axis. The bits of a row do not depend on other rows."""
    f, x = accepted("softmax", x, FLOATS)
    found = _common.softmax(f, x, axis)
    if found is not None:
        return found
    return _each(f, x, axis, lambda rows: f.call("softmax", rows))


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order along an axis. NaN is greater than all others. Always stable."""
    f, x = accepted("sort", x)
    found = _common.sort(f, x, axis, descending)
    if found is not None:
        return found
    return _each(f, x, axis, lambda rows: f.call("sort", rows, descending))


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that sort along an axis. Always stable, also in descending order."""
    f, x = accepted("argsort", x)
    found = _common.argsort(f, x, axis, descending)
    if found is not None:
        return found
    return _each(f, x, axis, lambda rows: f.call("argsort", rows, descending))


def topk(x: Array, k: int, /, *, axis: int = -1, largest: bool = True) -> ValuesAndIndices:
    """The `k` largest or smallest elements along an axis, in order. Of equal ones the first comes first."""
    f, x = accepted("topk", x)
    rows, axis = rows_along(f, x, axis)
    if not 0 <= k <= rows.shape[-1]:
        raise ValueError(
            f"the first {k} of {rows.shape[-1]} elements do not exist: choose 0 to {rows.shape[-1]}"
        )
    found = _common.topk(f, x, axis, k, largest)
    if found is not None:
        return ValuesAndIndices(*found)
    return ValuesAndIndices(*(f.move_back(found, axis) for found in f.call("topk", rows, k, largest)))


def kth_value(x: Array, k: int, /, *, axis: int = -1, keepdims: bool = False) -> ValuesAndIndices:
    """The element of rank `k`, from 0, along an axis, and its index."""
    f, x = accepted("kth_value", x)
    rows, axis = rows_along(f, x, axis)
    if not 0 <= k < rows.shape[-1]:
        raise ValueError(f"there is no rank {k} in {rows.shape[-1]} elements: ranks count from 0")
    found = f.call("kth_value", rows, k)
    return ValuesAndIndices(*(kept(f, each, x.ndim, (axis,), keepdims) for each in found))


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
    f, x = accepted("quantile", x)
    axes = axes_of(axis, x.ndim)
    is_one = isinstance(q, Real)
    wanted = [float(each) for each in cast(Sequence[float], [q] if is_one else q)]
    found = f.cast(f.call("quantile", flat(f, x, axes), wanted, method), real(f.dtype(x)))
    each = [kept(f, found[..., at], x.ndim, axes, keepdims) for at in range(len(wanted))]
    return each[0] if is_one else f.library.stack(each)


def _reduced(
    op: str, x: Array, axis: Axis, keepdims: bool, *, dtype: Any = None, correction: float = 0
) -> Array:
    f, x = accepted(op, x, FLOATS if op == "logsumexp" else EVERY)
    is_whole, whole = True, 0
    if correction != 0:
        if not isinstance(correction, Real):
            raise TypeError(f"correction {correction!r} is not a number")
        # The kernels subtract whole numbers.
        is_whole = correction >= 0 and float(correction).is_integer()
        whole = int(correction) if is_whole else 0
    if dtype is None and not keepdims and is_whole:
        found = _common.reduce(f, x, axis, op, whole)
        if found is not None:
            return found
    axes = axes_of(axis, x.ndim)
    given = f.dtype(x) if dtype is None else name_of(dtype)
    x = f.cast(x, given)
    rows = flat(f, x, axes)
    if op not in ("any", "all"):
        rows = f.cast(rows, wide(given))
    if op in ("var", "std") and given in ("float16", "bfloat16"):
        rows = f.cast(rows, "float32")
    found = f.call("reduce", rows, op, whole)
    if not is_whole:
        found = found * _rescaled(op, rows.shape[-1], float(correction))
    if op in ("max", "min") or (dtype is not None and f.dtype(found) != given) or op in ("var", "std"):
        found = f.cast(found, real(given) if op in ("var", "std") else given)
    return kept(f, found, x.ndim, axes, keepdims)


def _rescaled(op: str, count: int, correction: float) -> float:
    """The factor for a variance or deviation of `count` elements with another divisor than `count`."""
    factor = count / (count - correction) if count > correction else math.nan
    return math.sqrt(factor) if op == "std" else factor


def _extreme(op: str, x: Array, axis: Axis, keepdims: bool) -> Array:
    if axis is not None and not isinstance(axis, Integral) and op.startswith("arg"):
        raise TypeError(f"{op} along the axes {axis}: choose one, or None")
    framework_of(x)
    for at in axes_of(axis, x.ndim):
        if x.shape[at] == 0:
            raise ValueError(f"{op} of 0 elements along axis {at}: they have none")
    return _reduced(op, x, axis, keepdims)


def _each(f: Framework, x: Array, axis: int, function: Callable[[Array], Array]) -> Array:
    rows, axis = rows_along(f, x, axis)
    return f.move_back(function(rows), axis)


def _scanned(op: str, x: Array, axis: int | None, dtype: Any = None, initial: int | None = None) -> Array:
    f, x = accepted(f"cumulative_{op}", x)
    if dtype is None and initial is None:
        found = _common.scan(f, x, axis, op)
        if found is not None:
            return found
    if x.ndim == 0:
        x = x.reshape(1)
    if axis is None and x.ndim > 1:
        raise ValueError(f"an array of {x.ndim} dimensions: choose an axis")
    given = f.dtype(x) if dtype is None else name_of(dtype)
    rows, axis = rows_along(f, f.cast(x, wide(given)), 0 if axis is None else axis)
    found = f.call("scan", rows, op)
    if op in ("max", "min") or given in FLOATS or dtype is not None:
        found = f.cast(found, given)
    if initial is not None:
        first = f.full(found, (*found.shape[:-1], 1), f.dtype(found), initial)
        found = f.concat([first, found])
    return f.move_back(found, axis)
