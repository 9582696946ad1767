"""The functions of tensors of torch: the bits of NumPy's arrays, gradients, torch.compile and vmap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cases

torch = pytest.importorskip("torch")

import gridsync  # noqa: E402
import gridsync.torch  # noqa: E402

OPS = torch.ops.gridsync


def drawn(*shape: int, dtype: torch.dtype = torch.float64, needs_grad: bool = True) -> torch.Tensor:
    generator = torch.Generator().manual_seed(7)
    return (
        torch.rand(shape, generator=generator, dtype=torch.float64)
        .sub(0.4)
        .to(dtype)
        .requires_grad_(needs_grad)
    )


OFFSETS = torch.tensor([0, 2, 2, 7, 12])
INDICES = torch.tensor([3, 0, 3, 1, 3])

SAMPLES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    **{
        f"reduce {op}": (OPS.reduce, (drawn(3, 5), op))
        for op in ("sum", "mean", "prod", "max", "min", "sum_squares")
    },
    "reduce var": (OPS.reduce, (drawn(3, 5), "var", 1)),
    "reduce std": (OPS.reduce, (drawn(3, 5), "std", 1)),
    "reduce logsumexp": (OPS.reduce, (drawn(3, 5), "logsumexp")),
    "scan sum": (OPS.scan, (drawn(2, 3, 7), "sum")),
    "scan max": (OPS.scan, (drawn(2, 3, 7), "max")),
    "scan min": (OPS.scan, (drawn(2, 3, 7), "min")),
    "softmax": (OPS.softmax, (drawn(4, 6),)),
    "sort": (OPS.sort, (drawn(4, 6), True)),
    "topk": (OPS.topk, (drawn(4, 6), 3, True)),
    "kth_value": (OPS.kth_value, (drawn(4, 6), 2)),
    "dot": (OPS.dot, (drawn(9), drawn(9) * 2)),
    "segment_sum": (OPS.segment_sum, (drawn(12), OFFSETS)),
    "scatter_sum": (OPS.scatter_sum, (drawn(4), INDICES, drawn(5))),
    "select": (OPS.select, (drawn(30), 0.1, None)),
}

WITHOUT_GRADIENT: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "argsort": (OPS.argsort, (drawn(4, 6, needs_grad=False), False)),
    "argmax": (OPS.reduce, (drawn(4, 6, needs_grad=False), "argmax")),
    "quantile": (OPS.quantile, (drawn(4, 6, needs_grad=False), [0.5, 0.9], "linear")),
    "histogram": (OPS.histogram, (drawn(40, needs_grad=False), [0.0, 1.0, 5.0], True, None)),
    "searchsorted": (
        OPS.searchsorted,
        (drawn(9, needs_grad=False).sort().values, drawn(4, 6, needs_grad=False), True),
    ),
    "unique": (OPS.unique, (torch.tensor([3, 1, 3, 3]),)),
}


@pytest.mark.parametrize("name", [*SAMPLES, *WITHOUT_GRADIENT])
def test_operators_pass_opcheck(name: str) -> None:
    operator, arguments = {**SAMPLES, **WITHOUT_GRADIENT}[name]
    torch.library.opcheck(operator.default, arguments)


@pytest.mark.parametrize("name", SAMPLES)
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    operator, arguments = SAMPLES[name]

    def first(*arguments: Any) -> torch.Tensor:
        found = operator(*arguments)
        return found[0] if isinstance(found, tuple) else found

    assert torch.autograd.gradcheck(
        first,
        tuple(
            a.detach().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a
            for a in arguments
        ),
    )


@pytest.mark.parametrize("name", cases.ALONG)
def test_bits_are_those_of_arrays_of_numpy(name: str) -> None:
    case = cases.ALONG[name]
    for dtype in case.dtypes:
        for shape in cases.SHAPES:
            x = cases.elements(dtype, shape)
            for axis in cases.axes(shape, case):
                keywords = {} if axis is None else {"axis": axis}
                if case.needs_elements and 0 in shape:
                    continue
                found = case.function(torch.from_numpy(x), **keywords)
                assert isinstance(found, torch.Tensor)
                np.testing.assert_array_equal(
                    found.numpy(), np.asarray(case.function(x, **keywords)), strict=True
                )


def test_bfloat16_is_accepted() -> None:
    x = drawn(50, 70, dtype=torch.bfloat16, needs_grad=False)
    torch.testing.assert_close(gridsync.sum(x, axis=1), x.float().sum(1).bfloat16())
    torch.testing.assert_close(gridsync.cumulative_sum(x, axis=0), x.float().cumsum(0).bfloat16())
    assert torch.equal(gridsync.sort(x), x.sort().values)
    torch.testing.assert_close(gridsync.softmax(x), x.float().softmax(-1).bfloat16())


FUNCTIONS: dict[
    str, tuple[Callable[[torch.Tensor], torch.Tensor], Callable[[torch.Tensor], torch.Tensor]]
] = {
    "sum": (lambda x: gridsync.sum(x, axis=0), lambda x: x.sum(0)),
    "prod": (lambda x: gridsync.prod(x, axis=1), lambda x: x.prod(1)),
    "max": (lambda x: gridsync.max(x, axis=1), lambda x: x.max(1).values),
    "var": (lambda x: gridsync.var(x, axis=(0, 1), correction=1), lambda x: x.var((0, 1))),
    "logsumexp": (lambda x: gridsync.logsumexp(x, axis=0), lambda x: x.logsumexp(0)),
    "cumulative_sum": (lambda x: gridsync.cumulative_sum(x, axis=0), lambda x: x.cumsum(0)),
    "cumulative_max": (lambda x: gridsync.cumulative_max(x, axis=0), lambda x: x.cummax(0).values),
    "softmax": (lambda x: gridsync.softmax(x, axis=0), lambda x: x.softmax(0)),
    "sort": (
        lambda x: gridsync.sort(x, axis=0, descending=True),
        lambda x: x.sort(0, descending=True).values,
    ),
    "topk": (lambda x: gridsync.topk(x, 3, axis=0).values, lambda x: x.topk(3, dim=0).values),
    "rms_norm": (
        lambda x: gridsync.torch.rms_norm(x),
        lambda x: torch.nn.functional.rms_norm(x, x.shape[-1:], eps=1e-6),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_torch(name: str) -> None:
    results = []
    for function in FUNCTIONS[name]:
        x = drawn(5, 6)
        out = function(x)
        (out * torch.arange(out.numel(), dtype=out.dtype).reshape(out.shape)).sum().backward()
        results.append((out.detach(), x.grad))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_compile_in_one_graph(name: str) -> None:
    function = FUNCTIONS[name][0]
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    for shape in ((5, 6), (7, 3)):
        x, y = drawn(*shape), drawn(*shape)
        found, expected = compiled(x), function(y)
        assert torch.equal(found, expected)
        found.sum().backward()
        expected.sum().backward()
        assert torch.equal(x.grad, y.grad)


@pytest.mark.parametrize("name", ["sum", "max", "cumulative_sum", "softmax", "sort", "topk"])
def test_vmap_is_a_loop(name: str) -> None:
    function, x = FUNCTIONS[name][0], drawn(4, 5, 6, needs_grad=False)
    together = torch.func.vmap(function, in_dims=1, out_dims=1)(x)
    torch.testing.assert_close(
        together, torch.stack([function(x[:, i]) for i in range(5)], 1), rtol=1e-14, atol=1e-14
    )


def test_vmap_of_a_search_is_a_loop() -> None:
    x = drawn(5, 9, needs_grad=False).sort(dim=0).values
    values = drawn(5, 6, 9, needs_grad=False)
    for dims in ((None, 2), (1, None), (1, 2)):
        first = x[:, 0] if dims[0] is None else x
        second = values[..., 0] if dims[1] is None else values
        found = torch.func.vmap(gridsync.searchsorted, in_dims=dims)(first, second)
        for at in range(9):
            of = x[:, 0 if dims[0] is None else at]
            wanted = values[..., 0 if dims[1] is None else at]
            expected = torch.searchsorted(of.contiguous(), wanted.contiguous())
            assert torch.equal(found[at], expected)


def test_searches_and_unique_all_compile_in_one_graph() -> None:
    def function(x: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return gridsync.searchsorted(gridsync.sort(x), values), *gridsync.unique_all(values)

    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    for count in (5, 700):
        x, values = drawn(count, needs_grad=False), drawn(3, count, needs_grad=False).round(decimals=1)
        for found, expected in zip(compiled(x, values), function(x, values), strict=True):
            assert torch.equal(found, expected)


@pytest.mark.parametrize("name", cases.WHOLE)
def test_other_functions_have_the_bits_of_arrays_of_numpy(name: str) -> None:
    case = cases.WHOLE[name]
    for dtype in case.dtypes:
        arguments = case.arguments(dtype, 900)
        found = case.function(*(torch.from_numpy(each) for each in arguments))
        for each, other in zip(found, case.function(*arguments), strict=True):
            cases.expect_same_bits(each.numpy(), other)


def test_the_values_of_unique_all_have_a_gradient() -> None:
    x = torch.tensor([3.0, 1.0, 3.0], requires_grad=True)
    gridsync.unique_all(x).values.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0]


def test_the_bits_of_rms_norm_do_not_depend_on_the_batch() -> None:
    x, weight = drawn(30, 4096, dtype=torch.float32, needs_grad=False), drawn(4096, dtype=torch.float32)
    together = gridsync.torch.rms_norm(x, weight)
    for row in range(30):
        assert torch.equal(gridsync.torch.rms_norm(x[row : row + 1], weight)[0], together[row])


def test_a_patch_replaces_operators_of_torch_until_its_end() -> None:
    x, plain = drawn(9, 5000, dtype=torch.float32), drawn(9, 5000, dtype=torch.float32)
    before = x.detach().cumsum(1)
    with gridsync.torch.patch():
        assert torch.equal(x.cumsum(1), gridsync.cumulative_sum(plain, axis=1))
        assert torch.equal(x.softmax(0), gridsync.softmax(plain, axis=0))
        assert torch.equal(x.sum((0, 1)), gridsync.sum(plain))
        assert torch.equal(
            x.detach().half().sum(1, dtype=torch.float32), gridsync.sum(plain.half().float(), axis=1)
        )
        x.cumsum(1).square().sum(1).sum().backward()
    gridsync.sum(gridsync.cumulative_sum(plain, axis=1).square(), axis=1).sum().backward()
    torch.testing.assert_close(x.grad, plain.grad)
    assert torch.equal(x.detach().cumsum(1), before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16])
def test_a_patch_gives_the_elements_and_indices_of_torch(dtype: torch.dtype) -> None:
    x = torch.tensor(np.random.default_rng(0).integers(-50, 50, (7, 300))).to(dtype)
    if dtype.is_floating_point:
        x[2, 150] = x[2, 200] = math.nan
    functions = (
        lambda: x.cummax(1),
        lambda: x.cummin(0),
        lambda: x.sort(dim=1, stable=True, descending=True),
        lambda: x.T.sort(dim=0, stable=True),
        lambda: x[3, 0].cummax(0),
    )
    expected = [function() for function in functions]
    largest = x.topk(5, dim=0, largest=False).values
    with gridsync.torch.patch():
        found = [function() for function in functions]
        values, indices = x.topk(5, dim=0, largest=False)
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(values, largest, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(x.gather(0, indices), values, rtol=0, atol=0, equal_nan=True)


def test_a_gradient_is_given_to_one_of_equal_extremes() -> None:
    x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
    gridsync.max(x).backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


def test_a_cumulative_maximum_of_short_floats_has_a_gradient() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.tensor([1.0, 3.0, 2.0], dtype=dtype, requires_grad=True)
        gridsync.cumulative_max(x).sum().backward()
        assert x.grad.dtype == dtype
        assert x.grad.tolist() == [1.0, 2.0, 0.0]


def test_a_gradient_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(NotImplementedError, match=r"torch\.cumprod"):
        gridsync.cumulative_prod(drawn(3)).sum().backward()


def test_arrays_of_two_libraries_are_refused() -> None:
    with pytest.raises(TypeError, match=r"numpy.*torch"):
        gridsync.dot(torch.ones(3), np.ones(3))
