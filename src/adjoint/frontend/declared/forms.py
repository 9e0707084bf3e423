"""The forms in which a derivative is declared, each as a value and a linear map.

A function that returns a value and a pullback, or a value and a differential; a primal and an adjoint; the transpose of
a linear function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any

from adjoint import ir
from adjoint.diagnostics import DifferentiationError, Span, diagnostic
from adjoint.diagnostics.spans import shown_path
from adjoint.frontend.declared.arguments import Arguments
from adjoint.frontend.declared.declarations import WAYS_OUT
from adjoint.frontend.declared.originals import call_original
from adjoint.frontend.declared.parameters import (
    CHECKPOINTS,
    RESULT,
    SEED,
    Source,
    parameters_of,
    sources_of_adjoint,
    sources_of_transpose,
)
from adjoint.frontend.differentiation.fitting import described
from adjoint.frontend.entry.inputs import fill_cell
from adjoint.frontend.functions.closures import closure_of
from adjoint.frontend.functions.inlining import run_closure
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import NONE, Closure, Method, Partial, Record, Ref, TupleValue, Union, Value
from adjoint.frontend.objects.special_methods import special_method
from adjoint.records import dataclass
from adjoint.rules.declarations import Declaration
from adjoint.sources import definitions


@dataclass(frozen=True, eq=False, slots=True)
class Map:
    """A pullback or a differential.

    Attributes
    ----------
    kind
        ``pullback`` or ``differential``.
    function
        What is called, for its name and its place.
    apply
        Calls it with cotangents or tangents.
    name
        Of the function whose derivative it is.
    declared
        The function that is declared.
    called_at
        Where the function is called whose derivative it is.
    """

    kind: str
    function: Value
    apply: Callable[[list[Value]], Value]
    name: str
    declared: Any
    called_at: Span | None

    @property
    def what(self) -> str:
        """What to call it in messages."""
        return f"the declared {self.kind} of {self.name!r}"

    @property
    def where(self) -> str:
        """As ``what``, with its place, for messages at run time."""
        span = heading_of(self.function) or heading_of(ir.Const(self.declared))
        return self.what + ("" if span is None else f" ({shown_path(span.file)}:{span.line})")

    def refusal(self, label: str, helps: tuple[str, ...] | None = None) -> Problem:
        """What is wrong with the declaration, at its place."""
        return self._refusal(heading_of(ir.Const(self.declared)), label, helps)

    def misfit(self, label: str) -> Problem:
        """What is wrong with what it gives."""
        return self._refusal(heading_of(self.function) or heading_of(ir.Const(self.declared)), label, None)

    def _refusal(self, place: Span | None, label: str, helps: tuple[str, ...] | None) -> Problem:
        others = () if self.called_at is None else ((self.called_at, "it is called here"),)
        helps = helps or WAYS_OUT.get(self.kind)
        return Problem(diagnostic("AD0205", place, label, helps=helps, others=others, name=self.name))


class Forms:
    """What is declared, for one call.

    ``again`` gives the value, through the declaration where a derivative flows through it in a second derivative.
    """

    def __init__(
        self,
        lo: Lowerer,
        declaration: Declaration,
        given: Arguments,
        node: ast.AST | None,
        again: Callable[[], Value],
    ) -> None:
        self.lo = lo
        self.declaration = declaration
        self.given = given
        self.node = node
        self.again = again

    @property
    def has_both(self) -> bool:
        """Whether there are a pullback and a differential."""
        declared = self.declaration
        return declared.transpose is not None or (declared.reverse is not None and declared.differential is not None)

    def run(self, first: str) -> tuple[Value, Map]:
        """The value of the call, and the linear map that was declared with it."""
        declared = self.declaration
        if first == "differential":
            return self.pair(declared.differential, "differential")
        if declared.pullback is not None:
            return self.pair(declared.pullback, "pullback")
        return self.adjoint() if declared.adjoint is not None else (self.original(), self.transpose())

    def others(self, kind: str) -> dict[str, Map]:
        """The linear map of the other kind, where there is one; it computes all that it needs."""
        declared = self.declaration
        if declared.transpose is not None:
            return {"differential": self.of_linear()}
        if not self.has_both:
            return {}
        other = "differential" if kind == "pullback" else "pullback"
        function = declared.differential if other == "differential" else declared.reverse

        def apply(taken: list[Value]) -> Value:
            return self.run("differential" if other == "differential" else "reverse")[1].apply(taken)

        return {other: self.map(other, ir.Const(function), apply, function)}

    def map(self, kind: str, function: Value, apply: Callable[[list[Value]], Value], declared: Any) -> Map:
        return Map(kind, function, apply, self.declaration.name, declared, self.lo.span(self.node))

    # A function that returns a value and a linear map

    def pair(self, declared: Any, kind: str) -> tuple[Value, Map]:
        lo = self.lo
        made = self.call(declared, self.given.positional, self.given.named)
        items = made.items if isinstance(made, TupleValue) else None
        record = lo.store.get(made)
        if isinstance(record, Record) and record.cls is list:
            items = record.items
        bare = self.map(kind, NONE, lambda _: NONE, declared)
        if lo.block is None:
            return made, bare
        if items is None or len(items) != 2:
            raise bare.refusal(f"it returns {described(lo, made)}, not a pair (value, {kind})")
        value, function = items
        if not is_callable(lo, function):
            raise bare.refusal(f"the second item that it returns is {described(lo, function)}, not a {kind}")
        return value, self.map(kind, function, lambda taken: self.inlined(function, taken, {}), declared)

    def call(self, declared: Any, args: list[Value], named: dict[str, Value]) -> Value:
        """Calls what is declared."""
        return self.inlined(ir.Const(declared), args, named)

    def inlined(self, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
        """Calls a function of the user's; inside itself it is no recursion, which would be called at run time."""
        lo = self.lo
        if isinstance(function, ir.Const) and isinstance(function.value, FunctionType) and self.is_inside_itself:
            function = closure_of(lo, function.value, self.node)
        if not isinstance(function, Closure) or not self.is_inside_itself:
            return lo.call(function, args, named, self.node)
        for name, cell in function.cells.items():
            fill_cell(lo, cell, name, self.node)
        return run_closure(lo, function, args, named, self.node)

    @property
    def is_inside_itself(self) -> bool:
        """Whether what is declared calls the function that it is the derivative of."""
        return bool(self.lo.run_data.declared.count(self.declaration) > 1)

    def original(self) -> Value:
        """The function as it stands."""
        return call_original(self.lo, self.declaration, self.given.positional, self.given.named, self.node)

    # A primal and an adjoint

    def adjoint(self) -> tuple[Value, Map]:
        """Without a primal the function gives the value."""
        lo, declared = self.lo, self.declaration
        checkpoints: Value = NONE
        if declared.primal is None:
            value = self.again()
        else:
            made = self.call(declared.primal, self.given.positional, self.given.named)
            items = made.items if isinstance(made, TupleValue) else ()
            if lo.block is not None and len(items) != 2:
                bare = self.map("pullback", NONE, lambda _: NONE, declared.primal)
                raise bare.refusal(f"the primal returns {described(lo, made)}, not a pair (checkpoints, value)")
            checkpoints, value = items if len(items) == 2 else (NONE, NONE)
        sources = sources_of_adjoint(declared)
        besides = {CHECKPOINTS: checkpoints, RESULT: value}

        def apply(taken: list[Value]) -> Value:
            return self.matched(declared.adjoint, sources, {**besides, SEED: taken[0]})

        return value, self.map("pullback", ir.Const(declared.adjoint), apply, declared.adjoint)

    def matched(self, function: Any, sources: dict[str, Source], besides: dict[str, Value]) -> Value:
        """Calls an adjoint or a transpose with what its parameters stand for."""
        args: list[Value] = []
        named: dict[str, Value] = {}
        for parameter in parameters_of(function) or ():
            wanted = sources.get(parameter.name)
            value = None if wanted is None else self.wanted(wanted, besides)
            if value is None:
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY:
                args.append(value)
            else:
                named[parameter.name] = value
        return self.inlined(ir.Const(function), args, named)

    def wanted(self, wanted: Source, besides: dict[str, Value]) -> Value | None:
        if wanted.kind == "argument":
            return self.given.at(wanted.place)
        if wanted.kind == "rest":
            assert isinstance(wanted.place, int)
            return TupleValue(tuple(self.given.positional[wanted.place :]))
        return besides[wanted.kind]

    # A linear function and its transpose

    def transpose(self) -> Map:
        declared = self.declaration
        sources = sources_of_transpose(declared)

        def apply(taken: list[Value]) -> Value:
            return self.matched(declared.transpose, sources, {SEED: taken[0]})

        return self.map("pullback", ir.Const(declared.transpose), apply, declared.transpose)

    def of_linear(self) -> Map:
        """The differential of a linear function is the function."""
        declared, given = self.declaration, self.given

        def apply(taken: list[Value]) -> Value:
            moved = dict(zip([p for p in given.places(declared) if given.at(p) is not None], taken, strict=True))
            args = [moved.get(place, arg) for place, arg in enumerate(given.positional)]
            named = {name: moved.get(name, arg) for name, arg in given.named.items()}
            return call_original(self.lo, declared, args, named, self.node)

        return self.map("differential", ir.Const(declared.fn), apply, declared.transpose)


def heading_of(function: Value) -> Span | None:
    """The place of a function's definition, where there is one."""
    match function:
        case Closure():
            return function.source.heading
        case Method(function=inner) | Partial(function=inner):
            return heading_of(inner)
        case Union(options=options):
            return next(filter(None, map(heading_of, options)), None)
        case ir.Const(value=constant):
            try:
                return definitions.find(constant).heading
            except DifferentiationError:
                return None
        case _:
            return None


def is_callable(lo: Lowerer, value: Value) -> bool:
    """Whether a value can be called."""
    match value:
        case ir.Const(value=constant):
            return callable(constant)
        case ir.Var() | TupleValue():
            return False
        case Ref():
            return special_method(lo, value, "__call__") is not None
        case Union(options=options):
            return all(is_callable(lo, option) for option in options)
        case _:
            return True
