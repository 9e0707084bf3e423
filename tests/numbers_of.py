"""What derivatives are made of."""

from __future__ import annotations

from typing import Any

import numpy as np


def numbers(value: Any) -> list[Any]:
    """All numbers and arrays in a derivative."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in numbers(part)]
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in numbers(part)]
    if hasattr(value, "__dict__") and not isinstance(value, np.ndarray):
        return numbers(vars(value))
    return [] if value is None else [value]
