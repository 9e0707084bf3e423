"""What tells differential operators from other callables: a mark that they and what they made carry."""

from __future__ import annotations

from typing import Any

from adjoint.types.structure import own_attribute

MARK = "__adjoint_operator__"


def is_operator(value: Any) -> bool:
    """Whether ``value`` is a differential operator or what one made of a function."""
    return own_attribute(value, MARK) is not None
