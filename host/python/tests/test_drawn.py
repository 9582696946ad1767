"""A thousand drawn inputs: the bits of NumPy's arrays in each library that is here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cases

Conversions = tuple[Callable[[np.ndarray], Any], Callable[[Any], np.ndarray]]
"""An array of a library from one of NumPy, and back."""


def of_torch() -> Conversions:
    torch = pytest.importorskip("torch")
    return torch.from_numpy, lambda x: x.numpy()


def of_torch_on_a_gpu() -> Conversions:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return lambda x: torch.from_numpy(x).cuda(), lambda x: x.cpu().numpy()


def of_cupy() -> Conversions:
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("no CUDA device")
    return cupy.asarray, lambda x: x.get()


def drawn(seed: int) -> tuple[Callable[..., Any], tuple[np.ndarray, ...], str]:
    """A function with results as a tuple, arguments for it, and a description of both."""
    draw = np.random.default_rng(seed)
    name = str(draw.choice([*cases.ALONG, *cases.WHOLE]))
    if name in cases.WHOLE:
        whole = cases.WHOLE[name]
        dtype, count = str(draw.choice(whole.dtypes)), int(draw.integers(7, 3000))
        return whole.function, whole.arguments(dtype, count), f"{name} of {count} {dtype}"
    case = cases.ALONG[name]
    dtype = str(draw.choice(case.dtypes))
    shape = tuple(int(n) for n in draw.integers(1, (9, 40, 70)[: draw.integers(1, 4)]))
    axis = int(draw.integers(len(shape)))
    if not cases.has_kernel(name, dtype, math.prod(shape) // shape[axis]):
        dtype = "float32"
    x = cases.elements(dtype, shape, seed)
    return lambda x: (case.function(x, axis=axis),), (x,), f"{name} of {shape} {dtype} along {axis}"


@pytest.mark.parametrize("library", [of_torch, of_torch_on_a_gpu, of_cupy])
def test_a_thousand_inputs_have_the_bits_of_numpy(library: Callable[[], Conversions]) -> None:
    of_numpy, to_numpy = library()
    for seed in range(1000):
        function, arguments, what = drawn(seed)
        expected = function(*arguments)
        found = function(*(of_numpy(each) for each in arguments))
        for each, other in zip(found, expected, strict=True):
            try:
                cases.expect_same_bits(to_numpy(each), other)
            except AssertionError as error:
                raise AssertionError(f"input {seed}: {what}") from error
