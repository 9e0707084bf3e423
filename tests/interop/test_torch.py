"""Functions of arrays as operations of PyTorch, checked by its own tools."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from adjoint.interop.torch import function  # noqa: E402


def energy(x, k):
    return 0.5 * k * np.sum((x[1:] - x[:-1]) ** 3)


def loops(x, w):
    total = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total[i] += np.sin(x[i, j]) * w[j] ** 2
    return total


def several(x, y):
    return np.outer(x, y), np.sum(x * x), x.shape[0]


def tensor(*shape, dtype=torch.float64):
    made = torch.linspace(0.3, 1.7, int(np.prod(shape)), dtype=dtype).reshape(shape)
    return made.requires_grad_()


@pytest.mark.parametrize(
    "f, args",
    [
        (energy, (tensor(4), tensor())),
        (loops, (tensor(3, 2), tensor(2))),
        (lambda x: x[0] * x[1] ** 2, (tensor(2),)),
        (lambda x, y: (x * y, np.cos(x)), (tensor(3), tensor(3))),
        (lambda x, n: x**n, (tensor(3), 3)),
    ],
)
def test_first_and_second_order(f, args):
    assert torch.autograd.gradcheck(function(f), args)
    assert torch.autograd.gradgradcheck(function(f), args)


def test_third_order():
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    y = function(lambda x: np.sin(x) * x)(x)
    for _ in range(3):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    assert y.item() == pytest.approx(-3 * np.sin(0.7) - 0.7 * np.cos(0.7))


def test_third_order_of_several_results():
    x = torch.tensor([0.7, 0.2], dtype=torch.float64, requires_grad=True)
    y, z = function(lambda x: (np.sin(x), np.sum(x**4)))(x)
    total = y.sum() + z
    for _ in range(3):
        (slope,) = torch.autograd.grad(total, x, create_graph=True)
        total = slope.sum()
    torch.testing.assert_close(slope, -torch.cos(x) + 24.0 * x)


def test_within_a_model():
    layer = torch.nn.Linear(3, 3, dtype=torch.float64)
    x = tensor(4, 3)
    f = lambda h: np.tanh(h) * h
    layer.zero_grad()
    function(f)(layer(x)).sum().backward()
    found = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    h = layer(x)
    (torch.tanh(h) * h).sum().backward()
    for ours, theirs in zip(found, layer.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs.grad)


def test_native():
    f = function(loops, native=True)
    args = tensor(3, 2), tensor(2)
    assert torch.autograd.gradcheck(f, args)
    assert torch.autograd.gradgradcheck(f, args)


def test_single_precision():
    x = tensor(3, dtype=torch.float32)
    y = function(lambda x: np.sum(np.exp(x) * x))(x)
    y.backward()
    assert y.dtype == x.grad.dtype == torch.float32
    torch.testing.assert_close(x.grad, torch.exp(x.detach()) * (1 + x.detach()))


def test_nothing_is_copied():
    seen = []

    def f(x):
        return np.sum(x * x)

    def looked(x):
        seen.append(x.__array_interface__["data"][0])
        return f(x)

    x = torch.ones(1000, dtype=torch.float64)
    function(looked)(x)
    assert seen == [x.data_ptr()]


def test_several_results_and_whole_numbers():
    x, y = tensor(3), tensor(2)
    product, square, count = function(several)(x, y)
    assert count.item() == 3 and not count.requires_grad
    (product.sum() + 2.0 * square).backward()
    torch.testing.assert_close(x.grad, y.detach().sum() + 4.0 * x.detach())


def test_results_share_no_memory_with_arguments():
    x = tensor(4)
    part = function(lambda x: x[1:3])(x)
    with torch.no_grad():
        x.zero_()
    assert part.min().item() > 0.0


def test_what_does_not_need_a_gradient():
    x, y = tensor(3), torch.ones(3, dtype=torch.float64)
    function(lambda x, y: np.sum(x * y * y))(x, y).backward()
    assert y.grad is None
    torch.testing.assert_close(x.grad, torch.ones(3, dtype=torch.float64))
    with torch.no_grad():
        assert not function(energy)(x, 2.0).requires_grad


def test_arguments_are_not_written():
    def writes(x):
        x[0] = 2.0
        return np.sum(x)

    with pytest.raises(ValueError, match="read-only"):
        function(writes)(tensor(3))
    with pytest.raises(ValueError, match="read-only"):
        function(writes)(tensor(3).detach())


def test_changes_between_the_sweeps_are_refused():
    x = tensor(3)
    h = x * 1.0
    y = function(lambda h: np.sum(h * h))(h)
    h.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_other_results_are_refused():
    with pytest.raises(TypeError, match="'dict'"):
        function(lambda x: {"a": x})(tensor(3))


def test_layouts():
    x = torch.linspace(0.0, 1.0, 12, dtype=torch.float64).reshape(3, 4).t().requires_grad_()
    w = torch.arange(3.0, dtype=torch.float64)
    (function(lambda x, w: x @ w * 2.0)(x, w) * torch.ones(1, dtype=torch.float64).expand(4)).sum().backward()
    torch.testing.assert_close(x.grad, (2.0 * w).expand(4, 3))
