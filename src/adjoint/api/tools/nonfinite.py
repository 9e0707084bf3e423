"""Where a gradient that is not finite comes from: the first line at which a cotangent becomes infinite or not a number.

The derivative runs as Python, with a look at what each of its operations computes. Machine code is not looked into.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.api.derivative import Derivative
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.diagnostics import Diagnostic, Span, diagnostic
from adjoint.diagnostics.entrances import entrance
from adjoint.diagnostics.render import render
from adjoint.diagnostics.spans import at_run_time
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.ir.walk import operands, targets_of
from adjoint.records import dataclass, field
from adjoint.runtime import display
from adjoint.runtime.arithmetic import numbers
from adjoint.types.structure import is_float_array, numbers_in

_DERIVED = re.compile(r"(?P<of>\w+?)_(?P<kind>bar|dot)(_\d+)?$")
_KINDS = {"bar": "cotangent", "dot": "tangent"}
_TEMPORARY = re.compile(r"t(_\d+)?$")


class NonFiniteError(FloatingPointError):
    """A gradient is infinite or not a number; ``diagnostic`` tells where that began."""

    def __init__(self, problem: Diagnostic) -> None:
        self.diagnostic = problem
        super().__init__(render([problem]))


class Debugged(Derivative):
    """A derivative that says where it stops being finite: what ``debug=True`` gives."""

    @entrance
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        compiled = self.specialized(args, kwargs).exact
        compiled.only_for_numpy("debug=True")
        inputs = compiled.inputs(self._root, (*args, *kwargs.values()))
        watch = _Watch()
        for param, value in zip(compiled.function.params, inputs, strict=True):
            watch.given(param.hint, value)
        result = load(emit(_Watched(watch).function(compiled.function)))(*inputs)
        if _first_odd(result) is not None:
            raise NonFiniteError(watch.problem())
        return result

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, debug=True)"


# -- what is seen -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Site:
    """An operation of the derivative: where it comes from, what it computes, and of what."""

    span: Span | None
    name: str
    is_derived: bool
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Event:
    """A value that is not finite, and those that it was computed from."""

    site: _Site
    value: str
    sources: tuple[str, ...]


@dataclass(eq=False, slots=True)
class _Watch:
    """The first cotangent, and the first value, that are not finite."""

    sites: list[_Site] = field(default_factory=list)
    cotangent: _Event | None = None
    value: _Event | None = None
    arguments: list[str] = field(default_factory=list)

    def given(self, name: str, value: Any) -> None:
        odd = _first_odd(value)
        if odd is not None:
            self.arguments.append(f"the argument {name!r} is {odd}")

    def look(self, number: int, value: Any, *reads: Any) -> None:
        """What an operation has computed, and what it has read."""
        site = self.sites[number]
        if (self.cotangent if site.is_derived else self.value) is not None:
            return
        odd = _first_odd(value)
        if odd is None:
            return
        place = _place_of_odd(value)
        sources = (
            f"{name} = {_shown(held, place)}" for name, held in zip(site.reads, reads, strict=True) if _is_plain(held)
        )
        event = _Event(site, odd, tuple(dict.fromkeys(sources)))
        if site.is_derived:
            self.cotangent = event
        else:
            self.value = event

    def problem(self) -> Diagnostic:
        """The first cotangent that is not finite, and the value that was so before."""
        first, before = self.cotangent or self.value, self.value
        if first is None:
            return diagnostic("AD0801", None, "an argument is not finite", notes=self.arguments)
        notes = list(self.arguments)
        if first.sources:
            notes.append(f"there {', '.join(first.sources)}")
        others = []
        if before is not None and before is not first and before.site.span is not None:
            others.append((before.site.span, f"{_named(before.site)} is {before.value} before"))
        label = f"{_named(first.site)} becomes {first.value}"
        return diagnostic("AD0801", first.site.span, label, notes=notes, others=others)


def _named(site: _Site) -> str:
    """What to call what an operation computes."""
    found = _DERIVED.match(site.name)
    if found is None:
        unnamed = "a cotangent" if site.is_derived else "a value"
        return unnamed if _TEMPORARY.match(site.name) else f"'{site.name}'"
    kind = _KINDS[found["kind"]]
    return f"a {kind}" if _TEMPORARY.match(found["of"]) else f"the {kind} of '{found['of']}'"


def _first_odd(value: Any) -> str | None:
    """The first number in a value that is not finite, with its place in an array; None if all are."""
    for leaf in numbers_in(value):
        if isinstance(leaf, np.ndarray):
            place = _place_of_odd(leaf)
            if place is not None:
                return f"{leaf[place]} at {list(place)}" if place else f"{leaf[()]}"
        elif not math.isfinite(abs(leaf)):
            return f"{leaf}"
    return None


def _place_of_odd(value: Any) -> tuple[int, ...] | None:
    if not is_float_array(value):
        return None
    odd = ~np.isfinite(value)
    return tuple(map(int, np.argwhere(odd)[0])) if odd.any() else None


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.generic, np.ndarray))


def _shown(value: Any, place: tuple[int, ...] | None) -> str:
    """A value in a message: of an array the element that belongs to a place of another one of its shape."""
    if not isinstance(value, np.ndarray):
        return str(value)
    if place is not None and len(place) == value.ndim and all(at < n for at, n in zip(place, value.shape, strict=True)):
        return f"{value[place]} at {list(place)}"
    return str(value.tolist()) if value.size <= 4 else f"an array of shape {value.shape}"


# -- the derivative with looks ----------------------------------------------------------------------------------------


class _Watched:
    """Puts a look behind each operation of a function, and of the functions that it calls."""

    def __init__(self, watch: _Watch) -> None:
        self.watch = watch
        self.definitions: dict[ir.Definition, ir.Definition] = {}
        self.derived: set[ir.Atom] = set()
        self.sources: dict[ir.Var, tuple[ir.Var, ...]] = {}
        """The variables with names from which those without are computed."""

    def function(self, function: ir.Function) -> ir.Function:
        return ir.Function(function.name, function.params, self.block(function.body), function.doc)

    def definition(self, definition: ir.Definition) -> ir.Definition:
        if definition not in self.definitions:
            new = self.definitions[definition] = ir.Definition(definition.name)
            assert definition.function is not None
            new.function = self.function(definition.function)
        return self.definitions[definition]

    def block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in block.statements:
            statements += self.statement(statement)
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = rebuild_terminator(end, lambda atom: atom, self.block)
        return ir.Block(tuple(statements), end)

    def statement(self, statement: ir.Statement) -> Iterator[ir.Statement]:
        if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Definition):
            callee = self.definition(statement.callee)
            statement = ir.Call(statement.targets, callee, statement.args, statement.kwargs, statement.span)
        else:
            statement = map_blocks(statement, self.block)
        yield statement
        self.follow(statement)
        if isinstance(statement, ir.Store):
            yield from self.store(statement)
        elif isinstance(statement, (ir.Call, ir.Load)):
            for target in targets_of(statement):
                if _may_be_odd(target.type):
                    yield self.look(statement, target, operands(statement))

    def follow(self, statement: ir.Statement) -> None:
        """Takes down which variables belong to the derivative: cotangents, and what they are computed with."""
        is_derived = isinstance(statement, ir.Call) and _is_of_derivatives(statement.callee)
        is_derived |= isinstance(statement, ir.Call) and any(atom in self.derived for atom in operands(statement))
        reads = self.named(operands(statement))
        for target in targets_of(statement):
            self.sources[target] = reads
            if is_derived or _DERIVED.match(target.hint):
                self.derived.add(target)

    def named(self, atoms: Sequence[ir.Atom]) -> tuple[ir.Var, ...]:
        """The variables behind some atoms that a user can tell apart."""
        found: dict[ir.Var, None] = {}
        for atom in atoms:
            if isinstance(atom, ir.Var):
                is_temporary = _TEMPORARY.match(atom.hint) is not None
                found.update(dict.fromkeys(self.sources.get(atom, ()) if is_temporary else (atom,)))
        return tuple(found)

    def store(self, store: ir.Store) -> Iterator[ir.Statement]:
        """A look at what a store has put somewhere."""
        if not isinstance(store.base, ir.Var):
            return
        if store.key is None:
            yield self.look(store, store.base, (store.value,))
            return
        part = ir.Var("part", ir.OPAQUE)
        yield ir.Load(part, store.base, store.key, store.span)
        yield self.look(store, part, (store.value,), store.base)

    def look(
        self, statement: ir.Statement, value: ir.Var, reads: Sequence[ir.Atom], base: ir.Var | None = None
    ) -> ir.Statement:
        named = base or value
        shown = tuple(atom for atom in self.named(reads) if atom is not value)
        is_derived = named in self.derived or _DERIVED.match(named.hint) is not None
        place = None if statement.span is None else at_run_time(statement.span)
        site = _Site(place, named.hint, is_derived, tuple(atom.hint for atom in shown))
        self.watch.sites.append(site)
        number = len(self.watch.sites) - 1
        return ir.Call(
            (), display.call, (ir.Const(self.watch.look), ir.Const(number), value, *shown), (), statement.span
        )


def _is_of_derivatives(callee: Any) -> bool:
    """Whether a function is called by derivatives alone."""
    return callee in (numbers.divide, numbers.times)


def _may_be_odd(type_: ir.Type) -> bool:
    return not isinstance(type_, ir.Opaque)
