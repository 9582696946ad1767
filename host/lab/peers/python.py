"""Times calls of the Python package gridsync, and those of torch or CuPy that do the same, on float32 arrays of
that library.

    echo "gridsync.sum device 1024" | python3 python.py torch ORDINAL AT_LEAST AT_MOST UNCERTAINTY
    python3 python.py torch   # every call at every length, on the first GPU

A question is a call, a time and a length. The times, in µs:

* device: calls in a row between two events, divided by their number. If the host needs longer for a call than
  the GPU, it is the time of the host.
* wall: one call, from an idle GPU until the GPU is idle again.
* host: one call, from an idle GPU until the call returns. Calls that wait for the GPU have none.

All calls of a question have the same input, which stays in the L2 if it fits. The results are not checked. A call
that fails is a note. The exit code is 4 if the library, its GPU or gridsync is not there.

It prints the version of the library first.
"""

import math
import sys
import time

import peer

# The lengths, and the number of samples and their uncertainty, if they are not given.
SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28)
SAMPLING = (7, 51, 0.02)

# About how many µs the samples of a question last. A call that takes longer is timed once.
BUDGET_US = 150_000
# The least µs of calls in a row, and the most of these calls.
ROW_US = 2000
MOST_IN_A_ROW = 100
# The calls of a sample of the time of the host.
HOST_CALLS = 20

# The greatest elements of topk, and the length of the rows of softmax.
K = 64
ROW = 4096

# Sums of so many elements that keep the GPU busy for milliseconds.
BUSY = 1 << 26
BUSY_CALLS = 40

# The exit code if something is not there.
ABSENT = 4


def absent(why):
    print(why, file=sys.stderr)
    sys.exit(ABSENT)


class Torch:
    """torch's device and calls."""

    def __init__(self, ordinal):
        import torch

        if not torch.cuda.is_available():
            absent(f"torch {torch.__version__} finds no GPU: install a torch that is built for this driver's CUDA")
        torch.cuda.set_device(ordinal)
        torch.manual_seed(0)
        self.torch, self.version = torch, torch.__version__
        self.synchronize, self.forget = torch.cuda.synchronize, torch.cuda.empty_cache

    def uniform(self, n):
        """Elements from 0 to 1."""
        return self.torch.rand(n, device="cuda")

    def event(self):
        return self.torch.cuda.Event(enable_timing=True)

    def us(self, start, stop):
        return 1e3 * start.elapsed_time(stop)

    def is_over(self, event):
        return event.query()

    def calls(self):
        torch = self.torch
        return {
            "torch.sum": lambda x: torch.sum(x),
            "torch.cumsum": lambda x: torch.cumsum(x, 0),
            "torch.cummax": lambda x: torch.cummax(x, 0),
            "torch.sort": lambda x: torch.sort(x, stable=True),
            "torch.argsort": lambda x: torch.argsort(x, stable=True),
            "torch.topk": lambda x: torch.topk(x, K),
            "torch.masked_select": lambda x: torch.masked_select(x, x >= 0.5),
            "torch.searchsorted": lambda pair: torch.searchsorted(*pair),
            "torch.softmax": lambda x: torch.softmax(x, -1),
            "torch.var": lambda x: torch.var(x, correction=0),
        }


class Cupy:
    """CuPy's device and calls."""

    def __init__(self, ordinal):
        import cupy

        if not cupy.cuda.is_available():
            absent(f"cupy {cupy.__version__} finds no GPU: install the CuPy of this driver's CUDA")
        cupy.cuda.Device(ordinal).use()
        self.cupy, self.version = cupy, cupy.__version__
        self.synchronize = cupy.cuda.get_current_stream().synchronize
        self.forget = cupy.get_default_memory_pool().free_all_blocks

    def uniform(self, n):
        """Elements from 0 to 1."""
        # Without cuRAND, which may not be there.
        return (peer.hashed(self.cupy.arange(n)) >> 8).astype("float32") / (1 << 24)

    def event(self):
        return self.cupy.cuda.Event()

    def us(self, start, stop):
        return 1e3 * self.cupy.cuda.get_elapsed_time(start, stop)

    def is_over(self, event):
        return event.done

    def calls(self):
        cupy = self.cupy
        return {
            "cupy.sum": lambda x: cupy.sum(x),
            "cupy.cumsum": lambda x: cupy.cumsum(x),
            "cupy.sort": lambda x: cupy.sort(x),
            "cupy.argsort": lambda x: cupy.argsort(x),
            "cupy.searchsorted": lambda pair: cupy.searchsorted(*pair),
            "cupy.var": lambda x: cupy.var(x),
        }


LIBRARIES = {"torch": Torch, "cupy": Cupy}


def calls_of(gridsync):
    return {
        "gridsync.sum": lambda x: gridsync.sum(x),
        "gridsync.cumulative_sum": lambda x: gridsync.cumulative_sum(x),
        "gridsync.cumulative_max": lambda x: gridsync.cumulative_max(x),
        "gridsync.sort": lambda x: gridsync.sort(x),
        "gridsync.argsort": lambda x: gridsync.argsort(x),
        "gridsync.topk": lambda x: gridsync.topk(x, K),
        "gridsync.select": lambda x: gridsync.select(x, low=0.5),
        "gridsync.searchsorted": lambda pair: gridsync.searchsorted(*pair),
        "gridsync.softmax": lambda x: gridsync.softmax(x),
        "gridsync.var": lambda x: gridsync.var(x),
    }


class Bench:
    """Times calls on arrays of a library."""

    def __init__(self, library, calls, sampling):
        self.library, self.calls, self.sampling = library, calls, sampling
        self.times = {"device": self.device, "wall": self.wall, "host": self.host}

    def array(self, name, n):
        """An input of so many elements, in rows for softmax: one row if they are fewer than a row.

        For a search the same elements in order, and those.
        """
        x = self.library.uniform(n)
        if name.endswith(".searchsorted"):
            return self.calls["gridsync.sort"](x), x
        row = min(n, ROW)
        return x[: n - n % row].reshape(-1, row) if name.endswith(".softmax") else x

    def spread(self, sample, calls, once):
        """The spread of `sample()` divided by the number of its calls. It took about `once` before."""
        at_least, at_most, uncertainty = self.sampling
        if once >= BUDGET_US:
            return once / calls, 0, once / calls, once / calls, 1
        most = max(1, min(at_most, int(BUDGET_US / once)))
        peer.warm_up(sample)
        *us, samples = peer.measure(sample, min(at_least, most), most, uncertainty)
        return (*(each / calls for each in us), samples)

    def row_us(self, call, x, calls):
        """µs between two events around so many calls."""
        start, stop = self.library.event(), self.library.event()
        self.library.synchronize()
        start.record()
        for _ in range(calls):
            call(x)
        stop.record()
        self.library.synchronize()
        return self.library.us(start, stop)

    def device(self, call, x):
        one = self.row_us(call, x, 1)
        calls = min(max(math.ceil(ROW_US / one), 1), MOST_IN_A_ROW)
        return self.spread(lambda: self.row_us(call, x, calls), calls, calls * one)

    def one_us(self, call, x):
        """µs of a call from an idle GPU until it returns, and until the GPU is idle again."""
        self.library.synchronize()
        start = time.perf_counter()
        call(x)
        returned = time.perf_counter()
        self.library.synchronize()
        return 1e6 * (returned - start), 1e6 * (time.perf_counter() - start)

    def wall(self, call, x):
        def sample():
            return self.one_us(call, x)[1]

        return self.spread(sample, 1, sample())

    def host(self, call, x):
        """None if the call waits for the GPU."""

        def sample():
            return sum(self.one_us(call, x)[0] for _ in range(HOST_CALLS))

        return None if self.waits(call, x) else self.spread(sample, HOST_CALLS, sample())

    def waits(self, call, x):
        """Whether a GPU that was busy before the call is done with that when the call returns."""
        busy, event = self.library.uniform(BUSY), self.library.event()
        for _ in range(BUSY_CALLS):
            busy.sum()
        event.record()
        call(x)
        return self.library.is_over(event)

    def answer(self, line):
        """Prints the answer to a question, or a note."""
        name, which, n = line.split()
        try:
            call, x = self.calls[name], self.array(name, int(n))
            # Loads the kernels and allocates memory.
            call(x)
            spread = self.times[which](call, x)
        except Exception as error:
            what = str(error).partition("\n")[0]
            peer.note(f"error: {name}: {type(error).__name__}: {what}")
            return
        if spread is None:
            peer.note(f"{name} waits for the GPU, so it has no time of the host")
        else:
            peer.answer_line(line, spread)


def all_questions(calls):
    for name in calls:
        yield from (f"{name} {which} {n}" for which in ("device", "wall") for n in SIZES)
        yield f"{name} host {SIZES[0]}"


def main():
    library, *numbers = sys.argv[1:]
    ordinal, *sampling = numbers or (0, *SAMPLING)
    at_least, at_most, uncertainty = sampling
    try:
        library = LIBRARIES[library](int(ordinal))
    except (ImportError, OSError) as error:
        absent(f"{error}: pip install {library}, or name another Python in GRIDSYNC_PYTHON")
    try:
        import gridsync
    except (ImportError, OSError) as error:
        absent(
            f"{error}: maturin build --release --manifest-path host/python/Cargo.toml, then pip install "
            "target/wheels/gridsync-*.whl, or name another Python in GRIDSYNC_PYTHON"
        )
    print(f"version: {library.version}", flush=True)
    calls = {**calls_of(gridsync), **library.calls()}
    bench = Bench(library, calls, (int(at_least), int(at_most), float(uncertainty)))
    for line in sys.stdin.read().splitlines() if numbers else all_questions(calls):
        bench.answer(line)
        library.forget()


main()
