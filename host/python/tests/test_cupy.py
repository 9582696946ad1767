"""The functions of CuPy's arrays: the bits of NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import cases

cupy = pytest.importorskip("cupy")
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError:
    pytest.skip("no CUDA device", allow_module_level=True)

import gridsync  # noqa: E402

SHAPES = ((4099,), (9, 1, 1100), (5, 7), (0, 5))


@pytest.mark.parametrize("name", cases.ALONG)
def test_bits_are_those_of_arrays_of_numpy(name: str) -> None:
    function = cases.ALONG[name].function
    for x, axis in cases.on_a_gpu(name, SHAPES):
        found, expected = function(cupy.asarray(x), axis=axis), function(x, axis=axis)
        assert isinstance(found, cupy.ndarray)
        np.testing.assert_array_equal(found.get(), np.asarray(expected), strict=True)


def test_a_part_that_is_not_contiguous_is_accepted() -> None:
    x = np.random.default_rng(0).standard_normal((300, 200), dtype=np.float32)
    found = gridsync.sort(cupy.asarray(x)[::2, ::-3], axis=0)
    np.testing.assert_array_equal(found.get(), gridsync.sort(x[::2, ::-3], axis=0))
