"""What a derivative is taken with respect to: arguments of a call, or parts of them, each once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from adjoint import ir
from adjoint.frontend.differentiation.differentiated_paths import WHOLE, Keys, Way, part_at
from adjoint.frontend.differentiation.refusals.arguments import check_differentiable
from adjoint.frontend.differentiation.tangent_values import tangent_of
from adjoint.frontend.differentiation.wrt import positions
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import TupleValue, Value
from adjoint.keypaths.parts import PartOf, as_part
from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class Picked:
    """What ``wrt`` means in a call: the arguments, or parts of them, each once.

    Attributes
    ----------
    places, ways, values
        The arguments, the ways into them, and the parts that are there.
    sources, entries
        For each entry of ``wrt`` which of these has it, and the way to it.
    several
        Whether the gradient is a tuple with an entry for each.
    """

    places: list[int | str]
    ways: list[Keys]
    values: list[Value]
    sources: list[int]
    entries: list[Way]
    several: bool

    def gradient(
        self, lo: Lowerer, cotangents: Iterator[ir.Var], layout: Mapping[ir.Atom, ir.Var], node: ast.AST | None
    ) -> Value:
        """The gradient in the structure of the arguments, from the cotangents of their leaves."""
        parts = [tangent_of(lo, value, cotangents, layout) for value in self.values]
        found = zip(self.sources, self.entries, strict=True)
        gradients = tuple(_part_of_gradient(lo, parts[source], way, node) for source, way in found)
        return TupleValue(gradients) if self.several else gradients[0]


def pick(
    lo: Lowerer, function: Value, wrt: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Picked:
    """What a derivative is taken with respect to."""
    several = isinstance(wrt, (tuple, list))
    choices = list(wrt) if several else [wrt]
    places = positions(lo, function, wrt, args, kwargs, node)
    given = [kwargs[place] if isinstance(place, str) else args[place] for place in places]
    entries = [_way(lo, choice, value, node) for choice, value in zip(choices, given, strict=True)]
    chosen = [part_at(lo, value, way.known) for way, value in zip(entries, given, strict=True)]
    for place, value in zip(places, chosen, strict=True):
        check_differentiable(lo, function, value, place, node, args, kwargs)
    varied = list(dict.fromkeys((place, way.known) for place, way in zip(places, entries, strict=True)))
    sources = [varied.index((place, way.known)) for place, way in zip(places, entries, strict=True)]
    values = [chosen[sources.index(i)] for i in range(len(varied))]
    return Picked([place for place, _ in varied], [way for _, way in varied], values, sources, entries, several)


def _way(lo: Lowerer, choice: Any, value: Value, node: ast.AST | None) -> Way:
    """The part of an argument that an entry of ``wrt`` means."""
    choice = as_part(choice)
    if not isinstance(choice, PartOf):
        return WHOLE
    from adjoint.frontend.objects.key_paths import way_into  # lazy

    return way_into(lo, value, choice.path, node)


def _part_of_gradient(lo: Lowerer, gradient: Value, way: Way, node: ast.AST | None) -> Value:
    """What the steps lead to that are taken in the gradient."""
    if not way.rest:
        return gradient
    from adjoint.frontend.objects.key_paths import follow  # lazy

    return follow(lo, gradient, way.rest, node)
