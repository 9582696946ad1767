import numpy as np

import gridsync

x = np.array([[3, 1, 2], [1, 5, 1]], dtype=np.float32)
assert gridsync.sum(x, axis=1).tolist() == [6, 7]
assert gridsync.cumulative_sum(x, axis=1, include_initial=True).tolist() == [[0, 3, 4, 6], [0, 1, 6, 7]]
assert gridsync.argsort(x, axis=1, descending=True).tolist() == [[0, 2, 1], [1, 0, 2]]

values, counts = gridsync.unique_counts(x)
assert values.tolist() == [1, 2, 3, 5] and counts.tolist() == [3, 1, 1, 1]
