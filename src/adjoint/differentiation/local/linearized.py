"""The linearised computational graph of straight-line code, and the Jacobian by elimination of its vertices.

An edge carries the partial derivative of a number by one that it is computed of; what depends on what along all paths
is the Jacobian. To eliminate a vertex is to multiply each edge into it with each edge out of it. The order decides how
many products that takes; the vertex with the fewest goes first (Markowitz' rule: A. Griewank and A. Walther, Evaluating
Derivatives, 2nd ed., SIAM 2008, chapter 10). Forward and reverse mode are two orders among the others.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TypeVar

from adjoint import ir
from adjoint.diagnostics import error
from adjoint.ir.builder import Builder
from adjoint.records import dataclass


@dataclass(frozen=True, eq=False, slots=True)
class Read:
    """An element of the argument that is read: its place there, and the block in which that happens."""

    place: ir.Atom
    block: int


Tangents = dict[Read, ir.Atom]
Vertex = Read | ir.Var | int
_Key = TypeVar("_Key")
ONE = ir.Const(1.0)
_MOST_EDGES = 4000
"""How many products may be written out."""


class Linearized:
    """Numbers, the elements that they depend on, and the partial derivatives between them.

    Attributes
    ----------
    tangents
        The derivatives by elements that are read, of the numbers of which they are written out.
    partials
        Of the other numbers: those by the numbers that they are computed of.
    """

    def __init__(self) -> None:
        self.tangents: dict[ir.Var, Tangents] = {}
        self.partials: dict[ir.Var, dict[Vertex, ir.Atom]] = {}
        self._edges = 0

    def depends(self, atom: ir.Atom) -> bool:
        """Whether a number depends on an element."""
        return isinstance(atom, ir.Var) and bool(self._incoming(atom))

    def set_tangents(self, number: ir.Var, tangents: Tangents) -> None:
        """Takes down the derivatives of a number by the elements that it depends on."""
        self.partials.pop(number, None)
        self.tangents[number] = tangents

    def set_partials(self, number: ir.Var, partials: Mapping[ir.Var, ir.Atom], builder: Builder) -> None:
        """Takes down the derivatives of a number by those that it is computed of."""
        self.tangents.pop(number, None)
        own = self.partials[number] = {}
        for operand, partial in partials.items():
            if partial != ir.Const(0.0) and self.depends(operand):
                own[self._vertex(operand)] = partial
        self._count(len(own), builder)

    def tangents_of(self, atom: ir.Atom, builder: Builder) -> Tangents:
        """The derivatives of a number by elements, in forward mode; their code is written if it is not yet."""
        if not isinstance(atom, ir.Var):
            return {}
        above = self._above(atom) if atom in self.partials else {}
        for number in [each for each in self.partials if each in above]:
            found: Tangents = {}
            for operand, partial in self.partials[number].items():
                for read, dot in ({operand: ONE} if isinstance(operand, Read) else self.tangents[operand]).items():  # type: ignore[index]
                    self._add(found, read, _product(dot, partial, builder), builder)
            self.set_tangents(number, found)
        return self.tangents.get(atom, {})

    def reads_of(self, atom: ir.Atom) -> list[Read]:
        """The elements that a number depends on, in the order of their entries."""
        return [each for each in self._above(atom) if isinstance(each, Read)] if isinstance(atom, ir.Var) else []

    def _above(self, vertex: Vertex) -> dict[Vertex, None]:
        """What a number depends on, and itself."""
        found: dict[Vertex, None] = {}
        todo = [vertex]
        while todo:
            each = todo.pop()
            if each not in found:
                found[each] = None
                todo += self._incoming(each)
        return found

    def eliminated(self, outputs: Sequence[ir.Atom], builder: Builder) -> list[Tangents]:
        """The derivatives of several numbers by elements, by elimination of what lies between."""
        into: dict[Vertex, dict[Vertex, ir.Atom]] = {
            number: {self._vertex(output): ONE} if self.depends(output) else {}  # type: ignore[arg-type]
            for number, output in enumerate(outputs)
        }
        out_of: dict[Vertex, dict[Vertex, None]] = {}
        todo = list(into)
        while todo:
            vertex = todo.pop()
            if vertex not in into:
                into[vertex] = dict(self._incoming(vertex))
            for operand in into[vertex]:
                if operand not in out_of and not isinstance(operand, Read):
                    todo.append(operand)
                out_of.setdefault(operand, {})[vertex] = None
        left = [vertex for vertex in self.partials if vertex in out_of]
        left += [vertex for vertex in self.tangents if vertex in out_of]
        while left:
            vertex = min(left, key=lambda each: len(into[each]) * len(out_of[each]))
            left.remove(vertex)
            self._eliminate(vertex, into, out_of, builder)
        return [{read: into[number][read] for read in self.reads_of(output)} for number, output in enumerate(outputs)]

    def _eliminate(
        self,
        vertex: Vertex,
        into: dict[Vertex, dict[Vertex, ir.Atom]],
        out_of: dict[Vertex, dict[Vertex, None]],
        builder: Builder,
    ) -> None:
        operands = into.pop(vertex)
        for operand in operands:
            del out_of[operand][vertex]
        for user in out_of.pop(vertex):
            outer = into[user].pop(vertex)
            for operand, partial in operands.items():
                self._add(into[user], operand, _product(partial, outer, builder), builder)
                out_of[operand][user] = None

    def _vertex(self, number: ir.Var) -> Vertex:
        """An element instead of the number that is read from it."""
        tangents = self.tangents.get(number, {})
        if len(tangents) == 1:
            ((read, dot),) = tangents.items()
            if dot == ONE:
                return read
        return number

    def _incoming(self, vertex: Vertex) -> Mapping[Vertex, ir.Atom]:
        if not isinstance(vertex, ir.Var):
            return {}
        return self.partials.get(vertex) or self.tangents.get(vertex, {})  # type: ignore[return-value]

    def _add(self, edges: dict[_Key, ir.Atom], operand: _Key, product: ir.Atom, builder: Builder) -> None:
        known = edges.get(operand)
        edges[operand] = product if known is None else _sum(known, product, builder)
        self._count(1, builder)

    def _count(self, more: int, builder: Builder) -> None:
        self._edges += more
        if self._edges > _MOST_EDGES:
            raise error("AD0412", builder.span, "too many tangents")


def _product(a: ir.Atom, b: ir.Atom, builder: Builder) -> ir.Atom:
    for one, other in ((a, b), (b, a)):
        if one == ONE:
            return other
        if one == ir.Const(-1.0):
            return _negative(other, builder)
    return builder.call(operator.mul, a, b, hint="t_dot")


def _sum(a: ir.Atom, b: ir.Atom, builder: Builder) -> ir.Atom:
    return builder.call(operator.add, a, b, hint="t_dot")


def _negative(a: ir.Atom, builder: Builder) -> ir.Atom:
    return ir.Const(-a.value) if isinstance(a, ir.Const) else builder.call(operator.neg, a, hint="t_dot")
