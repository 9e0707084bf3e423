"""The text of an unrolled update: one block of statements for each parameter of a structure."""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adjoint.codegen.texts import Emitted
from adjoint.keypaths.steps import Field, Step
from adjoint.parameters.formula import Formula
from adjoint.parameters.layout import Layout, point_moved


@dataclass(frozen=True, slots=True)
class Form:
    """How a structure is handed over.

    Attributes
    ----------
    is_flat
        Whether as :class:`Leaves` rather than as the structure itself.
    absent
        The places of the parameters that it does not have: they are zero.
    """

    is_flat: bool = False
    absent: frozenset[int] = frozenset()


def constant(value: float, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A number as NumPy takes it beside arrays of a dtype, which costs more than an operation on a few elements."""
    return _constant(value, dtype) if value else np.array(value, dtype)  # zeros of both signs are equal


@functools.lru_cache(maxsize=256)
def _constant(value: float, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    result = np.array(value, dtype)
    result.flags.writeable = False
    return result


def filled(like: np.ndarray[Any, Any], value: Any) -> np.ndarray[Any, Any]:
    """A new array like another one, with other values."""
    result = np.empty_like(like)
    np.copyto(result, value)
    return result


@dataclass
class Names:
    """Names that a text gives to what it refers to."""

    taken: set[str]
    namespace: dict[str, Any] = field(default_factory=dict)

    def fresh(self, wanted: str) -> str:
        """A name that nothing else has."""
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

    def of(self, value: Any, wanted: str) -> str:
        """The name of a value of the namespace."""
        for name, known in self.namespace.items():
            if known is value:
                return name
        name = self.fresh(wanted)
        self.namespace[name] = value
        return name


def _texts(statements: Sequence[ast.stmt]) -> list[str]:
    return [f"    {line}" for statement in statements for line in ast.unparse(statement).splitlines()]


class Writer:
    """Writes an update for one layout.

    Parameters
    ----------
    formula
        What is done to one parameter.
    layout
        The parameters of the structure.
    forms
        How each structure is handed over.
    functional
        Whether the first structure is left as it is, and a list of its new parameters returned.
    """

    def __init__(self, formula: Formula, layout: Layout, forms: Sequence[Form], functional: bool) -> None:
        self.formula = formula
        self.parameters = layout.parameters
        self.points = layout.points
        self.runs = [run for run in layout.runs if all(form.absent.isdisjoint(run) for form in forms)]
        self.moves: dict[int, str] = {}
        self.forms = forms
        self.functional = functional
        body_names = {node.id for part in formula.body for node in ast.walk(part) if isinstance(node, ast.Name)}
        self.names = Names({*body_names, *formula.values, *formula.constants, formula.name}, dict(formula.globals))
        self.wholes = tuple(self.names.fresh(f"{name}s") for name in formula.values)
        self.new = self.names.fresh("new")
        self.lines: list[str] = []
        self.body = _texts(formula.body)

    def write(
        self,
        places: Sequence[int],
        constants: Sequence[str],
        before: Sequence[str] = (),
        packs: Sequence[tuple[int, tuple[int, ...]]] = (),
    ) -> Emitted:
        """The text for the parameters in some places.

        Parameters
        ----------
        places
            Which parameters are updated one by one.
        constants
            The constants that are handed over.
        before
            Statements that come first.
        packs
            Which are updated together: packs of the layout, with their places among these.
        """
        self.lines = [f"def {self.formula.name}({', '.join([*self.wholes, *constants])}):"]
        if self.functional:
            self.lines.append(f"    {self.new} = [None] * {len(self.parameters)}")
        self.lines += [f"    {line}" for line in before]
        for number, pack in packs:
            self._pack(number, pack, constants)
        wanted = {*places}
        for run in self.runs:
            if wanted.issuperset(run):
                self._loop(run)
                wanted.difference_update(run)
        for place in places:
            if place in wanted:
                self._block(place)
        self._points(places)
        if self.functional:
            self._rest({*places})
            self.lines.append(f"    return {self.new}")
        elif len(self.lines) == 1:
            self.lines.append("    pass")
        return Emitted("\n".join(self.lines) + "\n", self.names.namespace, self.formula.name, {})

    def at(self, index: int, place: int) -> str:
        """How one writes a parameter of a structure."""
        whole = self.wholes[index]
        return f"{whole}[{place}]" if self.forms[index].is_flat else whole + self.way(self.parameters[place].steps)

    def way(self, steps: Sequence[Step]) -> str:
        """How one writes the way to a part."""
        return "".join(map(self._step, steps))

    def _step(self, step: Step) -> str:
        if isinstance(step, Field) or type(step.key) in (str, int, bytes, bool):
            return str(step)
        return f"[{self.names.of(step.key, 'key')}]"

    def _block(self, place: int) -> None:
        parameter = self.parameters[place]
        self._line(f"# {parameter.path or 'the value itself'}")
        for index, name in enumerate(self.formula.values):
            value = "0.0" if place in self.forms[index].absent else self.at(index, place)
            if index == 0 and parameter.point is not None:
                zeros = f"{self.names.of(np.zeros_like, 'zeros_like')}({value})"
                self._line(f"{name} = {zeros if parameter.is_array else '0.0'}")
                continue
            copied = self.functional and index == 0 and parameter.is_array and name in self.formula.augmented
            self._line(f"{name} = {value}{'.copy()' if copied else ''}")
        self.lines += self.body
        for index, name in enumerate(self.formula.values):
            if name in self.formula.written:
                self._store(index, name, place)

    def _raveled(self, index: int, place: int) -> str:
        where = self.at(index, place)
        return where if len(self.parameters[place].shape or ()) == 1 else f"{where}.ravel()"

    def _pack(self, number: int, places: Sequence[int], constants: Sequence[str]) -> None:
        """Small arrays, one after the other as one; what consists of constants alone is computed beforehand."""
        self._line(f"# {', '.join(self.parameters[place].path for place in places)}")
        joined, hoist = self.names.of(np.concatenate, "concatenate"), Hoist({*constants}, self.names)
        body = [hoist.visit(copy.deepcopy(statement)) for statement in self.formula.body]
        dtype = self.names.of(self.parameters[places[0]].dtype, self.parameters[places[0]].dtype.name)
        for text, name in hoist.found.items():
            self._line(f"{name} = {self.names.of(constant, 'constant')}({text}, {dtype})")
        for index, name in enumerate(self.formula.values):
            if self.forms[index].is_flat:
                self._line(f"{name} = {self.wholes[index]}.packs[{number}]")
            else:
                self._line(f"{name} = {joined}(({', '.join(self._raveled(index, place) for place in places)}))")
        self.lines += _texts(body)
        for index, name in enumerate(self.formula.values):
            if name in self.formula.written and not self.forms[index].is_flat:
                self._scatter(index, name, places)
            elif name in self.formula.replaced:
                self._line(f"{self.names.of(np.copyto, 'copyto')}({self.wholes[index]}.packs[{number}], {name})")

    def _scatter(self, index: int, name: str, places: Sequence[int]) -> None:
        start = 0
        for place in places:
            parameter = self.parameters[place]
            part = f"{name}[{start}:{start + parameter.size}]"
            shaped = part if len(parameter.shape or ()) == 1 else f"{part}.reshape({parameter.shape})"
            self._line(f"{self.at(index, place)}[...] = {shaped}")
            start += parameter.size

    def _loop(self, run: range) -> None:
        """The numbers of a long list, one after the other."""
        first = self.parameters[run.start]
        count, convert = self.names.fresh("i"), self.names.of(first.type, first.type.__name__)
        self._line(f"# {first.path} to {self.parameters[run.stop - 1].path}")
        self._line(f"for {count} in range({len(run)}):")
        where = [
            f"{whole}[{run.start} + {count}]" if form.is_flat else f"{whole}{self.way(first.steps[:-1])}[{count}]"
            for whole, form in zip(self.wholes, self.forms, strict=True)
        ]
        for name, part in zip(self.formula.values, where, strict=True):
            self._line(f"    {name} = {part}")
        self.lines += [f"    {line}" for line in self.body]
        for index, (name, part) in enumerate(zip(self.formula.values, where, strict=True)):
            if name in self.formula.written:
                target = f"{self.new}[{run.start} + {count}]" if self.functional and index == 0 else part
                self._line(f"    {target} = {convert}({name})")

    def _store(self, index: int, name: str, place: int) -> None:
        parameter = self.parameters[place]
        where = self.at(index, place)
        is_result = self.functional and index == 0
        if index == 0 and parameter.point is not None:
            self._line(f"{self._move(place)} = {name}")
            return
        if parameter.is_array:
            if is_result:
                helper = self.names.of(filled, "filled")
                value = f"{helper}({where}, {name})" if name in self.formula.replaced else name
                self._line(f"{self.new}[{place}] = {value}")
            elif name in self.formula.replaced:
                self._line(f"{self.names.of(np.copyto, 'copyto')}({where}, {name})")
            return
        converted = f"{self.names.of(parameter.type, parameter.type.__name__)}({name})"
        self._line(f"{f'{self.new}[{place}]' if is_result else where} = {converted}")

    def _move(self, place: int) -> str:
        if place not in self.moves:
            self.moves[place] = self.names.fresh(f"move{place}")
        return self.moves[place]

    def _points(self, places: Sequence[int]) -> None:
        """Moves the points of which some coordinates were updated."""
        for point, others in self.points.items():
            mine = [place for place, parameter in enumerate(self.parameters) if parameter.point == point]
            if not {*mine} & {*places}:
                continue
            moves = ", ".join(self._move(place) if place in places else "None" for place in mine)
            where = self.wholes[0] + self.way(point)
            self._line(f"# {''.join(map(str, point)) or 'the value itself'}")
            moved = f"{self.names.of(point_moved, 'point_moved')}({where}, [{moves}])"
            if not self.functional:
                targets = [where, *(self.wholes[0] + self.way(other) for other in others)]
                self._line(f"{' = '.join(targets)} = {moved}")
                continue
            name = self.names.fresh("point")
            self._line(f"{name} = {moved}")
            for place in mine:
                self._line(f"{self.new}[{place}] = {name}{self.way(self.parameters[place].steps[len(point) :])}")

    def _rest(self, places: set[int]) -> None:
        """What is not updated is in the new value as it is."""
        touched = {self.parameters[place].point for place in places} - {None}
        for place, parameter in enumerate(self.parameters):
            if place not in places and parameter.point not in touched:
                self._line(f"{self.new}[{place}] = {self.at(0, place)}")

    def _line(self, text: str) -> None:
        self.lines.append(f"    {text}")


# --- the part that runs as machine code ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kernel:
    """A loop over the elements of arrays.

    Attributes
    ----------
    emitted
        Its text; the arrays come first, then the constants.
    constants
        The expressions of constants only, by the names that stand for them in the text.
    """

    emitted: Emitted
    constants: dict[str, str]


def write_kernel(formula: Formula, constants: Sequence[str]) -> Kernel:
    """The loop that applies an elementwise formula to arrays of one dtype.

    What consists of constants alone is computed before the loop, as NumPy does: in Python's numbers, rounded where it
    meets an array.
    """
    hoist = Hoist({*constants}, Names({*formula.values, *formula.globals}))
    body = [hoist.visit(copy.deepcopy(statement)) for statement in formula.body]
    arrays = [f"{name}_" for name in formula.values]
    lines = [f"def {formula.name}_loop({', '.join((*arrays, *hoist.found.values()))}):"]
    lines.append(f"    for i in range({arrays[0]}.size):")
    lines += [f"        {name} = {array}[i]" for name, array in zip(formula.values, arrays, strict=True)]
    lines += [f"        {line}" for statement in body for line in ast.unparse(statement).splitlines()]
    lines += [f"        {name}_[i] = {name}" for name in formula.written]
    named = {name: text for text, name in hoist.found.items()}
    used = {node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    namespace = {name: value for name, value in formula.globals.items() if name in used}
    return Kernel(Emitted("\n".join(lines) + "\n", namespace, f"{formula.name}_loop", {}), named)


class Hoist(ast.NodeTransformer):
    """Puts names in the places of expressions that consist of constants alone."""

    def __init__(self, constants: set[str], names: Names) -> None:
        self.constants = constants
        self.names = names
        self.found: dict[str, str] = {}

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and self._is_constant(node):
            text = ast.unparse(node)
            if text not in self.found:
                self.found[text] = self.names.fresh(f"c{len(self.found)}")
            return ast.Name(self.found[text], ast.Load())
        return super().visit(node)

    def _is_constant(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return isinstance(node.ctx, ast.Load) and node.id in self.constants
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float))
        if isinstance(node, ast.UnaryOp):
            return self._is_constant(node.operand)
        return isinstance(node, ast.BinOp) and self._is_constant(node.left) and self._is_constant(node.right)
