"""PyTorch or CuPy as a peer of gridsync's sorts, ranks, histograms, reductions, scans and softmaxes, measured
by the same rules as the peers in CUDA C++ (throughput.cuh). The results are not checked.

    echo "keys f32 torch.sort 1048576 256 2000" | python3 libraries.py torch AT_LEAST AT_MOST UNCERTAINTY

The mode is the call, and the number of bins where there are bins: "torch.histc_256". The elements are those
of the other peers. Calls in a row are captured in a graph, unless they wait for the GPU.

It prints the version of the library first.
"""

import math
import sys

import numpy

import peer

# An input repeats after this many elements.
PERIOD = 1 << 24
# The most replays in a sample.
MOST_REPLAYS = 1 << 12
# How many times its size is read to empty the L2.
EVICTED_BY = 4

DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32", "u32": "uint32", "u64": "uint64"}

# The integers of a histogram of numbers.
NUMBERS = 2048

# The most elements that a call accepts.
MOST = {"torch.quantile": 1 << 24, "torch.dot": (1 << 31) - 1}

# The operations on small integers, besides softmax.
ON_SMALL = ("sum", "min", "max", "var", "lse", "dot")

def waits(name, op):
    """Whether the call waits for the GPU, so that a graph cannot capture it: for the greatest element, or
    for the order of the edges."""
    return name.endswith(".bincount") or (name, op) == ("cupy.histogram", "edges")


def keys(dtype, i):
    """Keys of which every digit differs. Floats are neither infinite nor NaN: a bit of the exponent is 0."""
    bits = peer.hashed(2 * i)
    if dtype.endswith("64"):
        bits = bits.astype("uint64") | peer.hashed(2 * i + 1).astype("uint64") << numpy.uint64(32)
    if dtype.startswith("f"):
        bits &= ~bits.dtype.type(1 << (8 * bits.itemsize - 2))
    return bits.view(DTYPES[dtype])


def small(dtype, i):
    """Integers from -8, or from 0 if they are unsigned."""
    integers = (peer.hashed(i) % 16).astype("int64") - (0 if dtype.startswith("u") else 8)
    return integers.astype(DTYPES[dtype])


def period(op, dtype, n):
    """The first of the `n` elements of an input, PERIOD at most."""
    i = numpy.arange(min(n, PERIOD), dtype="uint32")
    if op in ON_SMALL or op.startswith("softmax-"):
        return small(dtype, i)
    if op in ("even", "edges"):
        return (peer.hashed(2 * i) >> 8).astype("float32") / numpy.float32(1 << 24)
    if op == "numbers":
        # torch.bincount does not count u32.
        return (peer.hashed(2 * i) % NUMBERS).astype("int32")
    if op == "bytes":
        return peer.hashed(2 * i).astype("uint8")
    return keys(dtype, i)


class Torch:
    """PyTorch's device, stream and calls."""

    def __init__(self):
        import torch

        if not torch.cuda.is_available():
            # 1 would be a wrong result.
            print(f"torch {torch.__version__} finds no GPU", file=sys.stderr)
            sys.exit(3)
        self.torch, self.version = torch, torch.__version__
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        self.l2 = torch.cuda.get_device_properties(0).L2_cache_size
        self.out_of_memory = torch.cuda.OutOfMemoryError

    def upload(self, elements):
        return self.torch.from_numpy(elements).cuda()

    def repeat(self, first, n):
        """`first`, repeated up to `n` elements."""
        out = self.torch.empty(n, dtype=first.dtype, device="cuda")
        for at in range(0, n, len(first)):
            part = out[at : at + len(first)]
            part.copy_(first[: len(part)])
        return out

    def event(self):
        return self.torch.cuda.Event(enable_timing=True)

    def us(self, start, stop):
        return 1e3 * start.elapsed_time(stop)

    def capture(self, work):
        """A function that replays `work()`, which returns its results."""
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph, stream=self.stream):
            results = work()
        # The results live as long as the function, so that no two calls share memory.
        return lambda: graph.replay() or results

    def forget(self):
        self.torch.cuda.empty_cache()

    def call(self, name, _op, n, number):
        """The function of an array that is measured, or None."""
        torch = self.torch
        if n > MOST.get(name, n):
            peer.note(f"{name} accepts {MOST[name]} elements, not {n}")
            return None
        return {
            "torch.sort": lambda x: torch.sort(x, dim=-1, stable=True),
            "torch.argsort": lambda x: torch.argsort(x, stable=True),
            "torch.topk": lambda x: torch.topk(x, number),
            "torch.kthvalue": lambda x: torch.kthvalue(x, n // 4 + 1),
            "torch.median": torch.median,
            "torch.quantile": lambda x: torch.quantile(x, 0.5),
            "torch.histc": lambda x: torch.histc(x, bins=number, min=0, max=1),
            "torch.bincount": lambda x: torch.bincount(x, minlength=number),
            "torch.sum": torch.sum,
            "torch.amin": torch.amin,
            "torch.amax": torch.amax,
            "torch.logsumexp": lambda x: torch.logsumexp(x, 0),
            "torch.var": torch.var,
            # Both arrays are in one.
            "torch.dot": lambda x: torch.dot(x[:n], x[n:]),
            "torch.softmax": lambda x: torch.softmax(x, dim=-1),
            "torch.cumsum": lambda x: torch.cumsum(x, -1, dtype=x.dtype),
        }.get(name)


class Cupy:
    """CuPy's device, stream and calls."""

    def __init__(self):
        import cupy

        self.cupy, self.version = cupy, cupy.__version__
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.stream.use()
        self.l2 = cupy.cuda.Device().attributes["L2CacheSize"]
        self.out_of_memory = cupy.cuda.memory.OutOfMemoryError

    def upload(self, elements):
        return self.cupy.asarray(elements)

    def repeat(self, first, n):
        """`first`, repeated up to `n` elements."""
        out = self.cupy.empty(n, dtype=first.dtype)
        for at in range(0, n, len(first)):
            part = out[at : at + len(first)]
            part[:] = first[: len(part)]
        return out

    def event(self):
        return self.cupy.cuda.Event()

    def us(self, start, stop):
        return 1e3 * self.cupy.cuda.get_elapsed_time(start, stop)

    def capture(self, work):
        """A function that replays `work()`, which returns its results."""
        self.stream.begin_capture()
        try:
            results = work()
        finally:
            graph = self.stream.end_capture()
        return lambda: graph.launch(self.stream) or results

    def forget(self):
        self.cupy.get_default_memory_pool().free_all_blocks()

    def call(self, name, op, n, number):
        """The function of an array that is measured, or None."""
        cupy = self.cupy
        bins = number
        if op == "edges":
            bins = cupy.asarray((numpy.arange(number + 1) / number) ** 2, dtype="float32")
        return {
            "cupy.sort": lambda x: cupy.sort(x, axis=-1),
            "cupy.argsort": cupy.argsort,
            "cupy.partition": lambda x: cupy.partition(x, n // 4),
            "cupy.histogram": lambda x: cupy.histogram(x, bins=bins, range=(0, 1)),
            "cupy.bincount": lambda x: cupy.bincount(x, minlength=number),
            "cupy.sum": cupy.sum,
            "cupy.amin": cupy.amin,
            "cupy.amax": cupy.amax,
            "cupy.cumsum": lambda x: cupy.cumsum(x, dtype=x.dtype),
        }.get(name)


class Bench:
    """Times calls as Bench::time_calls of throughput.cuh does."""

    def __init__(self, library, sampling):
        self.library, self.sampling = library, sampling
        words = max(1, EVICTED_BY * library.l2 // 4)
        self.other = library.repeat(library.upload(numpy.zeros(1024, dtype="float32")), words)

    def evict(self):
        return self.other.sum()

    def time_us(self, before, work):
        """µs of the GPU for `work()`, after the work of `before()`."""
        stream, start, stop = self.library.stream, self.library.event(), self.library.event()
        stream.synchronize()
        before()
        start.record(stream)
        results = work()
        stop.record(stream)
        stop.synchronize()
        del results
        return self.library.us(start, stop)

    def time(self, call, inputs, sample_us, is_captured):
        """The spread of the µs of one `call(input)`."""
        call(inputs[0])
        self.library.stream.synchronize()
        if len(inputs) == 1 and sample_us == 0:

            def alone():
                """One call alone, after work that empties the L2."""
                return self.time_us(self.evict, lambda: call(inputs[0]))

            peer.warm_up(alone)
            return peer.measure(alone, *self.sampling)

        def each():
            return [call(x) for x in inputs]

        replay = self.library.capture(each) if is_captured else each

        def replays_us(times, before=lambda: None):
            def work():
                for _ in range(times):
                    results = replay()
                return results

            return self.time_us(before, work)

        peer.warm_up(lambda: replays_us(1))
        times = min(max(math.ceil(sample_us / replays_us(1)), 1), MOST_REPLAYS)
        return peer.measure(lambda: replays_us(times, self.evict) / times / len(inputs), *self.sampling)


def trailing(text):
    """The number that ends `text` after a hyphen or an underscore, or 0."""
    digits = text.replace("-", "_").rpartition("_")[2]
    return int(digits) if digits.isdigit() else 0


def answer(bench, line):
    """Prints the answer to a question, or a note."""
    op, dtype, mode, n, calls, sample_us = line.split()
    n, calls, sample_us = int(n), int(calls), float(sample_us)
    library, name = bench.library, mode.rstrip("0123456789").rstrip("_")
    # The greatest elements of "top-64", the rows of "rows-16" and "softmax-16", the bins of "torch.histc_256".
    number = trailing(op) or trailing(mode)
    # An input of bytes has eight for each element.
    n *= 8 if op == "bytes" else 1
    # The arrays of an input.
    arrays = 2 if op == "dot" else 1
    is_matrix = op.startswith(("rows-", "softmax-"))
    call = library.call(name, op, n, number)
    if call is None or (is_matrix and n < number):
        return
    try:
        first = library.upload(period(op, dtype, n))
        inputs = [library.repeat(first, arrays * n) for _ in range(calls)]
        if is_matrix:
            inputs = [x[: n - n % number].reshape(-1, number) for x in inputs]
        peer.answer_line(line, bench.time(call, inputs, sample_us, not waits(name, op)))
    except library.out_of_memory:
        peer.note(f"no room for {calls} calls of {name} with {n} {dtype}")


def main():
    library = {"torch": Torch, "cupy": Cupy}[sys.argv[1]]()
    print(f"version: {library.version}", flush=True)
    bench = Bench(library, (int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
    for line in sys.stdin.read().splitlines():
        answer(bench, line)
        library.forget()


main()
