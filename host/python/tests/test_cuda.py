"""The functions of tensors on a GPU: the bits of the CPU, on the current stream."""

from __future__ import annotations

import pytest

import cases

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

import gridsync  # noqa: E402
import gridsync.torch  # noqa: E402

SHAPES = ((1,), (4099,), (3_000_001,), (5, 7), (2, 3, 257), (1000, 40), (3, 70_000), (0, 5))


@pytest.mark.parametrize("name", [name for name in cases.ALONG if name not in cases.WITHOUT_KERNELS])
def test_bits_are_those_of_the_cpu(name: str) -> None:
    case = cases.ALONG[name]
    for dtype in (dtype for dtype in case.dtypes if cases.has_kernel(name, dtype)):
        for shape in SHAPES:
            x = torch.from_numpy(cases.elements(dtype, shape))
            for axis in range(x.ndim):
                if case.needs_elements and x.shape[axis] == 0:
                    continue
                found = case.function(x.cuda(), axis=axis)
                assert found.is_cuda
                assert found.dtype == case.function(x, axis=axis).dtype
                torch.testing.assert_close(found.cpu(), case.function(x, axis=axis), rtol=0, atol=0)


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


def test_operators_pass_opcheck() -> None:
    x = torch.randn(3, 50, device="cuda", requires_grad=True)
    for operator, arguments in (
        (torch.ops.gridsync.scan, (x, "sum")),
        (torch.ops.gridsync.reduce, (x, "sum")),
        (torch.ops.gridsync.softmax, (x,)),
        (torch.ops.gridsync.sort, (x, False)),
    ):
        torch.library.opcheck(operator.default, arguments)


def test_a_function_without_kernels_is_a_type_error() -> None:
    x = torch.ones(5, device="cuda")
    for call in (gridsync.prod, gridsync.unique_counts, gridsync.any, lambda x: gridsync.topk(x, 2)):
        with pytest.raises(TypeError, match="GPU 0"):
            call(x)


def test_the_current_device_stays_the_same() -> None:
    last = torch.cuda.device_count() - 1
    gridsync.sum(torch.ones(5, device=f"cuda:{last}"))
    assert torch.cuda.current_device() == 0
