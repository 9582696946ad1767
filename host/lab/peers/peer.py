"""Shared by the peers in Python: samples and their spread, and the lines of the protocol, as in peer.cuh.
Those on the CPU time one call on a warm array, by the clock of the host."""

import math
import sys
import time
import traceback

# The warm-up: µs of work before the first sample, and the most calls for it.
WARM_UP_US = 20000
WARM_UP_CALLS = 1000


class Wrong(Exception):
    """A result is wrong."""


def time_us(work):
    """µs of `work()`."""
    start = time.perf_counter()
    work()
    return 1e6 * (time.perf_counter() - start)


def quantile(ordered, part):
    """The quantile `part` of `ordered`, which is not empty, interpolated between neighbours."""
    place = part * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    return below + (place - math.floor(place)) * (above - below)


def warm_up(sample):
    """Takes samples until they have lasted long enough."""
    passed = 0
    for _ in range(WARM_UP_CALLS):
        passed += sample()
        if passed >= WARM_UP_US:
            break


def measure(sample, at_least, at_most, uncertainty):
    """The spread of `sample()`, which returns µs. Measures until the standard error of the median, divided
    by the median, is at most `uncertainty`, like `Sampling::measure` of peer.cuh."""
    samples = []
    while True:
        samples.append(sample())
        if len(samples) < at_least:
            continue
        ordered = sorted(samples)
        median = quantile(ordered, 0.5)
        quartile_range = quantile(ordered, 0.75) - quantile(ordered, 0.25)
        error = math.sqrt(math.pi / 2) * quartile_range / 1.349 / math.sqrt(len(samples))
        if len(samples) >= at_most or error <= uncertainty * median:
            return median, quartile_range, ordered[0], ordered[-1], len(samples)


def hashed(i):
    """The hashes of `i`, an array of integers, by the finaliser of MurmurHash3 (public domain, Austin
    Appleby): hash() of throughput.cuh."""
    h = i.astype("uint32")
    word = h.dtype.type
    h = (h ^ (h >> word(16))) * word(0x85EBCA6B)
    h = (h ^ (h >> word(13))) * word(0xC2B2AE35)
    return h ^ (h >> word(16))


def note(text):
    print(f"note: {text}", flush=True)


def answer_line(line, spread):
    """Prints the answer to the question `line`."""
    *times, samples = spread
    print(f"{line}: {' '.join(f'{us:.6g}' for us in times)} {samples}", flush=True)


def answer(prepare):
    """The main function of such a peer, called as `python3 PEER AT_LEAST AT_MOST UNCERTAINTY`.

    Answers lines "OP DTYPE MODE N CALLS SAMPLE_US", but uses only OP, DTYPE and N. `prepare(op, dtype,
    n)` returns the function to time and one that checks its last result and raises Wrong, or None.
    Exits with 0, with 1 if a result is wrong, with 3 if anything else fails."""
    at_least, at_most, uncertainty = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    try:
        for line in sys.stdin.read().splitlines():
            op, dtype, _mode, n, _calls, _sample_us = line.split()
            prepared = prepare(op, dtype, int(n))
            if prepared is None:
                continue
            work, check = prepared

            def sample():
                return time_us(work)

            warm_up(sample)
            spread = measure(sample, at_least, at_most, uncertainty)
            check()
            answer_line(line, spread)
    except ImportError as error:
        note(f"left out: {error}")
    except Wrong as wrong:
        sys.exit(f"peer: {wrong}")
    except Exception:
        traceback.print_exc()
        sys.exit(3)
