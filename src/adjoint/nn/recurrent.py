"""Recurrent layers: cells that go through a sequence, ``(samples, time, features)``."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adjoint.declarations.differentiable_types import differentiable
from adjoint.nn.activations import sigmoid
from adjoint.nn.basic import Random
from adjoint.nn.initializers import Initializer, generator, glorot_uniform
from adjoint.types import no_derivative

Array = NDArray[Any]


@differentiable
class BasicRNNCell:
    """``tanh([x, state] @ weight + bias)``: the output and the next state.

    Attributes
    ----------
    weight
        ``(inputs + hidden, hidden)``.
    bias
        ``(hidden,)``.
    """

    weight: Array
    bias: Array

    @classmethod
    def init(
        cls,
        inputs: int,
        hidden: int,
        *,
        initializer: Initializer = glorot_uniform,
        rng: Random = None,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """A cell with random weights."""
        return cls(initializer((inputs + hidden, hidden), generator(rng), dtype), np.zeros(hidden, dtype))

    def zero_state(self, samples: int) -> Array:
        """The state before a sequence."""
        return np.zeros((samples, self.bias.shape[0]), self.bias.dtype)

    def __call__(self, x: Array, state: Array) -> tuple[Array, Array]:
        state = np.tanh(np.concatenate([x, state], axis=1) @ self.weight + self.bias)
        return state, state


@differentiable
class LSTMCell:
    """Long short-term memory (Hochreiter and Schmidhuber, 1997): ``hidden``, and the state ``(cell, hidden)``.

    Attributes
    ----------
    weight
        ``(inputs + hidden, 4 * hidden)``: the gates for input, update, forgetting and output, next to each other.
    bias
        ``(4 * hidden,)``.

    Examples
    --------
    >>> from adjoint import nn
    >>> layer = nn.RecurrentLayer(nn.LSTMCell.init(3, 5, rng=0))
    >>> layer(np.ones((2, 7, 3))).shape
    (2, 7, 5)
    """

    weight: Array
    bias: Array

    @classmethod
    def init(
        cls,
        inputs: int,
        hidden: int,
        *,
        initializer: Initializer = glorot_uniform,
        rng: Random = None,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """A cell with random weights."""
        return cls(initializer((inputs + hidden, 4 * hidden), generator(rng), dtype), np.zeros(4 * hidden, dtype))

    def zero_state(self, samples: int) -> tuple[Array, Array]:
        """The state before a sequence."""
        zeros = np.zeros((samples, self.bias.shape[0] // 4), self.bias.dtype)
        return zeros, zeros

    def __call__(self, x: Array, state: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        cell, hidden = state
        size = hidden.shape[1]
        gates = np.concatenate([x, hidden], axis=1) @ self.weight + self.bias
        enter = sigmoid(gates[:, :size])
        update = np.tanh(gates[:, size : 2 * size])
        forget = sigmoid(gates[:, 2 * size : 3 * size])
        leave = sigmoid(gates[:, 3 * size :])
        cell = cell * forget + enter * update
        hidden = np.tanh(cell) * leave
        return hidden, (cell, hidden)


@differentiable
class GRUCell:
    """A gated recurrent unit (Cho et al., 2014); its output is its state.

    Attributes
    ----------
    weight, recurrent
        ``(inputs, 3 * hidden)`` and ``(hidden, 3 * hidden)``: update, reset and output, next to each other.
    bias, recurrent_bias
        ``(3 * hidden,)`` each.
    """

    weight: Array
    recurrent: Array
    bias: Array
    recurrent_bias: Array

    @classmethod
    def init(
        cls,
        inputs: int,
        hidden: int,
        *,
        initializer: Initializer = glorot_uniform,
        rng: Random = None,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """A cell with random weights."""
        rng = generator(rng)
        return cls(
            initializer((inputs, 3 * hidden), rng, dtype),
            initializer((hidden, 3 * hidden), rng, dtype),
            np.zeros(3 * hidden, dtype),
            np.zeros(3 * hidden, dtype),
        )

    def zero_state(self, samples: int) -> Array:
        """The state before a sequence."""
        return np.zeros((samples, self.recurrent.shape[0]), self.bias.dtype)

    def __call__(self, x: Array, state: Array) -> tuple[Array, Array]:
        size = state.shape[1]
        new = x @ self.weight + self.bias
        old = state @ self.recurrent + self.recurrent_bias
        gates = sigmoid(new[:, : 2 * size] + old[:, : 2 * size])
        update = gates[:, :size]
        output = np.tanh(new[:, 2 * size :] + gates[:, size:] * old[:, 2 * size :])
        state = update * state + (1.0 - update) * output
        return state, state


@differentiable
class RecurrentLayer:
    """A cell that goes through a sequence, ``(samples, time, features)``, and gives its outputs, in their order."""

    cell: Any

    def __call__(self, x: Array) -> Array:
        outputs, _ = self.unrolled(x, self.cell.zero_state(x.shape[0]))
        return outputs

    def unrolled(self, x: Array, state: Any) -> tuple[Array, Any]:
        """The outputs, and the state at the end, from another state than zero."""
        outputs = []
        for time in range(x.shape[1]):
            output, state = self.cell(x[:, time], state)
            outputs.append(output)
        return np.stack(outputs, axis=1), state


Merge = Literal["sum", "concatenate", "average", "multiply", "stack"]


@differentiable
class BidirectionalRecurrentLayer:
    """Two cells, one through the sequence and one against it; ``merge`` says what becomes of their outputs."""

    forward: RecurrentLayer
    backward: RecurrentLayer
    merge: Merge = no_derivative(default="concatenate")

    def __call__(self, x: Array) -> Array:
        there = self.forward(x)
        back = self.backward(x[:, ::-1])[:, ::-1]
        if self.merge == "sum":
            return there + back
        if self.merge == "average":
            return 0.5 * (there + back)
        if self.merge == "multiply":
            return there * back
        if self.merge == "stack":
            return np.stack([there, back], axis=-1)
        if self.merge == "concatenate":
            return np.concatenate([there, back], axis=-1)
        raise ValueError(f"merge is 'sum', 'concatenate', 'average', 'multiply' or 'stack', and not {self.merge!r}")


def LSTM(inputs: int, hidden: int, **options: Any) -> RecurrentLayer:
    """A layer of :class:`LSTMCell`, with its options."""
    return RecurrentLayer(LSTMCell.init(inputs, hidden, **options))


def GRU(inputs: int, hidden: int, **options: Any) -> RecurrentLayer:
    """A layer of :class:`GRUCell`, with its options."""
    return RecurrentLayer(GRUCell.init(inputs, hidden, **options))
