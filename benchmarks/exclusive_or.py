"""Training a tiny network: what a step costs when the arrays cost nothing.

The exclusive or, learnt by a network 2-4-1 with Adam: the loss, its gradient and the update, in 64-bit floats. Every
system takes the same steps from the same weights, again and again; the losses are held against each other. There are
only so many steps that numbers do not become denormal, which would be what is measured then.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import adjoint as ad
from benchmarks.report import Results, duration, ratio
from benchmarks.timing import race

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = np.array([[0.0], [1.0], [1.0], [0.0]])
RATE = 0.02
STEPS = 400

Train = Callable[[], list[float]]
"""Takes all steps from the start, and gives the losses."""


@dataclass
class Dense:
    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, x):
        return np.maximum(0.0, x @ self.weight + self.bias)  # at zero the slope is that of 0.0, as elsewhere


@dataclass
class Classifier:
    l1: Dense
    l2: Dense

    def __call__(self, x):
        return self.l2(self.l1(x))


def loss(model, x, y):
    return np.mean((model(x) - y) ** 2)


def weights() -> list[np.ndarray]:
    """The weights to start from."""
    rng = np.random.default_rng(2)
    found = []
    for inputs, outputs in ((2, 4), (4, 1)):
        limit = np.sqrt(6 / (inputs + outputs))
        found += [rng.uniform(-limit, limit, (inputs, outputs)), np.zeros(outputs)]
    return found


# --- the contestants -------------------------------------------------------------------------------------------------


def model_at_start() -> Classifier:
    """The model that training starts from."""
    w1, b1, w2, b2 = weights()
    return Classifier(Dense(w1, b1), Dense(w2, b2))


def _adjoint() -> Train:
    value_and_grad = ad.value_and_grad(loss)

    def train():
        model = model_at_start()
        optimizer = ad.optim.Adam(RATE)
        losses = []
        for _ in range(STEPS):
            value, gradient = value_and_grad(model, X, Y)
            optimizer.update(model, along=gradient)
            losses.append(value)
        return losses

    return train


def _adjoint_native() -> Train:
    training = ad.optim.Training(loss, model_at_start(), ad.optim.Adam(RATE), (X, Y), native="strict")

    def train():
        training.model, training.optimizer = model_at_start(), ad.optim.Adam(RATE)
        return training.run(STEPS).tolist()

    return train


def _torch(**options: bool) -> Train:
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    x, y = torch.tensor(X), torch.tensor(Y)

    def train():
        w1, b1, w2, b2 = found = [torch.tensor(weight, requires_grad=True) for weight in weights()]
        optimizer = torch.optim.Adam(found, lr=RATE, **options)
        losses = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            output = torch.relu(torch.relu(x @ w1 + b1) @ w2 + b2)
            value = torch.mean((output - y) ** 2)
            value.backward()
            optimizer.step()
            losses.append(value.item())
        return losses

    return train


def _jax_parts():
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = importlib.import_module("jax.numpy")

    def jax_loss(weights):
        w1, b1, w2, b2 = weights
        output = jax.nn.relu(jax.nn.relu(X @ w1 + b1) @ w2 + b2)
        return jnp.mean((output - Y) ** 2)

    def update(state, _):
        weights, first, second, t = state
        value, gradients = jax.value_and_grad(jax_loss)(weights)
        t = t + 1
        rate = RATE * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        first = [0.9 * m + 0.1 * g for m, g in zip(first, gradients, strict=True)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, gradients, strict=True)]
        moments = zip(weights, first, second, strict=True)
        weights = [w - rate * m / (jnp.sqrt(v) + 1e-8) for w, m, v in moments]
        return (weights, first, second, t), value

    def start():
        found = [jnp.asarray(weight) for weight in weights()]
        zeros = [jnp.zeros_like(weight) for weight in found]
        return found, zeros, zeros, jnp.float64(0)

    return jax, update, start


def _jax() -> Train:
    jax, update, start = _jax_parts()
    compiled = jax.jit(lambda state: update(state, None))

    def train():
        state, losses = start(), []
        for _ in range(STEPS):
            state, value = compiled(state)
            losses.append(float(value))
        return losses

    return train


def _jax_scan() -> Train:
    jax, update, start = _jax_parts()
    compiled = jax.jit(lambda state: jax.lax.scan(update, state, None, length=STEPS))
    return lambda: np.asarray(compiled(start())[1]).tolist()


CONTESTANTS: dict[str, tuple[str, Callable[[], Train]]] = {
    "Adjoint, interpreted": ("adjoint", _adjoint),
    "Adjoint, all steps compiled": ("numba", _adjoint_native),
    "PyTorch, eager": ("torch", _torch),
    "PyTorch, eager, fused Adam": ("torch", lambda: _torch(fused=True)),
    "JAX, `jit` of a step": ("jax", _jax),
    "JAX, `jit` of all steps (`scan`)": ("jax", _jax_scan),
}


# --- the measurement -------------------------------------------------------------------------------------------------


def measure(quick: bool) -> Results:
    """Lets the systems that are installed train in turn."""
    results = Results(
        "A step of a tiny network",
        "The exclusive or, by a network 2-4-1 with Adam, 64-bit floats, one thread each: loss, gradient and update, "
        f"over the first {STEPS} steps of training.",
        ("", "fastest", "median", "fastest, beside Adjoint"),
    )
    contestants: dict[str, Train] = {}
    for name, (package, make) in CONTESTANTS.items():
        if importlib.util.find_spec(package) is None:
            results.notes.append(f"Not installed: {package}.")
        else:
            contestants[name] = make()
    results.notes = list(dict.fromkeys(results.notes))
    check(contestants)
    times = race(contestants, rounds=2 if quick else 20)
    ours = times["Adjoint, interpreted"].best
    for name, found in times.items():
        fastest, median = duration(found.best / STEPS), duration(found.median / STEPS)
        results.rows.append((name, fastest, median, ratio(found.best / ours)))
    return results


def check(contestants: dict[str, Train]) -> None:
    """All systems must compute the same, or their times mean nothing; PyTorch has Adam's epsilon in another place."""
    losses = {name: train()[: STEPS // 8] for name, train in contestants.items()}
    for name, found in losses.items():
        np.testing.assert_allclose(found, losses["Adjoint, interpreted"], rtol=1e-4, err_msg=name)
