"""The loss of a recurrent network of long short-term memory cells that predicts the next character."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.gradbench.build import Build
from benchmarks.gradbench.evaluation import Function


def objective(main, extra, state, sequence):
    """The mean of the negative logarithms of the predicted probabilities.

    A layer has two rows of ``main``, weights and biases of its four gates, and two of ``state``, what is hidden and
    what its cells hold. The rows of ``extra`` are the weights of input and output and the bias of the output.
    """
    layers = len(main) // 2
    length, width = sequence.shape
    hidden = state[0::2].copy()
    cell = state[1::2].copy()
    total = 0.0
    for t in range(length - 1):
        x = sequence[t] * extra[0]
        for i in range(layers):
            for j in range(width):
                forget = sigmoid(x[j] * main[2 * i, j] + main[2 * i + 1, j])
                ingate = sigmoid(hidden[i, j] * main[2 * i, width + j] + main[2 * i + 1, width + j])
                outgate = sigmoid(x[j] * main[2 * i, 2 * width + j] + main[2 * i + 1, 2 * width + j])
                change = math.tanh(hidden[i, j] * main[2 * i, 3 * width + j] + main[2 * i + 1, 3 * width + j])
                cell[i, j] = cell[i, j] * forget + ingate * change
                hidden[i, j] = outgate * math.tanh(cell[i, j])
                x[j] = hidden[i, j]
        y = x * extra[1] + extra[2]
        total += np.sum(sequence[t + 1] * (y - math.log(2.0 + np.sum(np.exp(y)))))
    return -total / (width * (length - 1))


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def prepare(given: Any) -> tuple[Any, ...]:
    """The arguments of the objective."""
    return tuple(np.asarray(given[name], dtype=float) for name in ("main_params", "extra_params", "state", "sequence"))


def flat(gradient: Any) -> list[float]:
    """The gradients of both kinds of parameters, one after the other."""
    return [number for part in gradient for number in part.ravel().tolist()]


def functions(build: Build) -> dict[str, Function]:
    """The eval."""
    return {
        "objective": Function(prepare, build.program(objective)),
        "jacobian": Function(prepare, build.grad(objective, (0, 1)), flat),
    }
