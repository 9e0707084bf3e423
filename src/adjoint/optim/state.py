"""What an optimizer has learnt: a value that can be printed, compared and kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adjoint.parameters import Layout


class State:
    """The state of an optimizer after some updates.

    Attributes
    ----------
    step : int
        How many updates were made.
    parts : dict
        What it keeps of each parameter, by name (``first_moments``), each as a tangent of the model. They can be
        read as attributes, too.

    Examples
    --------
    >>> import adjoint as ad
    >>> optimizer = ad.optim.SGD(0.1, momentum=0.5)
    >>> optimizer.updated(1.0, along=2.0)
    0.8
    >>> optimizer.state
    State(step=1, velocities=-0.2)
    """

    def __init__(self, step: int, parts: Mapping[str, Any]) -> None:
        self.step = step
        self.parts = dict(parts)

    def check(self) -> None:
        """Checks that training can go on from here.

        Raises
        ------
        ValueError
            If the step is not a whole number from 0, or if there is a number that is not finite.
        """
        if type(self.step) is not int or self.step < 0:
            raise ValueError(f"the step of a state is a whole number from 0, not {self.step!r}")
        for name, part in self.parts.items():
            layout = Layout(part)
            for parameter, value in zip(layout.parameters, layout.leaves(part), strict=True):
                if value is not None and not np.all(np.isfinite(value)):
                    raise ValueError(f"the state holds numbers that are not finite: {name}{parameter.path}")

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["parts"][name]
        except KeyError:
            raise AttributeError(f"the state has no {name!r}") from None

    def __eq__(self, other: object) -> bool:
        """Whether all is equal, to the last bit."""
        if not isinstance(other, State):
            return NotImplemented
        if self.step != other.step or self.parts.keys() != other.parts.keys():
            return False
        return all(_same(mine, other.parts[name]) for name, mine in self.parts.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = "".join(f", {name}={value!r}" for name, value in self.parts.items())
        return f"State(step={self.step}{parts})"


def _same(a: Any, b: Any) -> bool:
    ours, theirs = Layout(a), Layout(b)
    if ours != theirs:
        return False
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(ours.leaves(a), theirs.leaves(b), strict=True))
