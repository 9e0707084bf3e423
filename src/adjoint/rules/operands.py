"""Which arguments of a call are arrays: there NumPy takes a list, a tuple or a range for the array of its items.

A rule says so by its kind: what an element-wise, a bilinear or a general rule is handed, and what a linear rule is
linear in, are arrays, but for what says how (``axis``, ``shape``). So does a definition by the names of its parameters.
Where that does not tell, the declaration names them (``arrays=``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.records import dataclass
from adjoint.rules import registry
from adjoint.rules.kinds import SETTINGS, Bilinear, Constant, Elementwise, General, Linear, Rule
from adjoint.types.classes.safe_lookups import asked

Fn = Callable[..., Any]
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

MASKS = frozenset(("where", "initial"))
"""Settings that are arrays."""


@dataclass(frozen=True, slots=True)
class Operands:
    """The arguments of a callee that are arrays: by place, from a place on, and by name."""

    places: frozenset[int] = frozenset()
    rest: int | None = None
    names: frozenset[str] = frozenset()

    def has(self, argument: int | str) -> bool:
        """Whether the argument at a place, or of a name, is an array."""
        if isinstance(argument, str):
            return argument in self.names
        return argument in self.places or (self.rest is not None and argument >= self.rest)


NONE = Operands()


def operands_of(callee: Any) -> Operands:
    """The arguments that NumPy or SciPy makes arrays of; none of another library's function or of a class."""
    if isinstance(callee, np.ufunc):
        return Operands(frozenset(range(callee.nin)), None, MASKS)
    owner = asked(callee, "__self__")
    home = type(owner).__module__ if isinstance(owner, np.ufunc) else getattr(callee, "__module__", None) or ""
    if isinstance(callee, type) or home.partition(".")[0] not in ("numpy", "scipy"):
        return NONE
    rule = registry.rule_for(callee)
    if rule is not None:
        return _selected(rule.parameters, _of_rule(rule))
    definitions = registry.definitions_of(callee)
    if not definitions:
        return NONE
    first = definitions[0]
    parameters = tuple(inspect.signature(first.means).parameters.values())
    names = [p.name for p in parameters if p.name not in SETTINGS] if first.arrays is None else first.arrays
    return _selected(parameters, [place for place, p in enumerate(parameters) if p.name in names])


def _of_rule(rule: Rule) -> Sequence[int]:
    """The places of the parameters of a rule's function that are arrays."""
    positional = [p for p in rule.accepted if p.kind in _POSITIONAL]
    if rule.arrays is not None:
        return [place for place, p in enumerate(rule.parameters) if p.name in rule.arrays]
    match rule:
        case Elementwise():
            return range(len(positional))
        case Bilinear():
            return (0, 1)
        case Linear(wrt=wrt) if wrt is not None:
            return wrt
        case Linear() | General():
            return [place for place, p in enumerate(rule.accepted) if p.name not in SETTINGS]
        case Constant():
            return () if rule.always_array else (0,)
        case _:
            return ()


def _selected(parameters: Sequence[inspect.Parameter], places: Sequence[int]) -> Operands:
    chosen = [place for place in places if place < len(parameters)]
    fixed = frozenset(place for place in chosen if parameters[place].kind in _POSITIONAL)
    rest = [place for place in chosen if parameters[place].kind is inspect.Parameter.VAR_POSITIONAL]
    names = [
        parameters[place].name for place in chosen if parameters[place].kind is not inspect.Parameter.POSITIONAL_ONLY
    ]
    masks = [p.name for p in parameters if p.name in MASKS]
    return Operands(fixed, rest[0] if rest else None, frozenset([*names, *masks]))
