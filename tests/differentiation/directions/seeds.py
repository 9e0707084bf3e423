"""Directions along which tests differentiate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.api.tools.float_leaves import leaves, rebuild

WIDTH = 3
"""How many directions there are."""


def directions_of(arguments: Sequence[Any]) -> list[list[Any]]:
    """Different directions for arguments, of their structure."""

    def of(lane: int, place: int, argument: Any) -> Any:
        if not leaves(argument):
            return None

        def leaf(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                numbers = np.cos(lane + place + np.arange(value.size)).reshape(value.shape)
                return numbers.astype(value.dtype)
            return type(value)(np.cos(lane + 2.0 * place))

        return rebuild(argument, leaf, {})

    return [[of(lane, place, argument) for place, argument in enumerate(arguments)] for lane in range(WIDTH)]
