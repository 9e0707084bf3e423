"""What is said about key paths that do not fit."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from adjoint.diagnostics import DifferentiationError, diagnostic
from adjoint.keypaths.steps import Field, structure_of
from adjoint.types.classes.annotations import field_types, plain

if TYPE_CHECKING:
    from adjoint.keypaths.path import KeyPath


class KeyPathError(DifferentiationError, LookupError):
    """A key path leads nowhere in the value that it was applied to, or to what cannot be assigned."""


class UndeclaredError(KeyPathError, AttributeError):
    """The class that a key path starts from declares no such part."""


def undeclared(path: KeyPath[Any, Any], index: int, holder: Any) -> UndeclaredError:
    """The step ``index`` leads to nothing that the declared type ``holder`` has."""
    step, way = path.steps[index], "".join(map(str, path.steps[:index])) or structure_of(path._origin)
    kind = plain(holder)
    notes = [f"{way} is declared as {getattr(kind, '__qualname__', kind)}"] if index else []
    names = list(field_types(kind)) if isinstance(step, Field) else []
    near = get_close_matches(step.name, names, 1) if isinstance(step, Field) else []
    helps = [f"did you mean .{near[0]}?"] if near else []
    helps.append(f"a way that declarations do not tell is written as text: ad.keypath({str(path)!r})")
    text = f"{path} does not fit: there is no {step} in {way}"
    return UndeclaredError(diagnostic("AD0410", None, text, notes=notes, helps=helps))


def misfit(path: KeyPath[Any, Any], index: int, holder: Any, value: Any) -> KeyPathError:
    """The step ``index`` leads nowhere from ``holder``, a part of ``value``."""
    step, way = path.steps[index], _way(path, index)
    notes = [f"{way} is {structure_of(holder)}"] if index else []
    if path._origin is not None and type(value) is not path._origin:
        notes.append(f"the key path is one of {structure_of(path._origin)}")
    notes.append(f"it was applied to {structure_of(value)}")
    text = f"{path} does not fit: there is no {step} in {way}"
    return KeyPathError(diagnostic("AD0410", None, text, notes=notes))


def not_writable(path: KeyPath[Any, Any], index: int, holder: Any) -> KeyPathError:
    """The step ``index`` leads to what cannot be assigned."""
    way = _way(path, index)
    text = f"{path} cannot be assigned to: {way} is {structure_of(holder)}"
    return KeyPathError(diagnostic("AD0411", None, text))


def _way(path: KeyPath[Any, Any], index: int) -> str:
    return "".join(map(str, path.steps[:index])) or "the value"
