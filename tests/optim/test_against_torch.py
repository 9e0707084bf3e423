"""The same numbers as PyTorch's optimizers, where both have one formula; skipped where PyTorch is not installed."""

import numpy as np
import pytest

import adjoint as ad

torch = pytest.importorskip("torch")
O, T = ad.optim, torch.optim

# PyTorch adds Adam's epsilon in another place: with none, both are the same.
CASES = {
    "SGD": (lambda: O.SGD(0.1), lambda p: T.SGD(p, lr=0.1)),
    "momentum": (lambda: O.SGD(0.1, momentum=0.9), lambda p: T.SGD(p, lr=0.1, momentum=0.9)),
    "Nesterov": (
        lambda: O.SGD(0.1, momentum=0.9, nesterov=True, weight_decay=0.2),
        lambda p: T.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.2),
    ),
    "RMSProp": (lambda: O.RMSProp(0.1, rho=0.8), lambda p: T.RMSprop(p, lr=0.1, alpha=0.8, eps=1e-8)),
    "AdaGrad": (
        lambda: O.AdaGrad(0.1, initial_accumulator=0.2, epsilon=1e-10),
        lambda p: T.Adagrad(p, lr=0.1, initial_accumulator_value=0.2, eps=1e-10),
    ),
    "AdaDelta": (lambda: O.AdaDelta(0.5, rho=0.9), lambda p: T.Adadelta(p, lr=0.5, rho=0.9, eps=1e-6)),
    "Adam": (
        lambda: O.Adam(0.1, epsilon=0.0, weight_decay=0.1),
        lambda p: T.Adam(p, lr=0.1, eps=0.0, weight_decay=0.1),
    ),
    "AMSGrad": (
        lambda: O.AMSGrad(0.1, epsilon=0.0),
        lambda p: T.Adam(p, lr=0.1, eps=0.0, amsgrad=True),
    ),
    "AdaMax": (lambda: O.AdaMax(0.1, epsilon=0.0), lambda p: T.Adamax(p, lr=0.1, eps=0.0)),
    "RAdam": (lambda: O.RAdam(0.1, epsilon=0.0), lambda p: T.RAdam(p, lr=0.1, eps=0.0)),
    "AdamW": (lambda: O.AdamW(0.1, weight_decay=0.2), lambda p: T.AdamW(p, lr=0.1, weight_decay=0.2)),
}


@pytest.mark.parametrize(("make", "peer"), CASES.values(), ids=CASES)
def test_the_same_numbers(make, peer):
    rng = np.random.default_rng(0)
    start = rng.normal(size=(3, 2))
    theirs = torch.tensor(start, requires_grad=True)
    ours, optimizer, other = start.copy(), make(), peer([theirs])
    for _ in range(12):
        gradient = rng.normal(size=(3, 2))
        optimizer.update(ours, along=gradient)
        theirs.grad = torch.tensor(gradient)
        other.step()
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-9, atol=1e-12)
