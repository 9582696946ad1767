"""What the public functions do with their arguments, and the types of several results."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple, cast

from ._frameworks import Array, Framework, framework_of
from ._types import EVERY, expect

Axis = int | Sequence[int] | None


class ValuesAndIndices(NamedTuple):
    """Elements, and where they are."""

    values: Array
    indices: Array


class ValuesAndCounts(NamedTuple):
    """Distinct elements, and how often each occurs."""

    values: Array
    counts: Array


class ValuesAndInverse(NamedTuple):
    """Distinct elements, and for each element of the array the index of the one that it is equal to."""

    values: Array
    inverse_indices: Array


class Unique(NamedTuple):
    """Distinct elements, the first index of each, the inverse of `ValuesAndInverse`, and the counts."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class CountsAndEdges(NamedTuple):
    """The number or weight of the elements in each bin, and the edges of the bins."""

    counts: Array
    edges: Array


def accepted(function: str, x: Array, types: frozenset[str] = EVERY) -> tuple[Framework, Array]:
    """The library of an array, and the array, if its elements have one of these types."""
    f = framework_of(x)
    x = f.prepared(x)
    expect(function, f.dtype(x), types)
    return f, x


def same(f: Framework, name: str, x: Array) -> Array:
    """Another array of the same library."""
    other = framework_of(x)
    if other.library is not f.library:
        raise TypeError(f"{name} are of {other.library.__name__}, the elements of {f.library.__name__}")
    return f.prepared(x)


def axis_of(axis: int, dimensions: int) -> int:
    """The axis, counted from 0."""
    axis = operator.index(axis)
    if not -dimensions <= axis < dimensions:
        raise ValueError(f"axis {axis} is not in an array of {dimensions} dimensions")
    return axis % dimensions


def axes_of(axis: Axis, dimensions: int) -> tuple[int, ...]:
    """The axes, counted from 0, in ascending order."""
    if axis is None:
        return tuple(range(dimensions))
    several = [axis] if isinstance(axis, Integral) else cast(Sequence[int], axis)
    axes = [axis_of(cast(int, each), dimensions) for each in several]
    if len(set(axes)) < len(axes):
        raise ValueError(f"axes {tuple(axes)} contain one twice")
    return tuple(sorted(axes))


def flat(f: Framework, x: Array, axes: tuple[int, ...]) -> Array:
    """The array with these axes as one, at the end."""
    x = f.move_last(x, axes)
    if len(axes) == 1:
        return x
    batch = x.shape[: x.ndim - len(axes)]
    return x.reshape((*batch, math.prod(x.shape[x.ndim - len(axes) :])))


def kept(f: Framework, x: Array, dimensions: int, axes: tuple[int, ...], keepdims: bool) -> Array:
    """The result along these axes, with each of them as 1 if they are kept."""
    if keepdims:
        left = iter(x.shape)
        x = x.reshape(tuple(1 if at in axes else next(left) for at in range(dimensions)))
    return f.result(x)


def rows_along(f: Framework, x: Array, axis: int) -> tuple[Array, int]:
    """The array with this axis at the end, and where it was."""
    axis = axis_of(axis, x.ndim)
    return f.move_last(x, (axis,)), axis


def name_of(dtype: Any) -> str:
    """The name of a type of NumPy, CuPy or torch, or the name itself."""
    if isinstance(dtype, str):
        return dtype
    return getattr(dtype, "__name__", None) or str(dtype).removeprefix("torch.")
