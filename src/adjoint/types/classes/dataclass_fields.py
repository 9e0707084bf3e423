"""What the library's dataclasses are asked for, without loading `dataclasses` before there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.types.classes.safe_lookups import asked

if TYPE_CHECKING:
    from dataclasses import Field


def is_dataclass(x: object) -> bool:
    """Whether ``x`` is a dataclass or an object of one."""
    return asked(x if isinstance(x, type) else type(x), "__dataclass_fields__") is not None


def dataclass_fields(x: Any) -> tuple[Field[Any], ...]:
    """The fields of a dataclass or an object of one; none where it is something else."""
    if not is_dataclass(x):
        return ()
    import dataclasses  # lazy

    return dataclasses.fields(x)
