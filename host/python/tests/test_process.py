"""Errors, and the package in a process: threads, forks, imports."""

from __future__ import annotations

import multiprocessing
import runpy
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cases
import gridsync
from gridsync import _native

REFUSED: list[tuple[type[Exception], str, Callable[[], Any]]] = [
    (TypeError, "expected an array .* got list", lambda: gridsync.sum([1, 2])),
    (TypeError, "masked array", lambda: gridsync.sum(np.ma.masked_equal([1, 2], 2))),
    (TypeError, "complex128", lambda: gridsync.sum(np.ones(3, complex))),
    (TypeError, "softmax does not accept elements of int32", lambda: gridsync.softmax(np.ones(3, np.int32))),
    (ValueError, "axis 2 is not in an array of 2", lambda: gridsync.sum(np.ones((2, 3)), axis=2)),
    (ValueError, "axes .* twice", lambda: gridsync.sum(np.ones((2, 3)), axis=(0, -2))),
    (ValueError, "choose an axis", lambda: gridsync.cumulative_sum(np.ones((2, 3)))),
    (ValueError, "max of 0 elements along axis 1", lambda: gridsync.max(np.ones((2, 0)), axis=1)),
    (ValueError, "the first 4 of 3 elements", lambda: gridsync.topk(np.ones(3), 4)),
    (ValueError, "rank 3 in 3 elements", lambda: gridsync.kth_value(np.ones(3), 3)),
    (ValueError, "1.5 is not a quantile", lambda: gridsync.quantile(np.ones(3), 1.5)),
    (ValueError, "an empty array has no quantiles", lambda: gridsync.quantile(np.ones(0), 0.5)),
    (
        ValueError,
        "method typical is not one of",
        lambda: gridsync.quantile(np.ones(3), 0.5, method="typical"),
    ),
    (ValueError, "0 bins", lambda: gridsync.histogram(np.ones(3), 0)),
    (ValueError, "edge 1 is 1 after 2", lambda: gridsync.histogram(np.ones(3), [2, 1])),
    (ValueError, "2 weights for 3 elements", lambda: gridsync.histogram(np.ones(3), weights=np.ones(2))),
    (ValueError, "last offset is 4", lambda: gridsync.segment_sum(np.ones(3), np.array([0, 4]))),
    (
        ValueError,
        "offset 2 is 1, less than 2",
        lambda: gridsync.segment_sum(np.ones(3), np.array([0, 2, 1, 3])),
    ),
    (
        IndexError,
        "index 3 is not in an array of 3",
        lambda: gridsync.scatter_sum(np.ones(3), np.array([3]), np.ones(1)),
    ),
    (IndexError, "index -1", lambda: gridsync.scatter_sum(np.ones(3), np.array([-1]), np.ones(1))),
    (ValueError, r"shapes \(3,\) and \(2,\)", lambda: gridsync.dot(np.ones(3), np.ones(2))),
    (TypeError, "correction '1'", lambda: gridsync.var(np.ones(3), correction="1")),
    (
        TypeError,
        "elements of float64 and values of int64: convert them",
        lambda: gridsync.searchsorted(np.ones(3), np.ones(3, np.int64)),
    ),
    (ValueError, "side middle", lambda: gridsync.searchsorted(np.ones(3), np.ones(3), side="middle")),
    (ValueError, r"shape \(2, 3\)", lambda: gridsync.searchsorted(np.ones((2, 3)), np.ones(3))),
    (
        ValueError,
        r"shapes \(3,\) and \(2,\)",
        lambda: gridsync.searchsorted(np.ones(3), np.ones(3), sorter=np.array([0, 1])),
    ),
    (
        TypeError,
        "a sorter does not accept elements of bool",
        lambda: gridsync.searchsorted(np.ones(3), np.ones(3), sorter=np.ones(3, bool)),
    ),
    (ValueError, "not contiguous", lambda: _native.sort(np.ones((4, 4))[:, ::2], False, np.ones((4, 2)), 0)),
    (ValueError, "do not fit", lambda: _native.argsort(np.ones(4), False, np.ones(2, np.int64), (0, 0))),
    (
        TypeError,
        "float64, not of float32",
        lambda: _native.sort(np.ones(4), False, np.ones(4, np.float32), (0, 0)),
    ),
]


@pytest.mark.parametrize(("kind", "message", "call"), REFUSED)
def test_a_wrong_argument_is_an_error_with_its_numbers(
    kind: type[Exception], message: str, call: Any
) -> None:
    with pytest.raises(kind, match=message):
        call()


def work(seed: int) -> bytes:
    x = cases.elements("float32", (50, 300), seed)
    parts = gridsync.sum(x, axis=1), gridsync.cumulative_sum(x, axis=0), gridsync.sort(x), gridsync.softmax(x)
    return b"".join(part.tobytes() for part in parts)


def test_a_thousand_threads_get_the_bits_of_one() -> None:
    expected = [work(seed) for seed in range(8)]
    start = threading.Barrier(1000)

    def call(number: int) -> bool:
        start.wait()
        return work(number % 8) == expected[number % 8]

    with ThreadPoolExecutor(1000) as pool:
        assert all(pool.map(call, range(1000)))


def test_a_forked_process_starts_new_threads() -> None:
    expected = work(1)
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map_async(work, [1, 1, 1, 1]).get(timeout=60) == [expected] * 4


def test_other_threads_run_during_a_call() -> None:
    x, ticks, is_done = cases.elements("float64", (2_000_000,)), 0, threading.Event()

    def call() -> None:
        gridsync.argsort(x)
        is_done.set()

    thread = threading.Thread(target=call)
    thread.start()
    while not is_done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 0


def test_an_import_imports_no_library_of_arrays() -> None:
    code = "import sys, gridsync; print(sorted({'numpy', 'torch', 'cupy'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("example", ["functions", "operators"])
def test_examples_run(example: str) -> None:
    if example == "operators":
        pytest.importorskip("torch")
    runpy.run_path(str(Path(__file__).parent.parent / "examples" / f"{example}.py"))
