"""The training loop: epochs, batches, events, and callbacks that hear of them and may cancel."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any, Literal

from adjoint.api.gradients import value_and_grad
from adjoint.nn.phase import learning_phase
from adjoint.nn.training.metrics import METRICS, Loss, Metric
from adjoint.optim import Optimizer

Batch = tuple[Any, Any]
Statistics = dict[str, float]
Scope = Literal["batch", "training", "validation", "epoch", "fit"]


class Event(enum.StrEnum):
    """What callbacks hear of."""

    FIT_START = "fit_start"
    EPOCH_START = "epoch_start"
    TRAINING_START = "training_start"
    VALIDATION_START = "validation_start"
    BATCH_START = "batch_start"
    UPDATE_START = "update_start"
    PREDICTION_END = "prediction_end"
    BATCH_END = "batch_end"
    TRAINING_END = "training_end"
    VALIDATION_END = "validation_end"
    EPOCH_END = "epoch_end"
    FIT_END = "fit_end"


class Cancel(Exception):
    """Raised by a callback: the rest of the batch, training, validation, epoch or fit is left out.

    The event that ends what is cancelled is told as ever.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        if scope not in ("batch", "training", "validation", "epoch", "fit"):
            raise ValueError(f"what can be cancelled is a batch, training, validation, epoch or fit, and not {scope!r}")
        self.scope = scope


class TrainingLoop:
    """Trains a model on batches, in place.

    Parameters
    ----------
    training, validation
        Batches ``(inputs, targets)``, gone through once in each epoch: an :class:`adjoint.data.Batches`, a list.
    optimizer
        Takes the steps.
    loss
        A function of outputs and targets: a number, the mean over the samples.
    metrics
        Measured besides the loss: names of ``nn.METRICS``, or functions that make a metric.
    callbacks
        Functions of the loop and an :class:`Event`. They read and change what the loop holds, and may raise
        :class:`Cancel`.

    Attributes
    ----------
    model, epoch, epochs
        What is trained, the number of the epoch, and how many there are.
    batch, batches
        The number of the batch, and how many there are (None where nobody knows).
    inputs, targets, outputs, loss_value, gradient
        Of this batch.
    statistics
        The metrics of this pass so far.
    history
        One dict for each epoch that ended, ``{"loss": ..., "validation_loss": ...}``.

    Examples
    --------
    >>> import numpy as np
    >>> import adjoint as ad
    >>> from adjoint import nn
    >>> x = np.linspace(-1.0, 1.0, 64).reshape(-1, 1)
    >>> model = nn.Dense.init(1, 1, rng=0)
    >>> batches = ad.data.Batches(x, 3.0 * x - 1.0, size=16, rng=0)
    >>> loop = nn.TrainingLoop(batches, optimizer=ad.optim.SGD(0.5), loss=nn.mean_squared_error)
    >>> history = loop.fit(model, epochs=20)
    >>> history[-1]["loss"] < 1e-3, model.weight.round(2), model.bias.round(2)
    (True, array([[3.]]), array([-1.]))
    """

    def __init__(
        self,
        training: Iterable[Batch],
        validation: Iterable[Batch] | None = None,
        *,
        optimizer: Optimizer,
        loss: Callable[[Any, Any], Any],
        metrics: Sequence[str | Callable[[], Metric]] = (),
        callbacks: Sequence[Callable[[TrainingLoop, Event], None]] = (),
    ) -> None:
        unknown = [metric for metric in metrics if isinstance(metric, str) and metric not in METRICS]
        if unknown:
            raise ValueError(f"there is no metric {unknown[0]!r}; there are {', '.join(METRICS)}")
        self.training, self.validation = training, validation
        self.optimizer, self.loss = optimizer, loss
        self.metrics = [Loss, *(METRICS[metric] if isinstance(metric, str) else metric for metric in metrics)]
        self.callbacks = list(callbacks)
        self.history: list[Statistics] = []
        self.epoch = self.epochs = self.batch = 0
        self.batches: int | None = None
        self.statistics: Statistics = {}
        self.model: Any = None
        self.inputs: Any = None
        self.targets: Any = None
        self.outputs: Any = None
        self.loss_value = 0.0
        self.gradient: Any = None

        def loss_of(model: Any, inputs: Any, targets: Any) -> tuple[Any, Any]:
            outputs = model(inputs)
            return loss(outputs, targets), outputs

        self._loss_of = loss_of
        self._derivative = value_and_grad(loss_of, has_aux=True)

    def fit(self, model: Any, epochs: int) -> list[Statistics]:
        """Trains a model; what was trained before goes on, and its epochs count on.

        Parameters
        ----------
        model
            A function of inputs, whose parameters are updated in place.
        epochs
            How many passes over the training data.

        Returns
        -------
        list of dict
            The :attr:`history`.
        """
        self.model, self.epochs = model, self.epoch + epochs
        self._scoped("fit", self._fit, Event.FIT_START, Event.FIT_END)
        return self.history

    def predict(self, model: Any, inputs: Iterable[Any]) -> list[Any]:
        """The outputs of batches of inputs, outside of the training phase."""
        with learning_phase(False):
            return [model(each) for each in inputs]

    def train_step(self) -> None:
        """A step on a batch: loss, outputs and gradient, and the update."""
        (value, self.outputs), self.gradient = self._derivative(self.model, self.inputs, self.targets)
        self.loss_value = float(value)
        self.tell(Event.UPDATE_START)
        self.optimizer.update(self.model, along=self.gradient)

    def validation_step(self) -> None:
        """Loss and outputs of a batch."""
        value, self.outputs = self._loss_of(self.model, self.inputs, self.targets)
        self.loss_value = float(value)
        self.tell(Event.PREDICTION_END)

    def tell(self, event: Event) -> None:
        """Tells all callbacks of an event."""
        for callback in self.callbacks:
            callback(self, event)

    def _fit(self) -> None:
        while self.epoch < self.epochs:
            self.epoch += 1
            self.history.append({})
            self._scoped("epoch", self._one_epoch, Event.EPOCH_START, Event.EPOCH_END)

    def _one_epoch(self) -> None:
        def train() -> None:
            with learning_phase():
                self._pass(self.training, self.train_step, "")

        def validate() -> None:
            with learning_phase(False):
                self._pass(self.validation or (), self.validation_step, "validation_")

        self._scoped("training", train, Event.TRAINING_START, Event.TRAINING_END)
        if self.validation is not None:
            self._scoped("validation", validate, Event.VALIDATION_START, Event.VALIDATION_END)

    def _pass(self, batches: Iterable[Batch], step: Callable[[], None], prefix: str) -> None:
        measured = [metric() for metric in self.metrics]
        self.batch, self.batches = 0, len(batches) if isinstance(batches, Sized) else None

        def one_batch() -> None:
            step()
            for metric in measured:
                metric.add(self.loss_value, self.outputs, self.targets)
            self.statistics = {prefix + metric.name: metric.value() for metric in measured}
            self.history[-1].update(self.statistics)

        for inputs, targets in batches:
            self.batch += 1
            self.inputs, self.targets = inputs, targets
            self._scoped("batch", one_batch, Event.BATCH_START, Event.BATCH_END)

    def _scoped(self, scope: Scope, run: Callable[[], None], start: Event, end: Event) -> None:
        """Runs what may be cancelled, and tells of its start and its end."""
        outer: Cancel | None = None
        try:
            self.tell(start)
            run()
        except Cancel as cancelled:
            if cancelled.scope != scope:
                outer = cancelled
        try:
            self.tell(end)
        except Cancel as cancelled:
            if cancelled.scope != scope:
                outer = outer or cancelled
        if outer is not None and scope == "fit":
            raise RuntimeError(f"a callback cancelled the {outer.scope}, and none was going on") from outer
        if outer is not None:
            raise outer
