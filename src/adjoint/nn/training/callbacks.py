"""Callbacks of the training loop: progress, files, rates, stopping early."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from adjoint.nn.training.checkpoints import save_checkpoint
from adjoint.nn.training.loop import Cancel, Event, TrainingLoop


class ProgressPrinter:
    """Prints a line for each epoch; on terminals it grows with the batches.

    Parameters
    ----------
    file
        Where to; the standard output by default.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self.file = file

    def __call__(self, loop: TrainingLoop, event: Event) -> None:
        file = sys.stdout if self.file is None else self.file
        if event is Event.EPOCH_END or (event is Event.BATCH_END and file.isatty()):
            numbers = loop.history[-1] if event is Event.EPOCH_END else loop.statistics
            measured = "  ".join(f"{name.replace('_', ' ')} {value:.4f}" for name, value in numbers.items())
            batch = f"  batch {loop.batch}/{loop.batches or '?'}" if event is Event.BATCH_END else ""
            start = "\r\x1b[K" if file.isatty() else ""
            end = "\n" if event is Event.EPOCH_END else ""
            print(f"{start}epoch {loop.epoch}/{loop.epochs}{batch}  {measured}", end=end, file=file, flush=True)


class CSVLogger:
    """Writes a row for each epoch to a file: its number and the metrics; a run that goes on adds rows.

    Parameters
    ----------
    path
        The file. One of other metrics is refused (ValueError).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    def __call__(self, loop: TrainingLoop, event: Event) -> None:
        if event is not Event.EPOCH_END:
            return
        names = ["epoch", *loop.history[-1]]
        is_new = not os.path.exists(self.path) or os.path.getsize(self.path) == 0
        if not is_new:
            with open(self.path, newline="", encoding="utf-8") as file:
                header = next(csv.reader(file))
            if header != names:
                raise ValueError(f"{os.fspath(self.path)} has the columns {header}, and not {names}")
        with open(self.path, "a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerows([names] * is_new)
            writer.writerow([loop.epoch, *loop.history[-1].values()])


class LearningRateScheduler:
    """Sets the learning rate at the start of each epoch.

    Parameters
    ----------
    schedule
        A function of the number of the epoch, from one.
    """

    def __init__(self, schedule: Callable[[int], float]) -> None:
        self.schedule = schedule

    def __call__(self, loop: TrainingLoop, event: Event) -> None:
        if event is Event.EPOCH_START:
            optimizer: Any = loop.optimizer
            optimizer.learning_rate = self.schedule(loop.epoch)


class EarlyStopping:
    """Ends the fit when a metric has not become smaller for a number of epochs.

    Parameters
    ----------
    metric
        Its name in the history.
    patience
        How many epochs it may stay.
    """

    def __init__(self, metric: str = "validation_loss", patience: int = 3) -> None:
        self.metric, self.patience = metric, patience
        self.best, self.best_epoch = float("inf"), 0

    def __call__(self, loop: TrainingLoop, event: Event) -> None:
        if event is not Event.EPOCH_END:
            return
        if self.metric not in loop.history[-1]:
            raise ValueError(f"there is no {self.metric!r} among {', '.join(loop.history[-1])}")
        if loop.history[-1][self.metric] < self.best:
            self.best, self.best_epoch = loop.history[-1][self.metric], loop.epoch
        elif loop.epoch - self.best_epoch >= self.patience:
            raise Cancel("fit")


class Checkpoint:
    """Saves model, optimizer and history at the end of each epoch, or of those in which a metric is the best so far.

    Parameters
    ----------
    path
        The file; it holds one checkpoint, whole at any time.
    best
        The name of a metric that is to become smaller; None saves each epoch.
    """

    def __init__(self, path: str | os.PathLike[str], best: str | None = None) -> None:
        self.path, self.best, self._least = path, best, float("inf")

    def __call__(self, loop: TrainingLoop, event: Event) -> None:
        if event is not Event.EPOCH_END:
            return
        value = loop.history[-1][self.best] if self.best is not None else -float("inf")
        if self.best is None or value < self._least:
            self._least = value
            save_checkpoint(self.path, loop.model, loop.optimizer, loop.history)
