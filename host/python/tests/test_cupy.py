"""The functions of CuPy's arrays: the bits of NumPy's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

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


def test_work_of_another_stream_is_in_order() -> None:
    x = np.random.default_rng(0).standard_normal(1 << 20, dtype=np.float32)
    expected = gridsync.sort(gridsync.cumulative_sum(x))
    for _ in range(3):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            there = cupy.zeros(len(x), np.float32)
            for _ in range(200):
                # Work that takes longer than the calls below.
                there += 1
            there[...] = cupy.asarray(x)
            found = gridsync.sort(gridsync.cumulative_sum(there))
            np.testing.assert_array_equal(found.get(stream), expected)


def test_a_thousand_streams_and_threads_have_the_same_bits() -> None:
    x = cupy.asarray(np.random.default_rng(1).standard_normal(5000, dtype=np.float32))
    expected = gridsync.cumulative_sum(x).get()
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(20)]
    cupy.cuda.runtime.deviceSynchronize()

    def in_a_stream(number: int) -> bool:
        with streams[number % 20] as stream:
            return bool((gridsync.cumulative_sum(x).get(stream) == expected).all())

    with ThreadPoolExecutor(50) as threads:
        assert all(threads.map(in_a_stream, range(1000)))
