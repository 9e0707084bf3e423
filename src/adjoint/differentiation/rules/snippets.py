"""What rules of the library splice into derivatives, kept: for the same numbers it is the same statements again.

A rule like ``lambda a, b, y: (b, a)`` is written into one derivative a hundred times. What it wrote the first time is
kept with holes for its arguments, where these are numbers and nothing was written but calls that give numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.records import dataclass
from adjoint.rules.registry import on_change

Pieces = Any
"""An atom, None for nothing, or a tuple of these."""

_LITERALS = (bool, int, float, complex, str, type(None))
_MOST = 4096


@dataclass(frozen=True, slots=True)
class _Hole:
    """Stands for the argument, or the result of an earlier call, that comes at this place."""

    place: int


@dataclass(frozen=True, slots=True)
class _Step:
    """One call: what it is of, its arguments, and what its results are like."""

    callee: Any
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    targets: tuple[ir.Var, ...]


@dataclass(frozen=True, slots=True)
class Snippet:
    """Calls with holes, and the result."""

    code: CodeType  # its identity is part of the key
    steps: tuple[_Step, ...]
    result: Pieces

    def write(self, builder: Builder, atoms: Sequence[ir.Var]) -> Pieces:
        """Writes the calls into an open block, with these variables in the holes."""
        filled: list[ir.Atom] = list(atoms)

        def fill(piece: Pieces) -> Pieces:
            if type(piece) is _Hole:
                return filled[piece.place]
            return tuple(map(fill, piece)) if type(piece) is tuple else piece

        for step in self.steps:
            args = tuple(map(fill, step.args))
            kwargs = tuple([(name, fill(value)) for name, value in step.kwargs])
            targets = tuple([ir.Var(target.hint, target.type, target.named) for target in step.targets])
            builder.emit(ir.Call(targets, step.callee, args, kwargs, builder.span))
            filled += targets
        return fill(self.result)


_snippets: dict[Any, Snippet] = {}
on_change(_snippets.clear)


def key_of_splice(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, ir.Atom]
) -> tuple[Any, list[ir.Var]]:
    """What tells what would be spliced, and the variables in it; None where that is not known beforehand."""
    atoms: list[ir.Var] = []
    if not _is_fixed(fn):
        return None, atoms
    known = _described((tuple(args), tuple(kwargs.values())), atoms)
    return (None if known is None else (id(fn.__code__), known, tuple(kwargs))), atoms


def _is_fixed(fn: Any) -> bool:
    """Whether a function is one of the library's, so that what its names refer to never changes."""
    return (
        isinstance(fn, FunctionType)
        and fn.__module__.startswith("adjoint.rules.")
        and fn.__closure__ is None
        and fn.__defaults__ is None
        and fn.__kwdefaults__ is None
    )


def _described(piece: Pieces, atoms: list[ir.Var]) -> Any:
    """The types of variables and which of them are one, constants; None where there is anything but numbers."""
    if isinstance(piece, tuple):
        parts = [_described(part, atoms) for part in piece]
        return None if None in parts else tuple(parts)
    if isinstance(piece, ir.Var) and isinstance(piece.type, ir.Scalar):
        if piece in atoms:
            return _Hole(atoms.index(piece))
        atoms.append(piece)
        return piece.type
    if piece is None:
        return ir.Const(None)
    return piece if isinstance(piece, ir.Const) and isinstance(piece.value, _LITERALS) else None


def kept(key: Any) -> Snippet | None:
    """What was spliced before under a key."""
    return _snippets.get(key)


def keep(key: Any, fn: Any, atoms: Sequence[ir.Var], statements: Sequence[ir.Statement], result: Pieces) -> None:
    """Keeps what was spliced, where it can be written again."""
    holes: dict[ir.Var, _Hole] = {var: _Hole(place) for place, var in enumerate(atoms)}
    steps = []

    def holed(piece: Pieces) -> Pieces:
        if isinstance(piece, ir.Var):
            return holes[piece]
        return tuple(map(holed, piece)) if isinstance(piece, tuple) else piece

    for statement in statements:
        if not isinstance(statement, ir.Call) or not all(
            isinstance(target.type, ir.Scalar) for target in statement.targets
        ):
            return
        kwargs = tuple([(name, holed(value)) for name, value in statement.kwargs])
        steps.append(_Step(statement.callee, holed(statement.args), kwargs, statement.targets))
        for target in statement.targets:
            holes[target] = _Hole(len(holes))
    if len(_snippets) >= _MOST:
        _snippets.clear()
    _snippets[key] = Snippet(fn.__code__, tuple(steps), holed(result))
