"""One step of training: a perceptron 784-128-10, a batch of 64 images, gradient descent, 64-bit floats.

Every system starts from the same weights. A contestant is a function that takes one step and can tell its loss; before
anything is timed, all are held against each other over some steps.
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

SIZES = (784, 128, 10)
BATCH = 64
RATE = 0.05
CHECKED_STEPS = 5

Step = Callable[[], float]


@dataclass
class Dense:
    w: np.ndarray
    b: np.ndarray

    def __call__(self, x):
        return x @ self.w + self.b


@dataclass
class Perceptron:
    hidden: Dense
    output: Dense

    def __call__(self, x):
        return self.output(np.maximum(self.hidden(x), 0.0))


def loss(model, images, labels):
    scores = model(images)
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_sums = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_sums - shifted[np.arange(len(labels)), labels])


@dataclass(frozen=True)
class Problem:
    """The weights to start from, and the batch."""

    weights: tuple[np.ndarray, ...]
    images: np.ndarray
    labels: np.ndarray

    def copies(self) -> list[np.ndarray]:
        """Weights that a contestant may overwrite."""
        return [weight.copy() for weight in self.weights]


def _problem() -> Problem:
    rng = np.random.default_rng(0)
    inputs, hidden, outputs = SIZES
    weights = (
        rng.normal(size=(inputs, hidden)) * np.sqrt(2.0 / inputs),
        np.zeros(hidden),
        rng.normal(size=(hidden, outputs)) * np.sqrt(2.0 / hidden),
        np.zeros(outputs),
    )
    return Problem(weights, rng.random((BATCH, inputs)), rng.integers(0, outputs, BATCH))


# --- the contestants -------------------------------------------------------------------------------------------------


def _adjoint(problem: Problem) -> Step:
    w1, b1, w2, b2 = problem.copies()
    model = Perceptron(Dense(w1, b1), Dense(w2, b2))
    value_and_grad = ad.value_and_grad(loss)

    def step():
        value, gradient = value_and_grad(model, problem.images, problem.labels)
        for layer, direction in ((model.hidden, gradient.hidden), (model.output, gradient.output)):
            layer.w -= RATE * direction.w
            layer.b -= RATE * direction.b
        return value

    return step


def _by_hand(problem: Problem) -> Step:
    w1, b1, w2, b2 = problem.copies()
    images, labels = problem.images, problem.labels
    rows = np.arange(len(labels))

    def step():
        nonlocal w1, b1, w2, b2
        hidden = np.maximum(images @ w1 + b1, 0.0)
        scores = hidden @ w2 + b2
        shifted = scores - np.max(scores, axis=1, keepdims=True)
        exponentials = np.exp(shifted)
        sums = np.sum(exponentials, axis=1, keepdims=True)
        value = np.mean(np.log(sums[:, 0]) - shifted[rows, labels])
        d_scores = exponentials / sums
        d_scores[rows, labels] -= 1.0
        d_scores /= len(labels)
        d_hidden = d_scores @ w2.T
        d_hidden[hidden <= 0.0] = 0.0
        w2 -= RATE * (hidden.T @ d_scores)
        b2 -= RATE * np.sum(d_scores, axis=0)
        w1 -= RATE * (images.T @ d_hidden)
        b1 -= RATE * np.sum(d_hidden, axis=0)
        return value

    return step


def _autograd(problem: Problem) -> Step:
    anp = importlib.import_module("autograd.numpy")
    autograd = importlib.import_module("autograd")

    def autograd_loss(weights, images, labels):
        w1, b1, w2, b2 = weights
        scores = anp.maximum(images @ w1 + b1, 0.0) @ w2 + b2
        shifted = scores - anp.max(scores, axis=1, keepdims=True)
        log_sums = anp.log(anp.sum(anp.exp(shifted), axis=1))
        return anp.mean(log_sums - shifted[anp.arange(len(labels)), labels])

    value_and_grad = autograd.value_and_grad(autograd_loss)
    weights = problem.copies()

    def step():
        value, gradients = value_and_grad(weights, problem.images, problem.labels)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight -= RATE * gradient
        return value

    return step


def _jax(problem: Problem) -> Step:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = importlib.import_module("jax.numpy")

    def jax_loss(weights, images, labels):
        w1, b1, w2, b2 = weights
        scores = jnp.maximum(images @ w1 + b1, 0.0) @ w2 + b2
        shifted = scores - jnp.max(scores, axis=1, keepdims=True)
        log_sums = jnp.log(jnp.sum(jnp.exp(shifted), axis=1))
        return jnp.mean(log_sums - shifted[jnp.arange(len(labels)), labels])

    @jax.jit
    def update(weights, images, labels):
        value, gradients = jax.value_and_grad(jax_loss)(weights, images, labels)
        return value, [weight - RATE * gradient for weight, gradient in zip(weights, gradients, strict=True)]

    weights = [jnp.asarray(weight) for weight in problem.weights]
    images, labels = jnp.asarray(problem.images), jnp.asarray(problem.labels)

    def step():
        nonlocal weights
        value, weights = update(weights, images, labels)
        return float(value)  # waits for the result

    return step


def _torch(problem: Problem) -> Step:
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    w1, b1, w2, b2 = weights = [torch.tensor(weight, requires_grad=True) for weight in problem.weights]
    images, labels = torch.tensor(problem.images), torch.tensor(problem.labels)
    optimizer = torch.optim.SGD(weights, lr=RATE)

    def step():
        optimizer.zero_grad()
        scores = torch.relu(images @ w1 + b1) @ w2 + b2
        value = torch.nn.functional.cross_entropy(scores, labels)
        value.backward()
        optimizer.step()
        return value.item()

    return step


CONTESTANTS: dict[str, tuple[str, Callable[[Problem], Step]]] = {
    "Adjoint, interpreted": ("adjoint", _adjoint),
    "NumPy, gradient by hand": ("numpy", _by_hand),
    "autograd": ("autograd", _autograd),
    "JAX, `jit` of the whole step": ("jax", _jax),
    "PyTorch, eager": ("torch", _torch),
}


# --- the measurement -------------------------------------------------------------------------------------------------


def measure(quick: bool) -> Results:
    """Lets the systems that are installed take steps in turn."""
    results = Results(
        "A training step",
        f"A perceptron {'-'.join(map(str, SIZES))}, ReLU, cross-entropy, a batch of {BATCH}, gradient descent, 64-bit "
        "floats, one thread each; the loss of each step is read.",
        ("", "fastest", "median", "fastest, beside Adjoint"),
    )
    problem = _problem()
    steps: dict[str, Step] = {}
    for name, (package, make) in CONTESTANTS.items():
        if importlib.util.find_spec(package) is None:
            results.notes.append(f"Not installed: {package}.")
        else:
            steps[name] = make(problem)
    _check(steps)
    times = race(steps, rounds=5 if quick else 100)
    ours = times["Adjoint, interpreted"].best
    for name, found in times.items():
        results.rows.append((name, duration(found.best), duration(found.median), ratio(found.best / ours)))
    return results


def _check(steps: dict[str, Step]) -> None:
    """All systems must compute the same, or their times mean nothing."""
    losses = {name: [float(step()) for _ in range(CHECKED_STEPS)] for name, step in steps.items()}
    expected = losses["NumPy, gradient by hand"]
    for name, found in losses.items():
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=name)
