"""A peer of gridsync's rank correlation on the CPU: scipy.stats.kendalltau, on one core.

    echo "kendall f32 cpu 100000 1 0" | python3 scipy_kendall.py AT_LEAST AT_MOST UNCERTAINTY

The pairs are the upper 24 bits of the hashes of 2 i and 2 i + 1, so ties are rare. For small inputs the
result is compared with a count of all pairs.
"""

import peer

# scipy's names of the types.
DTYPES = {"f32": "float32", "f64": "float64"}

# Up to this many observations, all pairs are counted.
COUNTED = 2000


def tau_b(numpy, x, y):
    """Kendall's tau-b by the signs of all pairs."""
    signs = [numpy.sign(v[:, None].astype(numpy.float64) - v[None, :]) for v in (x, y)]
    agree = (signs[0] * signs[1]).sum()
    return agree / numpy.sqrt((signs[0] ** 2).sum() * (signs[1] ** 2).sum())


def prepare(op, dtype, n):
    import numpy
    import scipy.stats

    if op != "kendall" or dtype not in DTYPES:
        return None
    x, y = ((peer.hashed(2 * numpy.arange(n) + i) >> 8).astype(DTYPES[dtype]) for i in (0, 1))
    results = []

    def work():
        results[:] = [scipy.stats.kendalltau(x, y)[0]]

    def check():
        if n <= COUNTED and abs(results[0] - tau_b(numpy, x, y)) > 1e-12:
            raise peer.Wrong(f"scipy.stats.kendalltau of {n} {dtype}: {results[0]}")

    return work, check


peer.answer(prepare)
