"""The functions of arrays of NumPy, against those of NumPy."""

from __future__ import annotations

import itertools

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import cases
import gridsync


def agrees(name: str, x: np.ndarray, axis: int | None) -> None:
    case = cases.ALONG[name]
    keywords = {} if axis is None else {"axis": axis}
    lengths = x.size if axis is None else x.shape[axis]
    of_numpy = (x, axis) if case.takes_none else (np.atleast_1d(x), axis or 0)
    with np.errstate(all="ignore"):
        if case.needs_elements and 0 in (x.shape if axis is None else (x.shape[axis],)):
            with pytest.raises(ValueError, match="0 elements"):
                case.function(x, **keywords)
            return
        found, expected = case.function(x, **keywords), case.reference(*of_numpy)
    if case.is_exact:
        np.testing.assert_array_equal(found, expected, strict=True)
        return
    magnitude = 1.0
    if name in ("sum", "cumulative_sum", "sum_squares"):
        magnitude = float(np.abs(x).sum(dtype=float)) + 1
    cases.expect_near(found, expected, magnitude, 4 * lengths + 8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", cases.ALONG)
def test_results_are_those_of_numpy_for_every_type_shape_and_axis(name: str) -> None:
    case = cases.ALONG[name]
    for dtype in case.dtypes:
        for shape in cases.SHAPES:
            x = cases.elements(dtype, shape)
            for axis in cases.axes(shape, case):
                agrees(name, x, axis)


@pytest.mark.parametrize("layout", cases.LAYOUTS)
@pytest.mark.parametrize("name", cases.ALONG)
def test_bits_do_not_depend_on_the_layout(name: str, layout: str) -> None:
    case = cases.ALONG[name]
    for dtype in case.dtypes:
        x = cases.elements(dtype, (6, 5, 40))
        for axis in (0, 1, -1):
            found = case.function(cases.LAYOUTS[layout](x), axis=axis)
            np.testing.assert_array_equal(found, case.function(x.copy(), axis=axis), strict=True)


@pytest.mark.parametrize(
    "name", ["sum", "mean", "var", "logsumexp", "sum_squares", "softmax", "cumulative_sum", "cumulative_prod"]
)
def test_bits_of_a_row_do_not_depend_on_the_batch(name: str) -> None:
    function = cases.ALONG[name].function
    for columns in (3, 100, 700, 9000):
        x = cases.elements("float32", (20, columns))
        together = function(x, axis=-1)
        for row in range(20):
            np.testing.assert_array_equal(function(x[row : row + 1], axis=-1)[0], together[row])


@pytest.mark.parametrize("correction", [0, 0.0, 1, 0.5, -1.5, 2.0, 7, 7.5])
def test_variances_have_any_correction(correction: float) -> None:
    x = cases.elements("float32", (3, 7))
    expected = np.full(3, np.nan)
    if correction < 7:
        expected = np.var(x.astype(float), axis=1, correction=correction)
    found = gridsync.var(x, axis=1, correction=correction)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(gridsync.std(x, axis=1, correction=correction), expected**0.5, rtol=1e-6)


@settings(deadline=None, max_examples=60, database=None)
@given(
    st.sampled_from(sorted(cases.ALONG)),
    arrays.arrays(
        st.sampled_from([np.dtype(name) for name in cases.INTEGERS + cases.BOOLS]),
        arrays.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=9),
    ),
    st.data(),
)
def test_any_integers_agree_with_numpy(name: str, x: np.ndarray, data: st.DataObject) -> None:
    case = cases.ALONG[name]
    if str(x.dtype) not in case.dtypes or name in ("var", "std", "sum_squares", "mean"):
        return
    agrees(name, x, data.draw(st.integers(-x.ndim, x.ndim - 1)))


@settings(deadline=None, max_examples=60, database=None)
@given(
    st.sampled_from(
        ["max", "min", "argmax", "argmin", "any", "all", "cumulative_max", "cumulative_min", "sort"]
    ),
    arrays.arrays(
        st.sampled_from([np.dtype("float32"), np.dtype("float64"), np.dtype("float16")]),
        arrays.array_shapes(max_dims=3, max_side=12),
    ),
)
def test_any_floats_are_ordered_as_in_numpy(name: str, x: np.ndarray) -> None:
    agrees(name, x, -1)


@pytest.mark.parametrize("dtype", cases.EVERY)
def test_top_k_and_kth_value_are_those_of_a_stable_sort(dtype: str) -> None:
    x = cases.elements(dtype, (4, 300))
    order = np.argsort(x, axis=1, kind="stable")
    for k in (0, 1, 17, 300):
        values, indices = gridsync.topk(x, k, axis=1, largest=False)
        np.testing.assert_array_equal(indices, order[:, :k], strict=True)
        np.testing.assert_array_equal(values, np.take_along_axis(x, order[:, :k], 1), strict=True)
    largest = gridsync.topk(x, 3)
    np.testing.assert_array_equal(largest.values, np.sort(x, axis=1)[:, :-4:-1], strict=True)
    value, index = gridsync.kth_value(x, 7, axis=1, keepdims=True)
    np.testing.assert_array_equal(index, order[:, 7:8], strict=True)
    np.testing.assert_array_equal(value, np.take_along_axis(x, index, 1), strict=True)


@pytest.mark.parametrize("method", ["linear", "hazen", "weibull", "inverted_cdf", "median_unbiased"])
def test_quantiles_are_those_of_numpy(method: str) -> None:
    for dtype in ("int32", "float32", "float64"):
        x = cases.elements(dtype, (5, 6, 41))
        for axis in (None, 0, (0, 2)):
            found = gridsync.quantile(x, [0.0, 0.3, 1.0], axis=axis, method=method)
            expected = np.quantile(x.astype(float), [0.0, 0.3, 1.0], axis=axis, method=method)
            assert found.dtype == (np.float32 if dtype == "float32" else np.float64)
            np.testing.assert_allclose(found, expected, rtol=3e-7, atol=1e-7)
    assert gridsync.quantile(np.array([1.0, 4.0, 9.0]), 0.5) == 4.0


@pytest.mark.parametrize("dtype", cases.EVERY)
def test_unique_values_are_those_of_numpy(dtype: str) -> None:
    for shape in cases.SHAPES:
        x = cases.elements(dtype, shape)
        values, counts = gridsync.unique_counts(x)
        expected = np.unique_counts(x)
        np.testing.assert_array_equal(values, np.sort(expected.values), strict=True)
        np.testing.assert_array_equal(counts, expected.counts[np.argsort(expected.values)], strict=True)


@pytest.mark.parametrize("dtype", cases.EVERY)
def test_unique_all_and_unique_inverse_are_those_of_numpy(dtype: str) -> None:
    for shape in cases.SHAPES:
        x = cases.elements(dtype, shape)
        found, values = gridsync.unique_all(x), np.unique(x)
        first = [np.flatnonzero(x.reshape(-1) == value)[0] for value in values]
        np.testing.assert_array_equal(found.values, values, strict=True)
        np.testing.assert_array_equal(found.indices, np.array(first, np.int64), strict=True)
        inverse = np.searchsorted(values, x.reshape(-1)).reshape(shape)
        np.testing.assert_array_equal(found.inverse_indices, inverse, strict=True)
        np.testing.assert_array_equal(gridsync.unique_inverse(x).values, values, strict=True)
        np.testing.assert_array_equal(gridsync.unique_inverse(x).inverse_indices, inverse, strict=True)


@pytest.mark.parametrize("dtype", cases.EVERY)
def test_unique_all_has_the_bits_of_unique_counts(dtype: str) -> None:
    for count in (0, 1, 2, 300):
        x = cases.with_specials(dtype, (count,))
        found, expected = gridsync.unique_all(x), gridsync.unique_counts(x)
        for name in ("values", "counts"):
            each, other = getattr(found, name), getattr(expected, name)
            assert each.dtype == other.dtype
            assert each.tobytes() == other.tobytes()
        np.testing.assert_array_equal(found.values[found.inverse_indices], x, strict=True)


@pytest.mark.parametrize("dtype", cases.EVERY)
def test_searches_are_those_of_numpy(dtype: str) -> None:
    for count in (0, 1, 2, 31, 32, 33, 1000, 5000):
        x = cases.with_specials(dtype, (count,))
        values = cases.with_specials(dtype, (1001,))
        sorter = np.argsort(x, stable=True)
        for side in ("left", "right"):
            expected = np.searchsorted(x[sorter], values, side)
            found = gridsync.searchsorted(x[sorter], values, side=side)
            np.testing.assert_array_equal(found, expected, strict=True)
            found = gridsync.searchsorted(x, values.reshape(7, 11, 13), side=side, sorter=sorter)
            np.testing.assert_array_equal(found, expected.reshape(7, 11, 13), strict=True)
    assert type(gridsync.searchsorted(np.array([1, 3]), np.int64(2))) is np.int64


@settings(deadline=None, max_examples=60, database=None)
@given(
    arrays.arrays(np.float32, arrays.array_shapes(max_dims=1, max_side=40)),
    arrays.arrays(np.float32, arrays.array_shapes(min_dims=0, max_dims=3, max_side=9)),
    st.sampled_from(["left", "right"]),
)
def test_any_floats_are_searched_as_in_numpy(x: np.ndarray, values: np.ndarray, side: str) -> None:
    x = np.sort(x)
    found = gridsync.searchsorted(x, values, side=side)
    np.testing.assert_array_equal(found, np.searchsorted(x, values, side), strict=True)


def test_each_nan_is_distinct() -> None:
    values, counts = gridsync.unique_counts(np.array([np.nan, 1.0, np.nan, 1.0]))
    np.testing.assert_array_equal(values, [1.0, np.nan, np.nan])
    np.testing.assert_array_equal(counts, [2, 1, 1])


@pytest.mark.parametrize("dtype", [name for name in cases.EVERY if name not in ("bool", "float16")])
def test_histograms_are_those_of_numpy(dtype: str) -> None:
    x = cases.elements(dtype, (70, 30))
    weights = cases.elements("float64", (70, 30), 1)
    for bins in (1, 10, 37, [-1.0, 0.0, 0.5, 90.0]):
        counts, edges = gridsync.histogram(x, bins)
        np.testing.assert_allclose(edges, np.histogram(x, bins)[1], rtol=1e-6, atol=1e-6)
        # NumPy rounds edges of float32 at every step, so it is given the same ones.
        exact = edges.astype(x.dtype) if dtype == "float32" else edges
        np.testing.assert_array_equal(counts, np.histogram(x, exact)[0])
        weighed = gridsync.histogram(x, bins, weights=weights).counts
        np.testing.assert_allclose(weighed, np.histogram(x, exact, weights=weights)[0], atol=1e-9)
    counts = gridsync.histogram(x, 5, range=(-2, 3)).counts
    np.testing.assert_array_equal(counts, np.histogram(x.astype(float), 5, range=(-2, 3))[0])


@pytest.mark.parametrize("dtype", cases.EVERY)
def test_segments_and_scattered_values_are_summed(dtype: str) -> None:
    x = cases.elements(dtype, (1000,))
    offsets = np.array([0, 3, 3, 500, 1000])
    sums = gridsync.segment_sum(x, offsets)
    expected = [cases.wide(x)[a:b].sum() for a, b in itertools.pairwise(offsets)]
    cases.expect_near(sums, np.array(expected), 1500.0, 1000)
    if dtype not in ("int32", "int64", "uint32", "uint64", "float32", "float64"):
        return
    indices = cases.elements("uint8", (1000,)) % 50
    into = cases.elements(dtype, (50,), 1)
    expected = into.astype(float)
    np.add.at(expected, indices, x.astype(float))
    found = gridsync.scatter_sum(into, indices, x)
    assert found.dtype == into.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


def test_selected_elements_are_within_the_bounds() -> None:
    for dtype in cases.EVERY:
        x = cases.elements(dtype, (30, 20))
        low, high = (1, 1) if dtype == "bool" else (0, 50)
        values, indices = gridsync.select(x, low, high)
        np.testing.assert_array_equal(indices, np.flatnonzero((x >= low) & (x <= high)))
        np.testing.assert_array_equal(values, x.reshape(-1)[indices], strict=True)
    assert gridsync.select(np.array([1.0, np.nan])).indices.tolist() == [0]


def test_dot_is_that_of_numpy() -> None:
    for dtype in ("int8", "int32", "uint32", "float16", "float32", "float64"):
        x, y = cases.elements(dtype, (5000,)), cases.elements(dtype, (5000,), 1)
        cases.expect_near(gridsync.dot(x, y), np.dot(cases.wide(x).astype(float), cases.wide(y)), 100.0, 20)


def test_an_initial_element_comes_before_the_scan() -> None:
    for dtype in cases.EVERY:
        x = cases.elements(dtype, (4, 9))
        for axis in (0, 1):
            found = gridsync.cumulative_sum(x, axis=axis, include_initial=True)
            assert found.shape[axis] == x.shape[axis] + 1
            np.testing.assert_array_equal(found.take(0, axis), 0)
            np.testing.assert_array_equal(
                found.take(range(1, x.shape[axis] + 1), axis), gridsync.cumulative_sum(x, axis=axis)
            )


def test_several_axes_are_reduced_as_one() -> None:
    x = cases.elements("float32", (3, 4, 5))
    found = gridsync.sum(x, axis=(0, 2), keepdims=True)
    assert found.shape == (1, 4, 1)
    np.testing.assert_array_equal(found.reshape(4), gridsync.sum(x.transpose(1, 0, 2).reshape(4, 15), axis=1))


def test_results_have_the_wanted_type() -> None:
    x = cases.elements("int8", (10,))
    assert gridsync.sum(x).dtype == np.int64
    assert gridsync.sum(x, dtype=np.float32).dtype == np.float32
    assert gridsync.cumulative_sum(x, dtype="int16").dtype == np.int16
    assert gridsync.mean(cases.elements("float16", (10,))).dtype == np.float16
    assert type(gridsync.sum(x)) is np.int64
