import torch

import gridsync.torch

x = torch.randn(8, 4096, requires_grad=True)
y = gridsync.torch.rms_norm(x)
gridsync.softmax(y, axis=-1).square().sum().backward()
assert torch.equal(y[3], gridsync.torch.rms_norm(x[3:4])[0])  # in any batch

with gridsync.torch.patch():
    assert torch.equal(x.cumsum(0), gridsync.cumulative_sum(x, axis=0))
