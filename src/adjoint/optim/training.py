"""Training on one set of data: the loop around the gradient and the update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.api.gradients import value_and_grad
from adjoint.diagnostics import DifferentiationError, warn
from adjoint.optim.optimizer import Native, Optimizer
from adjoint.parameters import CompiledLoop, NotNative


class Training:
    """Steps down the gradient of a loss, always on the same data.

    Parameters
    ----------
    loss
        A function of the model and other arguments that returns a number.
    model
        What is trained, in place.
    optimizer
        Takes the steps.
    args
        The other arguments of the loss.
    native
        Whether to compile loss, gradient and update into one loop, which does not return to Python between steps. The
        parameters are then arrays of one dtype in containers and plain dataclasses. What cannot be compiled runs
        interpreted, with a warning that says why; ``"strict"`` makes that an error.

    Examples
    --------
    >>> import adjoint as ad
    >>> def loss(point, target):
    ...     return np.sum((point["x"] - target) ** 2)
    >>> point = {"x": np.zeros(2)}
    >>> training = ad.optim.Training(loss, point, ad.optim.SGD(0.25), (np.array([1.0, 2.0]),))
    >>> training.run(steps=3)
    array([5.    , 1.25  , 0.3125])
    >>> point
    {'x': array([0.875, 1.75 ])}
    """

    def __init__(
        self,
        loss: Callable[..., Any],
        model: Any,
        optimizer: Optimizer,
        args: tuple[Any, ...] = (),
        *,
        native: Native = None,
    ) -> None:
        self.loss = loss
        self.model = model
        self.optimizer = optimizer
        self.args = args
        self.native = native
        self._derivative = value_and_grad(loss)
        self._loop: CompiledLoop | None = None

    def run(self, steps: int) -> np.ndarray[Any, Any]:
        """Takes steps, and gives the loss before each of them."""
        if self.native:
            try:
                return self._run_compiled(steps)
            except NotNative as reason:
                if self.native == "strict":
                    raise DifferentiationError(reason.problem) from reason.__cause__
                warn(reason.problem)
        losses = []
        for _ in range(steps):
            value, gradient = self._derivative(self.model, *self.args)
            self.optimizer.update(self.model, along=gradient)
            losses.append(value)
        return np.array(losses)

    def _run_compiled(self, steps: int) -> np.ndarray[Any, Any]:
        if self._loop is None or not self._loop.fits(self.model, self.args):
            self._loop = CompiledLoop(self.loss, self.model, self.args)
        return self.optimizer.run_compiled(self._loop, self.model, self.args, steps)
