"""The functions of tensors on a GPU: the bits of the CPU, on the current stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cases

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

import gridsync  # noqa: E402
import gridsync.torch  # noqa: E402

SHAPES = ((1,), (4099,), (3_000_001,), (5, 7), (2, 3, 257), (1000, 40), (3, 70_000), (0, 5))


def expect_same(found: Any, expected: Any) -> None:
    assert found.is_cuda
    cases.expect_same_bits(found.cpu().numpy(), expected)


@pytest.mark.parametrize("name", cases.ALONG)
def test_bits_are_those_of_the_cpu(name: str) -> None:
    function = cases.ALONG[name].function
    for x, axis in cases.on_a_gpu(name, SHAPES):
        expect_same(function(torch.from_numpy(x).cuda(), axis=axis), function(x, axis=axis))


@pytest.mark.parametrize("name", cases.WHOLE)
def test_bits_of_other_functions_are_those_of_the_cpu(name: str) -> None:
    case = cases.WHOLE[name]
    for dtype in case.dtypes:
        for count in (5, 4099, 1_100_001):
            arguments = case.arguments(dtype, count)
            expected = case.function(*arguments)
            found = case.function(*(torch.from_numpy(each).cuda() for each in arguments))
            for each, other in zip(found, expected, strict=True):
                expect_same(each, other)


def test_bfloat16_has_the_bits_of_the_cpu() -> None:
    x = torch.from_numpy(cases.elements("float32", (5, 900))).bfloat16()
    offsets = torch.tensor([0, 40, 40, 900])
    for call in (
        lambda x: gridsync.cumulative_sum(x, axis=1),
        lambda x: gridsync.cumulative_max(x, axis=0),
        lambda x: gridsync.cumulative_prod(x, axis=1),
        lambda x: gridsync.prod(x, axis=1),
        lambda x: gridsync.any(x, axis=1),
        lambda x: gridsync.topk(x, 7).values,
        lambda x: gridsync.quantile(x, 0.3, axis=1),
        lambda x: gridsync.unique_counts(x).counts,
        lambda x: gridsync.histogram(x, 9).counts,
        lambda x: gridsync.select(x, 0.0, 0.5).indices,
        lambda x: gridsync.segment_sum(x[0], offsets.to(x.device)),
        lambda x: gridsync.dot(x[0], x[1]),
    ):
        assert torch.equal(call(x.cuda()).cpu(), call(x))


@pytest.mark.parametrize("name", cases.WHOLE)
def test_other_functions_are_in_the_order_of_the_current_stream(name: str) -> None:
    case = cases.WHOLE[name]
    arguments = case.arguments("float32", 100_000)
    expected = case.function(*arguments)
    for _ in range(3):
        stream = torch.cuda.Stream()
        given = [torch.from_numpy(each).cuda() for each in arguments]
        with torch.cuda.stream(stream):
            late = [torch.zeros_like(each) for each in given]
            torch.cuda._sleep(20_000_000)
            for to, each in zip(late, given, strict=True):
                to.copy_(each, non_blocking=True)
            found = case.function(*late)
            for to in late:
                to.zero_()
        stream.synchronize()
        for each, other in zip(found, expected, strict=True):
            expect_same(each, np.asarray(other))


def test_work_is_in_the_order_of_the_current_stream() -> None:
    x = torch.randn(1 << 22)
    for _ in range(20):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            late = torch.zeros(1 << 22, device="cuda")
            torch.cuda._sleep(20_000_000)
            late.copy_(x.cuda(), non_blocking=True)
            sums, order = gridsync.cumulative_sum(late), gridsync.sort(late)
            late.zero_()
        stream.synchronize()
        assert torch.equal(sums.cpu(), gridsync.cumulative_sum(x))
        assert torch.equal(order.cpu(), gridsync.sort(x))


def test_a_part_at_any_address_is_accepted() -> None:
    x = torch.randn(10_007)
    for start in range(1, 9):
        assert torch.equal(gridsync.sort(x.cuda()[start:]).cpu(), gridsync.sort(x[start:]))
        assert torch.equal(gridsync.sum(x.cuda()[start:]).cpu(), gridsync.sum(x[start:]))


def test_gradients_have_the_bits_of_the_cpu() -> None:
    grads = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        x = torch.randn(64, 500).to(device).requires_grad_()
        gridsync.cumulative_sum(gridsync.sort(x), axis=1).square().sum().backward()
        grads.append(x.grad.cpu())
    assert torch.equal(*grads)


def test_gradients_of_selections_have_the_bits_of_the_cpu() -> None:
    offsets, indices = torch.tensor([0, 3, 50, 500]), torch.arange(500) % 9
    for function in (
        lambda x: gridsync.topk(x, 7).values,
        lambda x: gridsync.kth_value(x, 7).values,
        lambda x: gridsync.select(x, 0.0, 0.5).values,
        lambda x: gridsync.segment_sum(x, offsets.to(x.device)),
        lambda x: gridsync.scatter_sum(x[:9], indices.to(x.device), x),
        lambda x: gridsync.dot(x, x),
    ):
        grads = []
        for device in ("cpu", "cuda"):
            torch.manual_seed(0)
            x = torch.randn(500).to(device).requires_grad_()
            function(x).square().sum().backward()
            grads.append(x.grad.cpu())
        assert torch.equal(*grads)


def test_operators_pass_opcheck() -> None:
    x = torch.randn(3, 50, device="cuda", requires_grad=True)
    plain = x.detach()
    flat = plain.reshape(-1)
    for operator, arguments in (
        (torch.ops.gridsync.scan, (x, "sum")),
        (torch.ops.gridsync.reduce, (x, "sum")),
        (torch.ops.gridsync.reduce, (plain, "any")),
        (torch.ops.gridsync.softmax, (x,)),
        (torch.ops.gridsync.sort, (x, False)),
        (torch.ops.gridsync.topk, (x, 3, True)),
        (torch.ops.gridsync.kth_value, (x, 3)),
        (torch.ops.gridsync.quantile, (plain, [0.5, 0.9], "linear")),
        (torch.ops.gridsync.dot, (flat, flat)),
        (torch.ops.gridsync.segment_sum, (flat.half(), torch.tensor([0, 70, 150], device="cuda"))),
        (torch.ops.gridsync.scatter_sum, (flat.int(), torch.arange(150, device="cuda"), flat.int())),
        (torch.ops.gridsync.histogram, (flat, [0.0, 1.0, 5.0], True, None)),
        (torch.ops.gridsync.searchsorted, (flat.sort().values, plain, False)),
        (torch.ops.gridsync.unique, (flat.to(torch.int8),)),
        (torch.ops.gridsync.select, (flat, 0.1, None)),
    ):
        torch.library.opcheck(operator.default, arguments)


def test_functions_compile_in_one_graph() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        ordered = gridsync.sort(x, descending=True)
        return gridsync.softmax(gridsync.cumulative_sum(ordered, axis=-1)) + gridsync.sum(x)

    x = torch.linspace(-1, 2, 5000, device="cuda").reshape(5, 1000)
    found = torch.compile(function, backend="aot_eager", fullgraph=True)(x)
    expect_same(found, function(x).cpu().numpy())


def test_a_tensor_that_needs_a_gradient_is_accepted_without_gradients() -> None:
    x = torch.linspace(-1, 2, 5000, device="cuda").reshape(5, 1000)
    for call in (gridsync.cumulative_max, gridsync.argsort):
        with torch.no_grad():
            expect_same(call(x.clone().requires_grad_(), axis=-1), call(x, axis=-1).cpu().numpy())


def test_what_no_kernel_has_is_a_type_error() -> None:
    rows = torch.ones(65, 2, dtype=torch.int64, device="cuda")
    with pytest.raises(TypeError, match="65 rows on a GPU"):
        gridsync.mean(rows, axis=1)


def test_wrong_arguments_are_the_errors_of_the_cpu() -> None:
    x = torch.arange(5.0, device="cuda")
    for index in (-1, 5):
        with pytest.raises(IndexError, match=f"index {index} is not in"):
            gridsync.scatter_sum(x, torch.tensor([1, index], device="cuda"), x[:2])
    with pytest.raises(ValueError, match="the last offset is 3"):
        gridsync.segment_sum(x, torch.tensor([0, 3], device="cuda"))
    with pytest.raises(TypeError, match="on GPU 0 and one in host memory"):
        gridsync.dot(x, x.cpu())


def test_the_current_device_stays_the_same() -> None:
    last = torch.cuda.device_count() - 1
    gridsync.sum(torch.ones(5, device=f"cuda:{last}"))
    assert torch.cuda.current_device() == 0


def in_a_graph(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (
        gridsync.cumulative_sum(x),
        gridsync.cumulative_max(x.reshape(1000, -1), axis=1),
        gridsync.sum(x),
        gridsync.var(x.reshape(1000, -1), axis=1),
        gridsync.argmax(x.reshape(1000, -1), axis=1),
        gridsync.softmax(x.reshape(1000, -1)),
        gridsync.sort(x),
        gridsync.argsort(x.reshape(1000, -1), axis=1),
        gridsync.searchsorted(gridsync.sort(x[:5000]), x.reshape(1000, -1), side="right"),
        *gridsync.topk(x.reshape(1000, -1), 5, axis=1),
        gridsync.any(x.reshape(1000, -1), axis=1),
    )


def test_a_graph_replays_the_functions() -> None:
    x = torch.randn(1_100_000, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = in_a_graph(x)
    for scale in (1.0, 2.0, 3.0):
        x.copy_(torch.randn(len(x)) * scale)
        # Plans outside the graph grow and are replaced.
        in_a_graph(torch.randn(3_300_000, device="cuda"))
        graph.replay()
        for found, expected in zip(captured, in_a_graph(x), strict=True):
            assert torch.equal(found, expected)


def test_a_row_has_the_same_bits_in_any_batch() -> None:
    x = torch.randn(4096, 1000, device="cuda", dtype=torch.bfloat16)
    for function in (
        lambda x: gridsync.sum(x, axis=1),
        lambda x: gridsync.mean(x.float(), axis=1),
        lambda x: gridsync.logsumexp(x, axis=1),
        lambda x: gridsync.softmax(x),
        gridsync.torch.rms_norm,
        lambda x: gridsync.topk(x, 8).indices,
        lambda x: gridsync.cumulative_sum(x, axis=1),
        lambda x: gridsync.cumulative_prod(1 + x / 100, axis=1),
        lambda x: gridsync.cumulative_max(x, axis=1),
    ):
        whole = function(x)
        for rows in (1, 2, 3, 255, 256, 257, 1024, 4096):
            assert torch.equal(function(x[:rows]), whole[:rows])
            assert torch.equal(function(x[-rows:]), whole[-rows:])


def test_a_hundred_runs_have_the_same_bits() -> None:
    x = torch.randn(3_300_000, device="cuda")
    first = in_a_graph(x)
    for _ in range(100):
        for found, expected in zip(in_a_graph(x), first, strict=True):
            assert torch.equal(found, expected)


def test_memory_comes_from_torch() -> None:
    x = torch.randn(1 << 24, device="cuda")
    torch.cuda.synchronize()
    free, _ = torch.cuda.mem_get_info()
    reserved = torch.cuda.memory_reserved()
    for _ in range(5):
        gridsync.sort(x)
        gridsync.cumulative_sum(x)
    torch.cuda.synchronize()
    taken = free - torch.cuda.mem_get_info()[0]
    assert taken <= torch.cuda.memory_reserved() - reserved + (32 << 20)
