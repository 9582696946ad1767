"""The functions, types, shapes and layouts that the tests combine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import gridsync

BOOLS = ("bool",)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
EVERY = BOOLS + INTEGERS + FLOATS

SHAPES = ((), (0,), (1,), (7,), (4099,), (3, 0), (0, 3), (5, 7), (2, 3, 257), (9, 1, 1100))

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": lambda x: x,
    "fortran": lambda x: np.asfortranarray(x),
    "reversed": lambda x: x[::-1].copy()[::-1] if x.ndim else x,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "read-only": lambda x: _read_only(x.copy()),
    "unaligned": lambda x: _unaligned(x),
    "swapped": lambda x: x.astype(x.dtype.newbyteorder(">")),
}


def _read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def _unaligned(x: np.ndarray) -> np.ndarray:
    memory = np.empty(x.nbytes + 1, np.uint8)[1:]
    moved = memory.view(x.dtype).reshape(x.shape) if x.size else x
    moved[...] = x
    return moved


@dataclass(frozen=True)
class Along:
    """A function along an axis, and the one of NumPy for it."""

    function: Callable[..., Any]
    reference: Callable[..., Any]
    dtypes: tuple[str, ...] = EVERY
    is_exact: bool = False
    """Whether it rounds no result."""
    needs_elements: bool = False
    takes_none: bool = True
    """Whether it accepts no axis for an array of several."""


def wide(x: np.ndarray) -> np.ndarray:
    """Elements of the type in which NumPy's result is nearly exact."""
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def _in_order(x: np.ndarray, axis: int) -> np.ndarray:
    return np.argsort(x, axis=axis, kind="stable")


def _soft(x: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(wide(x) - wide(x).max(axis=axis, keepdims=True, initial=-np.inf))
    return powers / powers.sum(axis=axis, keepdims=True)


ALONG: dict[str, Along] = {
    "sum": Along(gridsync.sum, lambda x, axis: np.sum(wide(x), axis=axis)),
    "prod": Along(gridsync.prod, lambda x, axis: np.prod(wide(x), axis=axis)),
    "max": Along(gridsync.max, lambda x, axis: np.max(x, axis=axis), is_exact=True, needs_elements=True),
    "min": Along(gridsync.min, lambda x, axis: np.min(x, axis=axis), is_exact=True, needs_elements=True),
    "argmax": Along(
        gridsync.argmax, lambda x, axis: np.argmax(x, axis=axis), is_exact=True, needs_elements=True
    ),
    "argmin": Along(
        gridsync.argmin, lambda x, axis: np.argmin(x, axis=axis), is_exact=True, needs_elements=True
    ),
    "mean": Along(gridsync.mean, lambda x, axis: np.mean(wide(x), axis=axis)),
    "var": Along(gridsync.var, lambda x, axis: np.var(wide(x), axis=axis)),
    "std": Along(gridsync.std, lambda x, axis: np.std(wide(x), axis=axis)),
    "sum_squares": Along(gridsync.sum_squares, lambda x, axis: np.sum(x.astype(float) ** 2, axis=axis)),
    "logsumexp": Along(
        gridsync.logsumexp, lambda x, axis: np.log(np.sum(np.exp(wide(x)), axis=axis)), FLOATS
    ),
    "any": Along(gridsync.any, lambda x, axis: np.any(x, axis=axis), is_exact=True),
    "all": Along(gridsync.all, lambda x, axis: np.all(x, axis=axis), is_exact=True),
    "cumulative_sum": Along(
        gridsync.cumulative_sum, lambda x, axis: np.cumulative_sum(wide(x), axis=axis), takes_none=False
    ),
    "cumulative_prod": Along(
        gridsync.cumulative_prod, lambda x, axis: np.cumulative_prod(wide(x), axis=axis), takes_none=False
    ),
    "cumulative_max": Along(
        gridsync.cumulative_max,
        lambda x, axis: np.maximum.accumulate(x, axis),
        is_exact=True,
        takes_none=False,
    ),
    "cumulative_min": Along(
        gridsync.cumulative_min,
        lambda x, axis: np.minimum.accumulate(x, axis),
        is_exact=True,
        takes_none=False,
    ),
    "softmax": Along(gridsync.softmax, _soft, FLOATS, takes_none=False),
    "sort": Along(gridsync.sort, lambda x, axis: np.sort(x, axis=axis), is_exact=True, takes_none=False),
    "argsort": Along(gridsync.argsort, _in_order, is_exact=True, takes_none=False),
}


def has_kernel(name: str, dtype: str, rows: int) -> bool:
    """Whether the function along an axis runs on a GPU for so many rows of elements of this type."""
    return rows <= 64 or name != "mean" or not dtype.endswith("int64")


def on_a_gpu(name: str, shapes: Iterable[tuple[int, ...]]) -> Iterator[tuple[np.ndarray, int]]:
    """Arrays of these shapes and of every type, and axes along which the function has kernels."""
    case = ALONG[name]
    for dtype in case.dtypes:
        for shape in shapes:
            x = elements(dtype, shape)
            for axis, length in enumerate(shape):
                is_empty = case.needs_elements and length == 0
                rows = math.prod((*shape[:axis], *shape[axis + 1 :]))
                if not is_empty and has_kernel(name, dtype, rows):
                    yield x, axis


def elements(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Numbers of both signs with some equal ones, whose product does not overflow soon."""
    drawn = np.random.default_rng([seed, len(shape), *shape])
    if dtype == "bool":
        found = drawn.random(shape) < 0.9
    elif dtype.startswith("float"):
        found = np.round(drawn.uniform(-1.5, 1.5, shape), 2).astype(dtype)
    else:
        info = np.iinfo(dtype)
        low, high = max(info.min, -100), min(info.max, 100)
        found = drawn.integers(low, high, shape, dtype=dtype, endpoint=True)
    return np.asarray(found)


def with_specials(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Elements with NaNs, zeros of both signs and infinities, if the type has them."""
    x = elements(dtype, shape)
    if dtype.startswith("float"):
        x.reshape(-1)[1::9][:6] = np.resize([np.nan, -0.0, 0.0, np.inf, -np.inf, np.nan], x[1::9][:6].shape)
    return x


@dataclass(frozen=True)
class Whole:
    """A function whose results are not those of NumPy's functions along an axis, and arguments for it."""

    function: Callable[..., Any]
    arguments: Callable[[str, int], tuple[np.ndarray, ...]]
    dtypes: tuple[str, ...] = EVERY


def _one(dtype: str, count: int) -> tuple[np.ndarray, ...]:
    return (with_specials(dtype, (count,)),)


def _rows(dtype: str, count: int) -> tuple[np.ndarray, ...]:
    return (elements(dtype, (3, count)),)


def _two(dtype: str, count: int) -> tuple[np.ndarray, ...]:
    return elements(dtype, (count,)), elements(dtype, (count,), 1)


def _weighed(dtype: str, count: int) -> tuple[np.ndarray, ...]:
    weights = elements("float64" if dtype.endswith("64") else "float32", (count,), 1)
    return elements(dtype, (count,)), weights


def _sorted(dtype: str, count: int) -> tuple[np.ndarray, ...]:
    values = with_specials(dtype, (2 * count + 3,)).reshape(1, -1, 1)
    return np.sort(with_specials(dtype, (count,))), values


def _with_sorter(dtype: str, count: int) -> tuple[np.ndarray, ...]:
    x, values = with_specials(dtype, (count,)), elements(dtype, (9,))
    return x, values, np.argsort(x, stable=True)


def _in_segments(dtype: str, count: int) -> tuple[np.ndarray, ...]:
    offsets = np.array([0, 0, count // 3, count // 3, count // 2, count])
    return elements(dtype, (count,)), offsets


def _scattered(dtype: str, count: int) -> tuple[np.ndarray, ...]:
    return elements(dtype, (40,), 1), elements("uint8", (count,)) % 40, elements(dtype, (count,))


WHOLE: dict[str, Whole] = {
    "topk": Whole(lambda x: gridsync.topk(x, 5), _one),
    "topk of rows": Whole(lambda x: gridsync.topk(x, 5, largest=False), _rows),
    "kth_value": Whole(lambda x: gridsync.kth_value(x, 3, axis=1), _rows),
    "quantile": Whole(lambda x: (gridsync.quantile(x, [0.0, 0.3, 1.0], axis=1),), _rows),
    "unique_counts": Whole(gridsync.unique_counts, _one),
    "unique_values": Whole(lambda x: (gridsync.unique_values(x),), _rows),
    "unique_inverse": Whole(gridsync.unique_inverse, _rows),
    "unique_all": Whole(gridsync.unique_all, _one),
    "searchsorted": Whole(lambda *arrays: (gridsync.searchsorted(*arrays),), _sorted),
    "searchsorted on the right": Whole(
        lambda x, values, sorter: (gridsync.searchsorted(x, values, side="right", sorter=sorter),),
        _with_sorter,
    ),
    "histogram": Whole(lambda x: gridsync.histogram(x, 7), _rows),
    "histogram between edges": Whole(lambda x: gridsync.histogram(x, [-1.0, 0.0, 0.5, 90.0]), _one),
    "histogram of weights": Whole(lambda x, weights: gridsync.histogram(x, 7, weights=weights), _weighed),
    "segment_sum": Whole(lambda x, offsets: (gridsync.segment_sum(x, offsets),), _in_segments),
    "scatter_sum": Whole(
        lambda *arrays: (gridsync.scatter_sum(*arrays),),
        _scattered,
        ("int32", "int64", "uint32", "uint64", "float32", "float64"),
    ),
    "select": Whole(lambda x: gridsync.select(x, 0, 1), _one),
    "select without bounds": Whole(gridsync.select, _one),
    "dot": Whole(
        lambda x, y: (gridsync.dot(x, y),),
        _two,
        tuple(name for name in EVERY if not name.endswith("int64")),
    ),
}


def expect_same_bits(found: Any, expected: Any) -> None:
    """Fails unless both have the same type, shape and bits, except for those of a NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    np.testing.assert_array_equal(found, expected, strict=True)
    if found.dtype.kind == "f":
        found, expected = (np.where(np.isnan(each), np.nan, each) for each in (found, expected))
    assert found.tobytes() == expected.tobytes()


def axes(shape: tuple[int, ...], case: Along) -> Iterator[int | None]:
    """The axes along which a case works on an array of this shape."""
    if (case.takes_none or len(shape) == 1) and case.function not in (
        gridsync.softmax,
        gridsync.sort,
        gridsync.argsort,
    ):
        yield None
    yield from range(-1, len(shape)) if shape else ()


def expect_near(found: Any, expected: Any, magnitude: float, count: int) -> None:
    """Fails unless the error is at most `count` roundings of numbers of this magnitude."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected.astype(found.dtype))
        return
    info = np.finfo(found.dtype)
    with np.errstate(over="ignore"):
        expected = expected.astype(found.dtype).astype(np.float64)
    bound = count * float(info.eps) * magnitude
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=count * float(info.eps), atol=bound)
