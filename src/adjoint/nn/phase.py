"""The learning phase: what layers do in training only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_IS_TRAINING: ContextVar[bool] = ContextVar("adjoint.nn.is_training", default=False)


def is_training() -> bool:
    """Whether layers are to behave as in training: outside of :func:`learning_phase`, they are not."""
    return _IS_TRAINING.get()


@contextmanager
def learning_phase(training: bool = True) -> Iterator[None]:
    """A block in which :func:`is_training` is as given, in this thread or task.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> dropout = nn.Dropout(0.5, rng=0)
    >>> dropout(np.ones(4))
    array([1., 1., 1., 1.])
    >>> with nn.learning_phase():
    ...     dropout(np.ones(4))
    array([2., 0., 0., 0.])
    """
    token = _IS_TRAINING.set(training)
    try:
        yield
    finally:
        _IS_TRAINING.reset(token)
