"""The functions, types, shapes and layouts that the tests combine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


WITHOUT_KERNELS = ("prod", "any", "all", "cumulative_prod")


def has_kernel(name: str, dtype: str) -> bool:
    """Whether the function runs on a GPU for elements of this type."""
    is_short_scan = name.startswith("cumulative") and dtype == "float16"
    is_wide_mean = name == "mean" and dtype.endswith("int64")
    return not (name in WITHOUT_KERNELS or is_short_scan or is_wide_mean)


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
