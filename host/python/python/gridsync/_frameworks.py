"""The libraries whose arrays the package accepts, each behind the same few methods."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import _native, _rows

Array = Any
"""An array of NumPy or CuPy, or a tensor of torch."""


class Arrays:
    """NumPy, and what CuPy has by the same names."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def prepared(self, x: Array) -> Array:
        """The array in the byte order of the machine, and a scalar as an array."""
        if hasattr(x, "mask"):
            raise TypeError("a masked array has no elements where it is masked: fill it first")
        x = self.library.asarray(x)
        return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))

    def dtype(self, x: Array) -> str:
        """The name of the type of the elements."""
        return str(x.dtype.name)

    def cast(self, x: Array, dtype: str) -> Array:
        """The array with elements of another type, or itself."""
        return x.astype(dtype, copy=False)

    def signed(self, x: Array) -> Array:
        """The array itself, whose elements its library can compare."""
        return x

    def gather(self, x: Array, indices: Array) -> Array:
        """The elements at these indices."""
        return x[indices]

    def contiguous(self, x: Array) -> Array:
        """The array in row-major order, or itself."""
        return self.library.require(x, requirements=["C", "A"])

    def laid_out(self, x: Array) -> tuple[Array, int]:
        """The array in row-major order with its last axis at some place, and that place.

        A copy, with the axis at the end, unless there is such a place.
        """
        for axis in range(x.ndim - 1, -1, -1):
            moved = self.move_back(x, axis)
            if moved.flags.c_contiguous and moved.flags.aligned:
                return moved, axis
        return self.contiguous(x), x.ndim - 1

    def move_last(self, x: Array, axes: Sequence[int]) -> Array:
        """The array with these axes at its end."""
        return self.library.moveaxis(x, axes, range(-len(axes), 0))

    def move_back(self, x: Array, axis: int) -> Array:
        """The array with its last axis at this place."""
        return self.library.moveaxis(x, -1, axis)

    def empty(self, like: Array, shape: Sequence[int], dtype: str) -> Array:
        """A new array on the device of another."""
        return self.library.empty(tuple(shape), dtype=dtype)

    def full(self, like: Array, shape: Sequence[int], dtype: str, value: float) -> Array:
        """A new array of one value on the device of another."""
        return self.library.full(tuple(shape), value, dtype=dtype)

    def array(self, like: Array, values: Sequence[float], dtype: str) -> Array:
        """A new array of these values on the device of another."""
        return self.library.asarray(values, dtype=dtype)

    def concat(self, parts: Sequence[Array]) -> Array:
        """The arrays joined along the last axis."""
        return self.library.concatenate(parts, axis=-1)

    def first(self, x: Array, count: int) -> Array:
        """A copy of the first elements."""
        return x[:count].copy()

    def copy(self, x: Array) -> Array:
        """A contiguous copy."""
        return x.copy(order="C")

    def result(self, x: Array) -> Array:
        """The array that the caller gets: a scalar for one without dimensions, as in NumPy."""
        return x[()]

    def is_on_gpu(self, x: Array) -> bool:
        """Whether kernels compute with the array."""
        return False

    def stream(self, x: Array) -> tuple[int, int]:
        """The handle of the stream on which the caller expects the work, and the number of the allocator."""
        return 0, 0

    def empty_like(self, x: Array) -> Array:
        """A new array of the type and shape of another, on its device."""
        return self.library.empty_like(x)

    def common(self, x: Array, axis: object) -> tuple[int, int] | None:
        """The stream for a call that needs nothing but the compiled function, if it is one."""
        return None

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a compiled function."""
        return function(*arguments)

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a function of `_rows`."""
        return getattr(_rows, name)(self, *arguments)


_KEPT_STREAMS: dict[int, Any] = {}
"""The streams of CuPy that functions have used, by their handles."""


class GpuArrays(Arrays):
    """CuPy."""

    def contiguous(self, x: Array) -> Array:
        """The array in row-major order, or itself."""
        return self.library.ascontiguousarray(x)

    def laid_out(self, x: Array) -> tuple[Array, int]:
        """The array with its last axis at the end, where kernels need it."""
        return self.contiguous(x), x.ndim - 1

    def is_on_gpu(self, x: Array) -> bool:
        """Whether kernels compute with the array."""
        return True

    def stream(self, x: Array) -> tuple[int, int]:
        """The handle of the current stream, and the number of the allocator."""
        current = self.library.cuda.get_current_stream()
        if current.ptr != 0:
            # The plans for it are kept until the program ends, so CuPy must not destroy it before.
            _KEPT_STREAMS.setdefault(current.ptr, current)
        return current.ptr, _cupy_allocator(self.library)


_NAMES: dict[Any, str] = {}
"""The name of each type of torch so far."""


class Tensors:
    """torch."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def prepared(self, x: Array) -> Array:
        """The tensor itself."""
        return x

    def dtype(self, x: Array) -> str:
        """The name of the type of the elements."""
        found = _NAMES.get(x.dtype)
        if found is None:
            found = _NAMES[x.dtype] = str(x.dtype).removeprefix("torch.")
        return found

    def cast(self, x: Array, dtype: str) -> Array:
        """The tensor with elements of another type, or itself."""
        wanted = getattr(self.library, dtype)
        return x if x.dtype == wanted else x.to(wanted)

    def signed(self, x: Array) -> Array:
        """Unsigned integers as signed ones of the same bits, for which torch has more kernels."""
        dtype = self.dtype(x)
        return x.view(getattr(self.library, dtype[1:])) if dtype in ("uint16", "uint32", "uint64") else x

    def gather(self, x: Array, indices: Array) -> Array:
        """The elements at these indices."""
        bits = self.signed(x)
        found = bits[indices]
        return found if bits is x else found.view(x.dtype)

    def contiguous(self, x: Array) -> Array:
        """The tensor in row-major order, or itself."""
        return x.contiguous()

    def laid_out(self, x: Array) -> tuple[Array, int]:
        """The tensor in row-major order with its last axis at some place, and that place.

        A copy, with the axis at the end, unless there is such a place. Kernels need it there.
        """
        if x.is_contiguous():
            return x, x.ndim - 1
        for axis in range(x.ndim - 1, -1, -1):
            moved = self.move_back(x, axis)
            if moved.is_contiguous():
                return moved, axis
            if x.is_cuda:
                break
        return self.contiguous(x), x.ndim - 1

    def move_last(self, x: Array, axes: Sequence[int]) -> Array:
        """The tensor with these axes at its end."""
        if tuple(axes) == tuple(range(x.ndim - len(axes), x.ndim)):
            return x
        return x.movedim(tuple(axes), tuple(range(-len(axes), 0)))

    def move_back(self, x: Array, axis: int) -> Array:
        """The tensor with its last axis at this place."""
        return x if axis == x.ndim - 1 else x.movedim(-1, axis)

    def empty(self, like: Array, shape: Sequence[int], dtype: str) -> Array:
        """A new tensor on the device of another."""
        return like.new_empty(tuple(shape), dtype=getattr(self.library, dtype))

    def full(self, like: Array, shape: Sequence[int], dtype: str, value: float) -> Array:
        """A new tensor of one value on the device of another."""
        return like.new_full(tuple(shape), value, dtype=getattr(self.library, dtype))

    def array(self, like: Array, values: Sequence[float], dtype: str) -> Array:
        """A new tensor of these values on the device of another."""
        return like.new_tensor(values, dtype=getattr(self.library, dtype))

    def concat(self, parts: Sequence[Array]) -> Array:
        """The tensors joined along the last axis."""
        return self.library.cat(tuple(parts), dim=-1)

    def first(self, x: Array, count: int) -> Array:
        """The first elements: a copy if most of the memory would be unused."""
        return x[:count] if 4 * count >= len(x) else x[:count].clone()

    def copy(self, x: Array) -> Array:
        """A contiguous copy."""
        return x.clone(memory_format=self.library.contiguous_format)

    def result(self, x: Array) -> Array:
        """The tensor that the caller gets."""
        return x

    def is_on_gpu(self, x: Array) -> bool:
        """Whether kernels compute with the tensor."""
        return bool(x.is_cuda)

    def stream(self, x: Array) -> tuple[int, int]:
        """The handle of the stream on which the caller expects the work, and the number of the allocator."""
        if not x.is_cuda:
            return 0, 0
        # What torch.cuda.current_stream(x.device).cuda_stream is, in a tenth of the time.
        return self.library._C._cuda_getCurrentRawStream(x.device.index), _torch_allocator(self.library)

    def empty_like(self, x: Array) -> Array:
        """A new tensor of the type and shape of another, on its device."""
        return self.library.empty_like(x)

    def common(self, x: Array, axis: object) -> tuple[int, int] | None:
        """The stream for a call that needs nothing but the compiled function, if it is one."""
        if not x.is_cuda or x.requires_grad:
            return None
        from . import torch as registered

        if not (registered.are_plain((x,)) and x.is_contiguous()):
            return None
        dimensions = x.ndim
        is_last = axis in (-1, dimensions - 1) if axis is not None else dimensions == 1
        if dimensions == 0 or not is_last or x.numel() == 0:
            return None
        gpu = x.get_device()
        if gpu != self.library._C._cuda_getDevice():
            return None
        return self.library._C._cuda_getCurrentRawStream(gpu), _torch_allocator(self.library)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a compiled function with tensors that need no gradient, as DLPack wants them."""
        torch = self.library
        plain, gpu = [], None
        for argument in arguments:
            if isinstance(argument, torch.Tensor):
                if argument.requires_grad:
                    argument = argument.detach()
                gpu = argument.device.index if argument.is_cuda else gpu
            plain.append(argument)
        if gpu is None or gpu == torch._C._cuda_getDevice():
            return function(*plain)
        # The compiled function makes the context of its GPU current, and this the one before again.
        with torch.cuda.device(gpu):
            return function(*plain)

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls an operator of torch, which has gradients, or what it does, if that is all that is needed."""
        from . import torch as registered

        if registered.are_plain(arguments):
            return getattr(_rows, name)(self, *arguments)
        return getattr(self.library.ops.gridsync, name)(*arguments)


@functools.cache
def _torch_allocator(torch: Any) -> int:
    """The number of torch's caching allocator, for working memory."""

    def allocate(count: int, gpu: int) -> tuple[int, Array]:
        memory = torch.empty(count, dtype=torch.uint8, device=f"cuda:{gpu}")
        return memory.data_ptr(), memory

    return _native.register_allocator(allocate)


@functools.cache
def _cupy_allocator(cupy: Any) -> int:
    """The number of CuPy's pool, for working memory."""

    def allocate(count: int, gpu: int) -> tuple[int, Array]:
        with cupy.cuda.Device(gpu):
            memory = cupy.empty(count, dtype="uint8")
        return memory.data.ptr, memory

    return _native.register_allocator(allocate)


Framework = Arrays | Tensors

_KINDS = (
    ("numpy", ("ndarray", "generic"), Arrays),
    ("torch", ("Tensor",), Tensors),
    ("cupy", ("ndarray",), GpuArrays),
)


_FOUND: dict[type, Framework] = {}
"""The library of each type of array so far."""


def framework_of(x: Array) -> Framework:
    """The library of an array. One that the program has not imported has made none."""
    found = _FOUND.get(type(x))
    if found is None:
        found = _FOUND[type(x)] = _library_of(x)
    return found


def _library_of(x: Array) -> Framework:
    for name, types, kind in _KINDS:
        library = sys.modules.get(name)
        if library is not None and isinstance(x, tuple(getattr(library, t) for t in types)):
            return kind(library)
    raise TypeError(f"expected an array of NumPy or CuPy, or a tensor of torch, got {type(x).__qualname__}")
