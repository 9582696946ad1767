"""A peer of gridsync's scans on the CPU: numpy.cumsum of an array into another, on one core.

    echo "sum f32 cpu 16777216 1 0" | python3 numpy_cumsum.py AT_LEAST AT_MOST UNCERTAINTY
"""

import peer

# numpy's names of the types.
DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32", "u32": "uint32", "u64": "uint64"}


def prepare(op, dtype, n):
    import numpy

    if op != "sum" or dtype not in DTYPES:
        return None
    # The elements of every input, as made by fill() of throughput.cuh.
    small = (peer.hashed(numpy.arange(n) % (1 << 24)) % 16).astype("int64")
    small -= 0 if dtype.startswith("u") else 8
    elements = small.astype(DTYPES[dtype])
    sums = numpy.empty_like(elements)

    def work():
        numpy.cumsum(elements, dtype=elements.dtype, out=sums)

    def check():
        exact = numpy.cumsum(small)
        if elements.dtype.kind == "f":
            # Additions in sequence, each off by half an epsilon of a sum of up to 8 each.
            unit = float(numpy.finfo(elements.dtype).eps) / 2
            count = numpy.arange(1, n + 1, dtype=numpy.float64)
            bound = numpy.where(8 * count <= 1 / unit, 0, 8 * count * count * unit)
            wrong = numpy.abs(sums.astype(numpy.float64) - exact) > bound
        else:
            wrong = sums != exact.astype(elements.dtype)
        if wrong.any():
            at = int(wrong.argmax())
            raise peer.Wrong(f"numpy.cumsum of {n} {dtype}: {sums[at]} at {at}, not {exact[at]}")

    return work, check


peer.answer(prepare)
