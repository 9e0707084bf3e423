"""What layers and initialisers give: the reference system's numbers, other libraries', formulas."""

import json
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.nn import windows

CASES = json.loads((Path(__file__).parents[1] / "data" / "reference_cases.json").read_text())["cases"]
CASE = {case["id"]: case for case in CASES}


def counted(*shape):
    return np.arange(float(np.prod(shape))).reshape(shape)


def test_transposed_conv3d():
    expected = CASE["layer.transposed_conv3d"]["expected"]
    layer = nn.TransposedConv3D(counted(2, 2, 2, 1, 1), np.array([8.0]), padding="same")
    x = counted(1, 2, 2, 2, 1)
    assert layer(x).shape == tuple(expected["shape"]) and layer(x).ravel().tolist() == expected["with_bias"]
    layer.bias = None
    assert layer(x).ravel().tolist() == expected["no_bias"]


def test_separable_conv1d():
    """The reference system's numbers are those of windows along an axis of extent one that it adds; ours go along."""
    expected = CASE["layer.separable_conv1d"]["expected"]
    x, depthwise, pointwise = counted(2, 2, 2), counted(2, 2, 2), counted(1, 4, 1)
    across = nn.SeparableConv2D(depthwise[:, np.newaxis], pointwise[:, np.newaxis], padding="same")
    assert across(x[:, np.newaxis]).ravel().tolist() == expected["no_bias"]
    layer = nn.SeparableConv1D(depthwise, pointwise, np.array([4.0]), padding="same")
    behind = np.concatenate([x[:, 1:], np.zeros((2, 1, 2))], axis=1)
    each = (x[..., np.newaxis] * depthwise[0] + behind[..., np.newaxis] * depthwise[1]).reshape(2, 2, 4)
    np.testing.assert_allclose(layer(x), each @ pointwise[0] + 4.0)


def test_dilation_and_erosion():
    x = counted(2, 2, 2, 3)
    layer = nn.Dilation2D(counted(2, 2, 3), (2, 2))
    assert layer(x).ravel().tolist() == CASE["layer.dilation2d"]["expected"]
    smallest = nn.Erosion2D(-counted(2, 2, 3)[::-1], (2, 2))(x)
    np.testing.assert_array_equal(smallest.ravel(), (x + counted(2, 2, 3)[::-1]).min(axis=(1, 2)).ravel())


def test_a_frozen_parameter_stays():
    case = CASE["layer.freezable"]
    model = {name: nn.Freezable(value) for name, value in case["start"].items()}
    tangent = {name: nn.Freezable.TangentVector(value) for name, value in case["tangent"].items()}
    for step, is_frozen in zip(case["steps"], (False, True, False), strict=True):
        model["weight"].is_frozen = is_frozen
        model = ad.moved(model, along=tangent)
        assert (model["weight"].value, model["bias"].value) == (step["weight"], step["bias"])


def test_optimizers_leave_what_is_frozen():
    model = [nn.Freezable(np.ones(2), True), nn.Freezable(np.ones(2))]
    gradient = ad.grad(lambda model: np.sum(model[0].value * model[1].value))(model)
    moved = ad.optim.SGD(0.5).updated(model, along=gradient)
    assert moved[0].value.tolist() == [1.0, 1.0] and moved[1].value.tolist() == [0.5, 0.5]


def test_sequential_of_the_document():
    case = CASE["layer.sequential4"]["points"][0]

    @ad.differentiable
    class Multiply:
        coefficient: float

        def __call__(self, x):
            return x * self.coefficient

    model = nn.Sequential([Multiply(float(c)) for c in case["inputs"][1:]])
    of_model, of_input = ad.grad(lambda model, x: model(x), wrt=(0, 1))(model, 1.0)
    assert [of_input, *(layer.coefficient for layer in of_model.layers)] == case["gradient"]
    assert nn.sequenced(1.0, *model.layers) == model(1.0) == case["value"]


SHAPES = [((5, 4), (3, 2), (2, 1), (1, 2)), ((4,), (2,), (3,), (1,)), ((3, 3, 4), (2, 1, 3), (1, 2, 1), (2, 1, 1))]


@pytest.mark.parametrize(("extents", "window", "strides", "dilations"), SHAPES)
def test_maps_and_their_transposes(extents, window, strides, dilations):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, *extents, 2))
    seen = windows.patches(x, extents, window, strides, dilations)
    other = rng.normal(size=seen.shape)
    back = windows.overlaid(other, extents, window, strides, dilations)
    assert np.vdot(seen, other) == pytest.approx(np.vdot(x, back))
    sums = windows.window_sums(x, extents, window, strides)
    other = rng.normal(size=sums.shape)
    assert np.vdot(sums, other) == pytest.approx(np.vdot(x, windows.spread_windows(other, extents, window, strides)))
    where = windows.largest(x, window, strides)
    top = windows.picked(x, where, extents, window, strides)
    ones = (1,) * len(window)
    all_seen = windows.patches(x, extents, window, strides, ones).reshape(-1, *top.shape)
    np.testing.assert_array_equal(top, all_seen.max(axis=0))
    np.testing.assert_array_equal(where, all_seen.argmax(axis=0))
    assert np.vdot(top, other) == pytest.approx(np.vdot(x, windows.put_back(other, where, extents, window, strides)))


def test_not_a_number_is_the_largest():
    x = np.array([[[1.0], [np.nan], [3.0], [4.0]]])
    assert np.isnan(nn.max_pool(x, (2,))[0, 0, 0]) and nn.max_pool(x, (2,))[0, 1, 0] == 4.0
    assert np.isnan(nn.max_pool(x[:, ::-1], (2,))[0, 1, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.convolution(np.ones((1, 5, 5, 2)), np.ones((3, 3, 1, 4))), "takes 1 channels, and not 2"),
        (lambda: nn.convolution(np.ones((1, 5, 2)), np.ones((3, 3, 2, 4))), "with 2 extents"),
        (lambda: nn.convolution(np.ones((1, 2, 5, 2)), np.ones((3, 3, 2, 4))), "does not fit into axes"),
        (lambda: nn.max_pool(np.ones((1, 5, 2)), (2,), padding="full"), "'valid' or 'same', and not 'full'"),
        (lambda: nn.Conv2D.init((1, 2, 3), 1, 1), "is not a positive number, or 2 of them"),
        (lambda: nn.GroupNorm.init(6, 4), "do not fall into 4 groups"),
        (lambda: nn.MultiHeadAttention.init(6, 4), "do not fall to 4 heads"),
        (lambda: nn.Dropout(1.0), "a rate is a number from zero up to one"),
        (lambda: nn.FractionalMaxPool2D.init(3.0), "from one to two"),
        (lambda: nn.ZeroPadding2D.init((1, 2, 3)), "is not a number, or 2 of them"),
        (lambda: nn.he_normal((3,)), "at least two axes"),
    ],
)
def test_what_does_not_fit_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


RANDOM = {
    nn.glorot_uniform: 2 / 260,
    nn.glorot_normal: 2 / 260,
    nn.he_uniform: 2 / 180,
    nn.he_normal: 2 / 180,
    nn.lecun_uniform: 1 / 180,
    nn.lecun_normal: 1 / 180,
    nn.uniform(-2.0, 1.0): 9 / 12,
    nn.normal(1.0, 3.0): 9.0,
    nn.truncated_normal(1.0, 2.0): 4 * 0.87962566103423978**2,
}


@pytest.mark.parametrize("initializer", RANDOM, ids=lambda f: f.__qualname__)
def test_variances(initializer):
    drawn = initializer((3, 3, 20, 80 // 9), np.random.default_rng(1), np.float32)
    assert drawn.dtype == np.float32 and drawn.shape == (3, 3, 20, 8)
    drawn = initializer((180, 80), np.random.default_rng(1), np.float64)
    assert np.var(drawn) == pytest.approx(RANDOM[initializer], rel=0.05)
    again = initializer((180, 80), np.random.default_rng(1), np.float64)
    np.testing.assert_array_equal(drawn, again)


def test_fixed_initializers():
    assert nn.zeros((2, 3)).tolist() == [[0.0] * 3] * 2 and nn.ones((2,), dtype=np.float32).dtype == np.float32
    assert nn.constant(0.5)((2,), None, np.float64).tolist() == [0.5, 0.5]
    far = nn.truncated_normal(0.0, 0.5)((1000,), np.random.default_rng(0), np.float64)
    assert np.abs(far).max() <= 1.0
    for shape in ((3, 5), (5, 3), (2, 2, 3)):
        rows = nn.orthogonal(shape, 0).reshape(-1, shape[-1])
        short = rows.T @ rows if rows.shape[0] >= rows.shape[1] else rows @ rows.T
        np.testing.assert_allclose(short, np.eye(min(rows.shape)), atol=1e-12)


class TestAgainstTorch:
    """The same numbers as those of PyTorch, values and gradients."""

    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch")

    def close(self, layer, x, other, torch):
        """Compares values, and the cotangents of the input."""
        t = torch.tensor(np.moveaxis(x, -1, 1), requires_grad=True)
        expected = other(t)
        y, pullback = ad.vjp(layer, x)
        np.testing.assert_allclose(np.moveaxis(y, -1, 1), expected.detach().numpy(), atol=1e-12)
        ct = np.cos(np.arange(y.size)).reshape(y.shape)
        expected.backward(torch.tensor(np.moveaxis(ct, -1, 1).copy()))
        np.testing.assert_allclose(np.moveaxis(pullback(ct)[0], -1, 1), t.grad.numpy(), atol=1e-12)

    def test_convolutions(self, torch):
        F, x = torch.nn.functional, np.random.default_rng(0).normal(size=(2, 7, 6, 4))
        layer = nn.Conv2D.init(3, 4, 5, strides=2, dilations=(1, 2), rng=0)
        weight = torch.tensor(layer.filter.transpose(3, 2, 0, 1).copy())
        self.close(layer, x, lambda t: F.conv2d(t, weight, stride=2, dilation=(1, 2)), torch)
        layer = nn.TransposedConv2D.init(3, 4, 5, strides=2, dilations=(1, 2), rng=0)
        weight = torch.tensor(layer.filter.transpose(3, 2, 0, 1).copy())
        self.close(layer, x, lambda t: F.conv_transpose2d(t, weight, stride=2, dilation=(1, 2)), torch)
        layer = nn.DepthwiseConv2D.init(3, 4, 2, rng=0)
        weight = torch.tensor(layer.filter.transpose(2, 3, 0, 1).reshape(8, 1, 3, 3).copy())
        self.close(layer, x, lambda t: F.conv2d(t, weight, groups=4), torch)

    def test_pooling(self, torch):
        F, x = torch.nn.functional, np.random.default_rng(0).normal(size=(2, 7, 6, 4))
        self.close(nn.MaxPool2D.init(3, 2), x, lambda t: F.max_pool2d(t, 3, 2), torch)
        self.close(nn.AvgPool2D.init(3, 2), x, lambda t: F.avg_pool2d(t, 3, 2), torch)
        zeros = np.zeros((1, 4, 4, 1))
        self.close(nn.MaxPool2D.init(2), zeros, lambda t: F.max_pool2d(t, 2), torch)

    def test_recurrent_cells(self, torch):
        x, size = np.random.default_rng(0).normal(size=(2, 5, 3)), 4
        layer = nn.LSTM(3, size, rng=0)
        other = torch.nn.LSTM(3, size, batch_first=True, dtype=torch.float64)
        order = [0, 2, 1, 3]  # of the gates
        weight = layer.cell.weight.reshape(7, 4, size)[:, order].reshape(7, -1).T
        layer.cell.bias[:] = np.linspace(-1.0, 1.0, 4 * size)
        bias = layer.cell.bias.reshape(4, size)[order].reshape(-1)
        with torch.no_grad():
            for name, value in dict(weight_ih=weight[:, :3], weight_hh=weight[:, 3:], bias_ih=bias).items():
                getattr(other, name + "_l0").copy_(torch.tensor(value))
            other.bias_hh_l0.zero_()
        np.testing.assert_allclose(layer(x), other(torch.tensor(x))[0].detach().numpy(), atol=1e-12)

        layer = nn.GRU(3, size, rng=0)
        other = torch.nn.GRU(3, size, batch_first=True, dtype=torch.float64)
        order = [1, 0, 2]
        layer.cell.recurrent_bias[:] = np.linspace(-1.0, 1.0, 3 * size)
        with torch.no_grad():
            for name, value in dict(weight_ih=layer.cell.weight, weight_hh=layer.cell.recurrent).items():
                each = value.reshape(-1, 3, size)[:, order].reshape(-1, 3 * size).T
                getattr(other, name + "_l0").copy_(torch.tensor(each))
            other.bias_ih_l0.zero_()
            other.bias_hh_l0.copy_(torch.tensor(layer.cell.recurrent_bias.reshape(3, size)[order].reshape(-1)))
        np.testing.assert_allclose(layer(x), other(torch.tensor(x))[0].detach().numpy(), atol=1e-12)

    def test_attention(self, torch):
        q, k, v = np.random.default_rng(0).normal(size=(3, 2, 5, 4))
        mask = np.tril(np.ones((5, 5), bool))
        expected = torch.nn.functional.scaled_dot_product_attention(*map(torch.tensor, (q, k, v, mask)))
        np.testing.assert_allclose(nn.attention(q, k, v, mask), expected.numpy(), atol=1e-12)
