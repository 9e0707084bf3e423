"""What the library's dataclasses are asked for, without loading `dataclasses` before there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import Field


def is_dataclass(x: object) -> bool:
    """Whether ``x`` is a dataclass or an object of one."""
    return hasattr(x if isinstance(x, type) else type(x), "__dataclass_fields__")


def dataclass_fields(x: Any) -> tuple[Field[Any], ...]:
    """The fields of a dataclass or an object of one; none where it is something else."""
    if not is_dataclass(x):
        return ()
    import dataclasses  # lazy

    return dataclasses.fields(x)
