"""What a function that changes cotangents does, and what is left of it in a derivative of a derivative.

A derivative of a derivative is mostly made of the forward derivative of the function, which takes for granted that
cotangents are those of the function. Where they are changed, it is the program of the first derivative that is
differentiated: it is written out, and the values in it are plain values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adjoint import ir
from adjoint.analysis.dependence.linearity import is_linear
from adjoint.differentiation.reverse.region import raises_or_acts
from adjoint.ir.rebuild import clone_function, map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import leaves, statements_in
from adjoint.records import replace

HELPS_SHARED = (
    "use only the value that is returned from there on: x = ad.with_derivative(x, fn)",
    "or hand it a copy: ad.with_derivative(x.copy(), fn)",
)
"""The ways out where memory has several names behind surgery, and is written."""


def leaves_alone(surgery: ir.Surgery) -> bool:
    """Whether the cotangents stay what they are, whatever else is done."""
    seeds = surgery.function.params[: surgery.arguments]
    ends = [end for end in leaves(surgery.function.body) if isinstance(end, ir.Return)]
    return all(end.values == seeds for end in ends)


def is_inert(declared: ir.Declared) -> bool:
    """Whether nothing is lost where a pullback does not run for a cotangent that is zero."""
    if not isinstance(declared, ir.Surgery):
        return True
    acts = any(map(raises_or_acts, statements_in(declared.function.body)))
    return not acts and is_linear(declared.function, range(len(declared.seeds)))


def is_sole(declared: ir.Declared) -> bool:
    """Whether the memory of the arguments goes by the names of the results from here on."""
    return isinstance(declared, ir.Surgery) and declared.sole


def without_pullback(call: ir.Call) -> ir.Call:
    """The same values, whose cotangents pass as they are."""
    surgery: ir.Surgery = call.callee
    seeds = surgery.function.params[: surgery.arguments]
    identity = clone_function(ir.Function(surgery.function.name, seeds, ir.Block((), ir.Return(seeds))))
    plain = replace(surgery, pullback=identity)
    return ir.Call(call.targets, plain, call.args[: 2 * surgery.arguments], (), call.span)


def has_surgery(function: ir.Function) -> bool:
    """Whether cotangents are changed in a function, or in what it calls."""
    return any(True for _ in surgery_in(function))


def surgery_in(function: ir.Function, seen: set[int] | None = None) -> Iterator[ir.Surgery]:
    """The surgery in a function and in what it calls."""
    seen = set() if seen is None else seen
    if id(function) in seen:
        return
    seen.add(id(function))
    for statement in statements_in(function.body):
        match statement:
            case ir.Call(callee=ir.Surgery() as surgery):
                yield surgery
            case (
                ir.Call(callee=ir.Function() as inner) | ir.Call(callee=ir.Definition(function=ir.Function() as inner))
            ):
                yield from surgery_in(inner, seen)


def with_plain_values(function: ir.Function, surgery: Iterable[ir.Surgery]) -> ir.Function:
    """A derivative that was written out of a function with this surgery, in which that is done."""
    return _Plain(set(map(id, surgery))).function(function)


class _Plain:
    """One walk over a function and the recursive functions that it calls."""

    def __init__(self, done: set[int]) -> None:
        self.done = done
        self.definitions: dict[ir.Definition, ir.Definition] = {}

    def function(self, function: ir.Function) -> ir.Function:
        return ir.Function(function.name, function.params, self.block(function.body), function.doc)

    def block(self, block: ir.Block) -> ir.Block:
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = rebuild_terminator(end, same_atom, self.block)
        return ir.Block(tuple(map(self.statement, block.statements)), end)

    def statement(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.Call(callee=ir.Surgery() as callee) if id(callee) in self.done:
                return without_pullback(statement)
            case ir.Call(callee=ir.Definition() as callee):
                definition = self.definition(callee)
                return ir.Call(statement.targets, definition, statement.args, statement.kwargs, statement.span)
            case _:
                return map_blocks(statement, self.block)

    def definition(self, definition: ir.Definition) -> ir.Definition:
        if definition not in self.definitions:
            new = self.definitions[definition] = ir.Definition(definition.name)
            self.definitions[new] = new
            assert definition.function is not None
            new.function = self.function(definition.function)
        return self.definitions[definition]
