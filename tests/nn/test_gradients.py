"""Each layer, loss and activation: forward against reverse against differences, to second order, in both phases."""

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from sampling import THOROUGH, check_by_turns, is_chosen


def array(*shape, seed=0):
    """Numbers without ties, away from kinks."""
    return np.random.default_rng(seed).permutation(np.linspace(-1.3, 1.7, int(np.prod(shape)))).reshape(shape)


IMAGES, SEQUENCE = array(2, 4, 5, 2), array(2, 3, 4)
LAYERS = {
    "dense": (nn.Dense.init(4, 3, activation=np.tanh, rng=0), array(5, 4)),
    "dense without bias": (nn.Dense.init(4, 3, use_bias=False, rng=0), SEQUENCE),
    "dense for each sample": (nn.Dense(array(5, 4, 3), array(3)), array(5, 4)),
    "embedding": (nn.Embedding.init(4, 3, rng=0), np.array([[0, 1, 1], [3, 0, 1]])),
    "flatten": (nn.Flatten(), IMAGES),
    "reshape": (nn.Reshape((2, 10, 4)), IMAGES),
    "function": (nn.Function(np.tanh), IMAGES),
    "sequential": (
        nn.Sequential([nn.Dense.init(4, 3, activation=np.tanh, rng=0), nn.Dense.init(3, 2, rng=1)]),
        SEQUENCE,
    ),
    "conv1d": (nn.Conv1D.init(3, 4, 2, dilations=2, padding="same", rng=0), array(2, 5, 4)),
    "conv2d": (nn.Conv2D.init((2, 3), 2, 3, strides=(2, 1), activation=np.tanh, rng=0), IMAGES),
    "conv2d same": (nn.Conv2D.init(3, 2, 3, strides=2, padding="same", use_bias=False, rng=0), IMAGES),
    "conv3d": (nn.Conv3D.init(2, 2, 1, rng=0), array(1, 3, 2, 3, 2)),
    "transposed conv1d": (nn.TransposedConv1D.init(3, 4, 2, strides=2, dilations=2, rng=0), SEQUENCE),
    "transposed conv2d": (nn.TransposedConv2D.init(3, 2, 1, strides=2, padding="same", rng=0), IMAGES),
    "transposed conv3d": (nn.TransposedConv3D.init(2, 2, 1, rng=0), array(1, 2, 2, 2, 2)),
    "depthwise": (nn.DepthwiseConv2D.init(2, 2, 3, padding="same", rng=0), IMAGES),
    "separable conv1d": (nn.SeparableConv1D.init(2, 4, 3, strides=2, rng=0), SEQUENCE),
    "separable conv2d": (nn.SeparableConv2D.init(2, 2, 3, multiplier=2, padding="same", rng=0), IMAGES),
    "zero padding": (nn.ZeroPadding2D.init((1, 2)), IMAGES),
    "dilation": (nn.Dilation2D(array(2, 2, 2), (1, 2), "same"), IMAGES),
    "erosion": (nn.Erosion2D(array(2, 2, 2), dilations=(2, 1)), IMAGES),
    "max pool": (nn.MaxPool2D.init(2, 1, "same"), IMAGES),
    "max pool 3d": (nn.MaxPool3D.init((1, 2, 2), 1), array(1, 2, 3, 3, 2)),
    "average pool": (nn.AvgPool2D.init((2, 3), (2, 1), "same"), IMAGES),
    "average pool 1d": (nn.AvgPool1D.init(2), SEQUENCE),
    "global average": (nn.GlobalAvgPool2D(), IMAGES),
    "global maximum": (nn.GlobalMaxPool1D(), SEQUENCE),
    "up sampling": (nn.UpSampling2D(2), IMAGES),
    "batch norm": (nn.BatchNorm(array(5), array(5) + 2, array(5), array(5) + 2, axis=2), IMAGES),
    "layer norm": (nn.LayerNorm(array(4), array(4) + 2), SEQUENCE),
    "group norm": (nn.GroupNorm(array(4), array(4) + 2, 2), array(2, 3, 2, 4)),
    "instance norm": (nn.InstanceNorm(array(2), array(2) + 2), IMAGES),
    "basic cell": (nn.RecurrentLayer(nn.BasicRNNCell.init(4, 3, rng=0)), SEQUENCE),
    "lstm": (nn.LSTM(4, 3, rng=0), SEQUENCE),
    "gru": (nn.GRU(4, 3, rng=0), SEQUENCE),
    "bidirectional": (nn.BidirectionalRecurrentLayer(nn.GRU(4, 2, rng=0), nn.GRU(4, 2, rng=1), "multiply"), SEQUENCE),
    "attention": (nn.MultiHeadAttention.init(4, 2, rng=0), SEQUENCE),
}


@pytest.mark.parametrize("name", [name for name in LAYERS if is_chosen(name, 3)])
def test_layer(name):
    layer, x = LAYERS[name]
    weights = np.cos(np.arange(layer(x).size)).reshape(layer(x).shape)
    check_by_turns(name, lambda layer, x: np.sum(weights * layer(x)), (layer, x), order=2 if THOROUGH else 1)


def test_attention_with_a_mask():
    layer, mask = nn.MultiHeadAttention.init(4, 2, rng=0), np.tril(np.ones((3, 5), bool))
    others = array(2, 5, 4, seed=1)
    ad.testing.check_grads(lambda layer, x, y: np.sum(np.sin(layer(x, y, mask))), (layer, SEQUENCE, others), order=1)
    blind = ad.grad(lambda y: np.sum(layer(SEQUENCE, y, mask)))(others)
    assert np.all(blind[:, 3:] == 0.0) and np.any(blind[:, 2] != 0.0)


@pytest.mark.parametrize("merge", ["sum", "average", "stack", "concatenate"])
def test_merges(merge):
    there, back = nn.LSTM(4, 2, rng=0), nn.LSTM(4, 2, rng=1)
    layer = nn.BidirectionalRecurrentLayer(there, back, merge)
    one, other = there(SEQUENCE), back(SEQUENCE[:, ::-1])[:, ::-1]
    expected = {
        "sum": one + other,
        "average": (one + other) / 2,
        "stack": np.stack([one, other], axis=-1),
        "concatenate": np.concatenate([one, other], axis=-1),
    }
    np.testing.assert_allclose(layer(SEQUENCE), expected[merge])
    assert layer.gradient(lambda layer: np.sum(layer(SEQUENCE))).forward.cell.weight.shape == (6, 8)


def test_batch_norm_in_training():
    with nn.learning_phase():
        for axis in (-1, 1):
            norm = nn.BatchNorm.init(3, axis=axis)
            x = array(4, 3) if axis == -1 else array(2, 3, 4)
            weights = np.cos(np.arange(x.size)).reshape(x.shape)

            def loss(offset, scale, x):
                fresh = nn.BatchNorm(offset, scale, np.zeros(3), np.ones(3), axis)
                return np.sum(weights * fresh(x))

            ad.testing.check_grads(loss, (norm.offset + 0.5, 2.0 * norm.scale, x), order=1)


def test_batch_norm_keeps_running_values():
    norm, x = nn.BatchNorm.init(5, epsilon=0.001), np.arange(20.0).reshape(4, 5)
    np.testing.assert_allclose(norm(x), x / np.sqrt(1.001))
    with nn.learning_phase():
        gradient = ad.grad(lambda norm: np.sum(norm(x) ** 2))(norm)
    assert not hasattr(gradient, "running_mean")
    first, last = norm(x)[[0, -1]]
    np.testing.assert_allclose(first, [-0.06569097, 0.8014299, 1.6685508, 2.5356717, 3.4027927], rtol=1e-5)
    np.testing.assert_allclose(last, [13.072505, 13.939626, 14.806746, 15.673867, 16.540987], rtol=1e-5)


NOISE = {
    "dropout": lambda seed: nn.Dropout(0.4, rng=seed),
    "noise": lambda seed: nn.GaussianNoise(0.5, rng=seed),
    "gaussian dropout": lambda seed: nn.GaussianDropout(0.3, rng=seed),
    "alpha dropout": lambda seed: nn.AlphaDropout(0.3, rng=seed),
}


@pytest.mark.parametrize("name", NOISE)
def test_noise(name):
    x = array(2000)
    layer = NOISE[name](0)
    assert layer(x) is x and ad.grad(lambda x: np.sum(layer(x)))(x).tolist() == [1.0] * 2000
    with nn.learning_phase():
        y, pullback = ad.vjp(NOISE[name](0), x)
        np.testing.assert_array_equal(y, NOISE[name](0)(x))
        _, tangent = ad.jvp(NOISE[name](0), (x,), (np.ones_like(x),))
        np.testing.assert_allclose(pullback(np.ones_like(x))[0], tangent)
        np.testing.assert_allclose(tangent * 1e-3, NOISE[name](0)(x + 1e-3) - y, atol=1e-12)
        assert not np.array_equal(layer(x), layer(x)) and np.mean(y) == pytest.approx(np.mean(x), abs=0.1)
        assert NOISE[name](0)(x.astype(np.float32)).dtype == np.float32
    if name == "alpha dropout":
        normal = np.random.default_rng(0).normal(size=100_000)
        with nn.learning_phase():
            z = layer(normal)
        assert np.mean(z) == pytest.approx(0.0, abs=0.02) and np.std(z) == pytest.approx(1.0, abs=0.02)


def test_fractional_pooling():
    image = array(1, 7, 7, 2)
    for overlapping in (False, True):
        layer = nn.FractionalMaxPool2D.init(1.5, overlapping=overlapping, rng=0)
        again = nn.FractionalMaxPool2D.init(1.5, overlapping=overlapping, rng=0)
        y, pullback = ad.vjp(again, image)
        np.testing.assert_array_equal(y, layer(image))
        assert y.shape == (1, 4, 4, 2) and np.isin(y, image).all()
        (ct,) = pullback(np.ones_like(y))
        assert ct.sum() == pytest.approx(y.size) and set(np.flatnonzero(ct)) <= set(np.flatnonzero(np.isin(image, y)))


POSITIVE = array(3, 4) + 2.0
SHARES = POSITIVE / POSITIVE.sum(axis=-1, keepdims=True)
LABELS = np.array([3, 0, 1])
SIGNS = np.where(array(3, 4, seed=3) > 0.0, 1.0, -1.0)
LOSSES = {
    nn.l1_loss: (array(3, 4), array(3, 4, seed=1) + 0.01),
    nn.l2_loss: (array(3, 4), array(3, 4, seed=1)),
    nn.mean_absolute_error: (array(3, 4), array(3, 4, seed=1) + 0.01),
    nn.mean_squared_error: (array(3, 4), array(3, 4, seed=1)),
    nn.mean_squared_logarithmic_error: (POSITIVE, SHARES),
    nn.mean_absolute_percentage_error: (array(3, 4), POSITIVE + 1.01),
    nn.hinge_loss: (array(3, 4), SIGNS),
    nn.squared_hinge_loss: (array(3, 4), SIGNS),
    nn.categorical_hinge_loss: (array(3, 4), np.eye(4)[LABELS]),
    nn.log_cosh_loss: (array(3, 4), array(3, 4, seed=1)),
    nn.poisson_loss: (POSITIVE, SHARES),
    nn.kullback_leibler_divergence: (POSITIVE, SHARES),
    nn.softmax_cross_entropy: (array(3, 4), LABELS),
    nn.softmax_cross_entropy_of_probabilities: (array(3, 4), SHARES),
    nn.sigmoid_cross_entropy: (array(3, 4), SHARES),
    nn.huber_loss: (array(3, 4), array(3, 4, seed=1)),
    nn.negative_log_likelihood: (np.log(SHARES), LABELS),
    nn.cosine_distance: (array(3, 4), array(3, 4, seed=1)),
}


@pytest.mark.parametrize(
    "loss", [loss for loss in LOSSES if is_chosen(loss.__name__, 3)], ids=lambda loss: loss.__name__
)
def test_loss(loss):
    predicted, expected = LOSSES[loss]
    check_by_turns(loss.__name__, lambda predicted: loss(predicted, expected), (predicted,), order=2 if THOROUGH else 1)


def test_losses_are_those_of_probabilities():
    logits = array(3, 4)
    shares = nn.softmax(logits)
    one_hot = np.eye(4)[LABELS]
    expected = -np.mean(np.log(shares)[[0, 1, 2], LABELS])
    assert nn.softmax_cross_entropy(logits, LABELS) == pytest.approx(expected)
    assert nn.softmax_cross_entropy_of_probabilities(logits, one_hot) == pytest.approx(expected)
    assert nn.negative_log_likelihood(np.log(shares), LABELS) == pytest.approx(expected)
    p = nn.sigmoid(logits)
    expected = -np.mean(one_hot * np.log(p) + (1 - one_hot) * np.log(1 - p))
    assert nn.sigmoid_cross_entropy(logits, one_hot) == pytest.approx(expected)
    assert nn.hinge_loss(logits, SIGNS, nn.losses.total) == pytest.approx(np.sum(np.maximum(0, 1 - SIGNS * logits)))


ACTIVATIONS = [
    *(nn.elu, nn.gelu, nn.hard_sigmoid, nn.identity, nn.leaky_relu, nn.log_softmax, nn.relu, nn.relu6, nn.selu),
    *(nn.sigmoid, nn.softmax, nn.softplus, nn.softsign, nn.swish),
]


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda f: f.__name__)
def test_activation(activation):
    x = 3.0 * array(2, 7)
    if is_chosen(activation.__name__, 3):
        weights = np.cos(np.arange(14.0)).reshape(2, 7)
        check_by_turns(activation.__name__, lambda x: np.sum(weights * activation(x)), (x,), 2 if THOROUGH else 1)
    large = np.array([-1e3, 1e3])
    assert np.all(np.isfinite(activation(large))) and np.all(np.isfinite(ad.vjp(activation, large)[1](large)[0]))
    assert activation(x.astype(np.float32)).dtype == np.float32
