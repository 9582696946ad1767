"""The kernels, in the emulator: the bits of the CPU, and the errors of functions on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import cases
import gridsync
from gridsync import _frameworks, _native


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Calls a function for arrays of NumPy as if they were on a GPU."""

    def call(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(_frameworks.Arrays, "is_on_gpu", lambda *_: True)
            _native.emulate(True)
            try:
                return function(*arguments, **keywords)
            finally:
                _native.emulate(False)

    yield call


@pytest.mark.parametrize("name", cases.ALONG)
def test_functions_along_an_axis_give_the_bits_of_the_cpu(name: str, emulated: Callable[..., Any]) -> None:
    case = cases.ALONG[name]
    for dtype in case.dtypes:
        for shape in ((1,), (700,), (3, 70), (2, 2000), (0, 3), (3, 0)):
            x = cases.elements(dtype, shape)
            if not cases.has_kernel(name, dtype, len(x) if x.ndim > 1 else 1):
                continue
            if case.needs_elements and x.shape[-1] == 0:
                continue
            found = emulated(case.function, x, axis=-1)
            cases.expect_same_bits(found, case.function(x, axis=-1))


@pytest.mark.parametrize("name", cases.WHOLE)
def test_other_functions_give_the_bits_of_the_cpu(name: str, emulated: Callable[..., Any]) -> None:
    case = cases.WHOLE[name]
    for dtype in case.dtypes:
        for count in (5, 900):
            arguments = case.arguments(dtype, count)
            found, expected = emulated(case.function, *arguments), case.function(*arguments)
            for each, other in zip(found, expected, strict=True):
                cases.expect_same_bits(each, other)


def test_empty_arrays_have_results(emulated: Callable[..., Any]) -> None:
    none, offsets = np.zeros(0, np.float32), np.zeros(1, np.int64)
    for function, arguments in (
        (gridsync.unique_counts, (none,)),
        (gridsync.unique_all, (none,)),
        (gridsync.searchsorted, (none, np.ones(3, np.float32))),
        (gridsync.searchsorted, (np.ones(3, np.float32), none)),
        (gridsync.select, (none,)),
        (gridsync.topk, (none, 0)),
        (gridsync.histogram, (none, 3)),
        (gridsync.segment_sum, (none, offsets)),
        (gridsync.scatter_sum, (none, none, none)),
        (gridsync.dot, (none, none)),
    ):
        found, expected = emulated(function, *arguments), function(*arguments)
        if not isinstance(found, tuple):
            found, expected = (found,), (expected,)
        for each, other in zip(found, expected, strict=True):
            cases.expect_same_bits(each, other)


def test_wrong_arguments_are_the_errors_of_the_cpu(emulated: Callable[..., Any]) -> None:
    x = np.arange(5.0)
    for function, arguments, error, message in (
        (gridsync.scatter_sum, (x, np.array([1, -1]), x[:2]), IndexError, "index -1 is not in"),
        (gridsync.scatter_sum, (x, np.array([1, 5]), x[:2]), IndexError, "index 5 is not in"),
        (gridsync.segment_sum, (x, np.array([0, 3])), ValueError, "the last offset is 3"),
        (gridsync.segment_sum, (x, np.array([0, 3, 2, 5])), ValueError, "offset 2 is 2, less than 3"),
        (gridsync.quantile, (x, 1.5), ValueError, "1.5 is not a quantile"),
        (gridsync.histogram, (x, [1.0, 0.0]), ValueError, "edge 1 is 0 after 1"),
    ):
        for call in (function, lambda *arguments, of=function: emulated(of, *arguments)):
            with pytest.raises(error, match=message):
                call(*arguments)


def test_rows_that_no_kernel_has_are_a_type_error(emulated: Callable[..., Any]) -> None:
    rows = np.ones((65, 2), np.int64)
    with pytest.raises(TypeError, match="65 rows on a GPU"):
        emulated(gridsync.mean, rows, axis=1)
