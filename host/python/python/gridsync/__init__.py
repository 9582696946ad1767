"""Reductions, scans, sorts and histograms of NumPy, CuPy and torch arrays, with the same bits everywhere.

The order in which floating-point numbers are added depends on the length only, so a result does not depend
on the number of cores, on the library of the array, or on other rows. Names are those of the Python array
API where it has them. Results are of the library of the array.
"""

import os

from . import _native
from ._along import (
    all,
    any,
    argmax,
    argmin,
    argsort,
    cumulative_max,
    cumulative_min,
    cumulative_prod,
    cumulative_sum,
    kth_value,
    logsumexp,
    max,
    mean,
    min,
    prod,
    quantile,
    softmax,
    sort,
    std,
    sum,
    sum_squares,
    topk,
    var,
)
from ._arguments import (
    CountsAndEdges,
    Unique,
    ValuesAndCounts,
    ValuesAndIndices,
    ValuesAndInverse,
)
from ._groups import (
    dot,
    histogram,
    scatter_sum,
    searchsorted,
    segment_sum,
    select,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)

os.register_at_fork(after_in_child=_native.after_fork)

__all__ = [
    "CountsAndEdges",
    "Unique",
    "ValuesAndCounts",
    "ValuesAndIndices",
    "ValuesAndInverse",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "cumulative_max",
    "cumulative_min",
    "cumulative_prod",
    "cumulative_sum",
    "dot",
    "histogram",
    "kth_value",
    "logsumexp",
    "max",
    "mean",
    "min",
    "prod",
    "quantile",
    "scatter_sum",
    "searchsorted",
    "segment_sum",
    "select",
    "softmax",
    "sort",
    "std",
    "sum",
    "sum_squares",
    "topk",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "var",
]
