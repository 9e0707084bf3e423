"""What an eval consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A result as JSON can hold it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


@dataclass(frozen=True)
class Function:
    """One function of an eval.

    Parameters
    ----------
    prepare
        What takes the input, as JSON holds it, to the arguments of ``run``.
    run
        What is timed.
    present
        What takes its result to the output, as JSON holds it.
    """

    prepare: Callable[[Any], tuple[Any, ...]]
    run: Callable[..., Any]
    present: Callable[[Any], Any] = plain
