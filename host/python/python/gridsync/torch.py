"""The operators `torch.ops.gridsync`, over the last axis: with gradients, vmap and torch.compile.

The functions of `gridsync` call them for tensors, so most programs need only those, and `rms_norm`.
Gradients are computed in a fixed order too. That of an extreme is given to the first element with its value.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.autograd import forward_ad

from . import _along, _native, _rows
from ._frameworks import Tensors

_SCHEMAS = {
    "reduce": "(Tensor x, str op, int correction=0) -> Tensor",
    "scan": "(Tensor x, str op) -> Tensor",
    "softmax": "(Tensor x) -> Tensor",
    "sort": "(Tensor x, bool descending) -> Tensor",
    "argsort": "(Tensor x, bool descending) -> Tensor",
    "topk": "(Tensor x, SymInt k, bool largest) -> (Tensor, Tensor)",
    "kth_value": "(Tensor x, SymInt k) -> (Tensor, Tensor)",
    "quantile": "(Tensor x, float[] q, str method) -> Tensor",
    "dot": "(Tensor x, Tensor y) -> Tensor",
    "searchsorted": "(Tensor x1, Tensor x2, bool right) -> Tensor",
    "segment_sum": "(Tensor x, Tensor offsets) -> Tensor",
    "scatter_sum": "(Tensor into, Tensor indices, Tensor values) -> Tensor",
    "histogram": "(Tensor x, float[] bins, bool is_even, Tensor? weights) -> (Tensor, Tensor)",
    "unique": "(Tensor x) -> (Tensor, Tensor)",
    "select": "(Tensor x, Scalar? low, Scalar? high) -> (Tensor, Tensor)",
}

_OF_ROWS = ("reduce", "scan", "softmax", "sort", "argsort", "topk", "kth_value", "quantile")


class _Fakes(Tensors):
    """Tensors of which only the shapes are known, by which torch.compile traces."""

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Computes nothing. A number of results that depends on the elements is a new symbol."""
        is_counted = function in (_native.unique, _native.select)
        return torch.library.get_ctx().new_dynamic_size() if is_counted else None

    def stream(self, x: torch.Tensor) -> tuple[int, int]:
        """None is used."""
        return 0, 0

    def first(self, x: torch.Tensor, count: int) -> torch.Tensor:
        """As many elements as the symbol."""
        return x.new_empty((count,))


def are_plain(arguments: Sequence[Any]) -> bool:
    """Whether no tensor of the arguments needs a gradient, a batch dimension or a trace.

    Then the dispatcher of torch has nothing to do, and takes longer than a small kernel.
    """
    if torch.compiler.is_compiling():
        return False
    with_gradients = torch.is_grad_enabled()
    for argument in arguments:
        if isinstance(argument, torch.Tensor) and (
            type(argument) is not torch.Tensor or (with_gradients and argument.requires_grad)
        ):
            return False
    return not (
        torch._C._len_torch_dispatch_stack()
        or torch._C._len_torch_function_stack()
        or torch._C._functorch.peek_interpreter_stack()
        or torch._C._get_tracing_state()
        or forward_ad._current_level >= 0
    )


def rms_norm(x: torch.Tensor, weight: torch.Tensor | None = None, eps: float = 1e-6) -> torch.Tensor:
    """`x` divided by the root of the mean square of its row, times `weight`. Computed in at least float32.

    The bits of a row do not depend on other rows.
    """
    wide = x if x.dtype == torch.float64 else x.float()
    squares = _along.sum_squares(wide, axis=-1, keepdims=True) / x.shape[-1]
    normal = (wide * torch.rsqrt(squares + eps)).to(x.dtype)
    return normal if weight is None else normal * weight


@contextlib.contextmanager
def patch() -> Iterator[None]:
    """Within it, some functions of torch are those of this package.

    They are `cumsum`, `cummax`, `cummin`, `softmax`, `sort`, `topk`, and sums along dimensions.

    Their gradients stay those of torch, and use the same ones.
    """
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        # torch warns of an operator that has two implementations.
        warnings.simplefilter("ignore", UserWarning)
        for name, function in _PATCHED.items():
            for key in ("CPU", "CUDA"):
                library.impl(name, function, key)
    try:
        yield
    finally:
        library._destroy()


def _cumsum(x: torch.Tensor, dim: int, *, dtype: torch.dtype | None = None) -> torch.Tensor:
    found = _along.cumulative_sum(x, axis=dim if x.ndim else None, dtype=dtype)
    return found.reshape(x.shape).contiguous()


def _softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    rows = torch.atleast_1d(x.float() if half_to_float else x)
    return _along.softmax(rows, axis=dim).reshape(x.shape).contiguous()


def _sum(
    x: torch.Tensor, dim: Sequence[int] | None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> torch.Tensor:
    return _along.sum(x, axis=dim or None, keepdims=keepdim, dtype=dtype)


def _extreme_so_far(
    function: Callable[..., torch.Tensor], x: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    rows = torch.atleast_1d(x)
    values = function(rows, axis=dim)
    at = torch.arange(rows.shape[dim], device=x.device)
    at = at.reshape([-1 if axis == dim % rows.ndim else 1 for axis in range(rows.ndim)])
    # Of equal elements, and of NaN, the last one counts.
    is_new = (rows == values) | (rows != rows)
    indices = _along.cumulative_max(torch.where(is_new, at, 0), axis=dim)
    return values.reshape(x.shape).contiguous(), indices.reshape(x.shape).contiguous()


def _sort(
    x: torch.Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    rows = torch.atleast_1d(x)
    indices = _along.argsort(rows, axis=dim, descending=descending)
    return rows.gather(dim, indices).reshape(x.shape), indices.reshape(x.shape).contiguous()


def _topk(
    x: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    found = _along.topk(torch.atleast_1d(x), k, axis=dim, largest=largest)
    shape = found.values.shape if x.ndim else ()
    return found.values.reshape(shape).contiguous(), found.indices.reshape(shape).contiguous()


_PATCHED: dict[str, Callable[..., Any]] = {
    "_softmax": _softmax,
    "cummax": functools.partial(_extreme_so_far, _along.cumulative_max),
    "cummin": functools.partial(_extreme_so_far, _along.cumulative_min),
    "cumsum": _cumsum,
    "sort.stable": _sort,
    "sum.dim_IntList": _sum,
    "topk": _topk,
}


def _first_extreme(x: torch.Tensor, op: str, grad: torch.Tensor) -> torch.Tensor:
    index = torch.ops.gridsync.reduce(x, f"arg{op}")
    return torch.zeros_like(x).scatter(-1, index.unsqueeze(-1), grad)


def _others(x: torch.Tensor) -> torch.Tensor:
    """For each element, the product of all others of its row: of those before and those after."""

    def before(x: torch.Tensor) -> torch.Tensor:
        products = torch.ops.gridsync.scan(x, "prod")[..., :-1]
        return torch.cat([torch.ones_like(x[..., :1]), products], dim=-1)

    return before(x) * before(x.flip(-1)).flip(-1)


def _of_reduce(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    (x, out), op, grad = ctx.saved_tensors, ctx.inputs[1], grad.unsqueeze(-1)
    freedom = x.shape[-1] - ctx.inputs[2]
    if op == "sum":
        return grad.expand(x.shape)
    if op == "mean":
        return (grad / x.shape[-1]).expand(x.shape)
    if op == "prod":
        return grad * _others(x)
    if op == "sum_squares":
        return 2 * grad * x
    if op == "logsumexp":
        return grad * torch.ops.gridsync.softmax(x)
    if op in ("max", "min"):
        return _first_extreme(x, op, grad)
    from_mean = x - torch.ops.gridsync.reduce(x, "mean").unsqueeze(-1)
    if op == "var":
        return grad * (2 / freedom) * from_mean
    return grad * from_mean / (freedom * out.unsqueeze(-1))


def _of_scan(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    (x, out), op = ctx.saved_tensors, ctx.inputs[1]
    if op == "sum":
        return torch.ops.gridsync.scan(grad.flip(-1), "sum").flip(-1)
    if op == "prod":
        raise NotImplementedError("cumulative_prod has no gradient: use torch.cumprod for one")
    # The extreme so far is that of the last element that changed it.
    changes = (out[..., 1:] != out[..., :-1]) & ~(out[..., 1:].isnan() & out[..., :-1].isnan())
    at = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    starts = torch.cat([at[..., :1], at[..., 1:] * changes], dim=-1)
    starts = torch.ops.gridsync.scan(starts, "max").reshape(-1)
    zeros = grad.new_zeros(x.numel())
    return torch.ops.gridsync.scatter_sum(zeros, starts, grad.reshape(-1)).reshape(x.shape)


def _of_softmax(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    _, out = ctx.saved_tensors
    return out * (grad - torch.ops.gridsync.reduce(out * grad, "sum").unsqueeze(-1))


def _of_sort(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    x, _ = ctx.saved_tensors
    indices = torch.ops.gridsync.argsort(x, ctx.inputs[1])
    return torch.zeros_like(x).scatter(-1, indices, grad)


def _of_topk(ctx: Any, grad: torch.Tensor, _: Any) -> torch.Tensor:
    x, _, indices = ctx.saved_tensors
    return torch.zeros_like(x).scatter(-1, indices, grad)


def _of_kth_value(ctx: Any, grad: torch.Tensor, _: Any) -> torch.Tensor:
    x, _, index = ctx.saved_tensors
    return torch.zeros_like(x).scatter(-1, index.unsqueeze(-1), grad.unsqueeze(-1))


def _of_dot(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    x, y, _ = ctx.saved_tensors
    return grad * y, grad * x


def _of_segment_sum(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    x, offsets, _ = ctx.saved_tensors
    return torch.repeat_interleave(grad, offsets.diff(), output_size=x.shape[0])


def _of_scatter_sum(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
    _, indices, _, _ = ctx.saved_tensors
    return grad, None, grad[indices]


def _of_select(ctx: Any, grad: torch.Tensor, _: Any) -> torch.Tensor:
    x, _, indices = ctx.saved_tensors
    return torch.zeros_like(x).scatter(-1, indices, grad)


_GRADIENTS: dict[str, Callable[..., Any]] = {
    "reduce": _of_reduce,
    "scan": _of_scan,
    "softmax": _of_softmax,
    "sort": _of_sort,
    "topk": _of_topk,
    "kth_value": _of_kth_value,
    "dot": _of_dot,
    "segment_sum": _of_segment_sum,
    "scatter_sum": _of_scatter_sum,
    "select": _of_select,
}


def _save(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    outputs = output if isinstance(output, tuple) else (output,)
    ctx.save_for_backward(*(each for each in (*inputs, *outputs) if isinstance(each, torch.Tensor)))
    ctx.inputs = tuple(None if isinstance(each, torch.Tensor) else each for each in inputs)


def _gradient(function: Callable[..., Any], ctx: Any, *grads: torch.Tensor) -> tuple[Any, ...]:
    """The gradients of all inputs, of which those after the ones that `function` returns have none."""
    found = function(ctx, *grads)
    found = found if isinstance(found, tuple) else (found,)
    return (*found, *(None for _ in ctx.inputs[len(found) :]))


def _batched(operator: Any, info: Any, dims: tuple[Any, ...], x: torch.Tensor, *rest: Any) -> tuple[Any, Any]:
    """The rows of a batch are more rows."""
    out = operator(x.movedim(dims[0], 0), *rest)
    return out, tuple(0 for _ in out) if isinstance(out, tuple) else 0


def _batched_values(
    info: Any, dims: tuple[Any, ...], x1: torch.Tensor, x2: torch.Tensor, right: bool
) -> tuple[torch.Tensor, int]:
    """The values of a batch are more values, unless each has an array of its own."""
    operator, (of_x1, of_x2, _) = torch.ops.gridsync.searchsorted, dims
    if of_x1 is None:
        return operator(x1, x2.movedim(of_x2, 0), right), 0
    each = range(info.batch_size)
    values = [x2 if of_x2 is None else x2.select(of_x2, at) for at in each]
    return torch.stack([operator(x1.select(of_x1, at), values[at], right) for at in each]), 0


def _register(library: torch.library.Library, name: str) -> None:
    full, function = f"gridsync::{name}", getattr(_rows, name)
    library.define(name + _SCHEMAS[name])
    for key in ("CPU", "CUDA"):
        library.impl(name, functools.partial(function, Tensors(torch)), key)
    torch.library.register_fake(full, functools.partial(function, _Fakes(torch)), lib=library)
    if name in _GRADIENTS:
        gradient = functools.partial(_gradient, _GRADIENTS[name])
        torch.library.register_autograd(full, gradient, setup_context=_save, lib=library)
    if name in _OF_ROWS:
        operator = getattr(torch.ops.gridsync, name)
        torch.library.register_vmap(full, functools.partial(_batched, operator), lib=library)
    if name == "searchsorted":
        torch.library.register_vmap(full, _batched_values, lib=library)


_LIBRARY = torch.library.Library("gridsync", "DEF")
for _name in _SCHEMAS:
    _register(_LIBRARY, _name)
