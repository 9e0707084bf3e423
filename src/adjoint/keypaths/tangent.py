"""Tangents that move one part of a value only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.keypaths.steps import Field, Step
from adjoint.types.structure import is_namedtuple, memberwise
from adjoint.types.vectors import tangent_class


def unit_in(value: Any, steps: Sequence[Step], unit: Any) -> Any:
    """The tangent of ``value`` that is ``unit`` where the steps lead, and zero elsewhere."""
    if not steps:
        return unit
    step, rest = steps[0], steps[1:]
    part = unit_in(step.get(value), rest, unit)
    if isinstance(value, (tuple, list)):
        key = value._fields.index(step.name) if isinstance(step, Field) else step.key  # type: ignore[union-attr]
        items: list[Any] = [None] * len(value)
        items[key] = part
        if isinstance(value, list):
            return items
        return type(value)(*items) if is_namedtuple(value) else tuple(items)
    if isinstance(step, Field):
        return memberwise(tangent_class(type(value)), **{step.name: part})
    if isinstance(value, np.ndarray):
        whole = np.zeros_like(value)
        whole[step.key] = part
        return whole
    return {step.key: part}
