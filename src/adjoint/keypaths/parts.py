"""Key paths as parameters of operators: equal only where they start from the same class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.records import dataclass

if TYPE_CHECKING:
    from adjoint.keypaths.path import KeyPath


@dataclass(frozen=True, slots=True)
class PartOf:
    """The part that a key path leads to, of the argument that is an instance of the class it starts from."""

    path: KeyPath[Any, Any]
    origin: Any

    def __repr__(self) -> str:
        return repr(self.path)


def as_part(choice: Any) -> Any:
    """What an operator keeps of an entry of ``wrt``."""
    if isinstance(choice, (int, str, PartOf)):
        return choice
    from adjoint.keypaths.path import KeyPath  # lazy

    return PartOf(choice, choice._origin) if isinstance(choice, KeyPath) else choice
