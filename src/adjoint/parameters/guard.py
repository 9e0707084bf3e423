"""Whether an unrolled update still fits what it is given: a generated test of the structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.codegen.texts import Emitted, load
from adjoint.keypaths.steps import Step
from adjoint.parameters.layout import Layout, Leaves, reach
from adjoint.parameters.writing import Form, Writer
from adjoint.types.structure import is_container


class Guard:
    """Writes the test for one layout.

    Parameters
    ----------
    writer
        Tells the names of the structures and the ways into them.
    layout
        The layout of the first structure.
    structures
        The structures that the update is made for.
    written
        Which of them are written in place.
    packed
        The places of arrays that are updated together.
    """

    def __init__(
        self,
        writer: Writer,
        layout: Layout,
        structures: Sequence[Any],
        written: Sequence[int],
        packed: frozenset[int] = frozenset(),
    ) -> None:
        self.packed = packed
        self.writer = writer
        self.layout = layout
        self.structures = structures
        self.written = written
        self.tests: list[str] = []
        self.memory: list[str] = []
        self.nodes: dict[tuple[int, tuple[Step, ...]], str] = {}

    def load(self) -> Any:
        """The test, as a function of the structures."""
        for index, form in enumerate(self.writer.forms):
            if form.is_flat:
                self._flat(index)
            else:
                self._nodes(index)
                self._leaves(index, form)
                self._ties(index, form)
        self._identities()
        if len(self.memory) > 1:
            self.tests.append(f"len({{{', '.join(self.memory)}}}) == {len(self.memory)}")
        name = f"{self.writer.formula.name}_fits"
        lines = [f"def {name}({', '.join(self.writer.wholes)}):", "    try:", "        return ("]
        lines += [f"            {test}{' and' if test is not self.tests[-1] else ''}" for test in self.tests]
        lines += ["        )", "    except (AttributeError, IndexError, KeyError, TypeError):", "        return False"]
        return load(Emitted("\n".join(lines) + "\n", self.writer.names.namespace, name, {}))

    def _named(self, value: Any, wanted: str) -> str:
        return self.writer.names.of(value, wanted)

    def _flat(self, index: int) -> None:
        whole = self.writer.wholes[index]
        self.tests.append(f"type({whole}) is {self._named(Leaves, 'Leaves')}")
        layout = self._named(self.layout, "layout")
        self.tests.append(f"({whole}.layout is {layout} or {whole}.layout == {layout})")
        if self.packed:
            self.tests.append(f"{whole}.packs")

    def _nodes(self, index: int) -> None:
        for steps, node in self.layout.nodes:
            if index and not is_container(node):
                continue
            other = reach(self.structures[index], steps)
            if other is None and index:
                continue
            where = self._at(index, steps)
            if is_container(other) and steps:
                name = self.nodes[index, steps] = self.writer.names.fresh(f"{self.writer.formula.values[index]}_")
                self.tests.append(f"type({name} := {where}) is {self._named(type(other), type(other).__name__)}")
                where = name
            else:
                self.tests.append(f"type({where}) is {self._named(type(other), type(other).__name__)}")
            if isinstance(other, (tuple, list, dict)):
                self.tests.append(f"len({where}) == {len(other)}")
            elif hasattr(other, "__dict__") and is_container(other):
                self.tests.append(f"len({where}.__dict__) == {len(vars(other))}")

    def _at(self, index: int, steps: tuple[Step, ...]) -> str:
        """How one writes a part, from the nearest container above that has a name."""
        above = len(steps)
        while above and (index, steps[:above]) not in self.nodes:
            above -= 1
        base = self.nodes.get((index, steps[:above]), self.writer.wholes[index])
        return base + self.writer.way(steps[above:])

    def _ties(self, index: int, form: Form) -> None:
        for place, steps in self.layout.ties:
            if place not in form.absent:
                other = self.writer.wholes[index] + self.writer.way(steps)
                self.tests.append(f"{self.writer.at(index, place)} is {other}")

    def _identities(self) -> None:
        """What was one object still is, and what were several still are."""
        if self.writer.forms[0].is_flat:
            return
        for first, other in self.layout.aliases:
            self.tests.append(f"{self._at(0, first)} is {self._at(0, other)}")
        holders = [parameter.steps[:-1] for parameter in self.layout.parameters if not parameter.is_array]
        for steps in dict.fromkeys((*holders, *self.layout.points)):
            if not isinstance(reach(self.structures[0], steps), tuple):
                self.memory.append(f"id({self._at(0, steps)})")

    def _runs(self, index: int) -> set[int]:
        """Tests long lists as a whole, and gives the places in them."""
        tested: set[int] = set()
        for run in self.writer.runs:
            steps = self.layout.parameters[run.start].steps[:-1]
            kinds = {*map(type, reach(self.structures[index], steps))}
            if len(kinds) == 1:
                (kind,) = kinds
                self.tests.append(f"{{*map(type, {self._at(index, steps)})}} == {{{self._named(kind, kind.__name__)}}}")
                tested.update(run)
        return tested

    def _leaves(self, index: int, form: Form) -> None:
        tested = self._runs(index)
        for place, parameter in enumerate(self.layout.parameters):
            if place in tested:
                continue
            value = reach(self.structures[index], parameter.steps)
            if place in form.absent:
                steps = self._named(parameter.steps, "way")
                self.tests.append(f"{self._named(reach, 'reach')}({self.writer.wholes[index]}, {steps}) is None")
                continue
            where = self._at(index, parameter.steps)
            if not parameter.is_array:
                self.tests.append(f"type({where}) is {self._named(type(value), type(value).__name__)}")
                continue
            name = self.writer.names.fresh(f"{self.writer.formula.values[index]}{place}")
            self.tests.append(f"({name} := {where}).shape == {parameter.shape!r}")
            self.tests.append(f"{name}.dtype is {self._named(value.dtype, value.dtype.name)}")
            if index in self.written and (index or parameter.point is None):
                if place in self.packed:
                    self.tests.append(f"{name}.base is None")
                self.tests.append(f"{name}.flags.writeable")
                self.memory.append(f"id({name})")
