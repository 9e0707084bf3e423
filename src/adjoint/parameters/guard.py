"""Whether an unrolled update still fits what it is given: a generated test of the structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.backend.python import Emitted, load
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
    """

    def __init__(self, writer: Writer, layout: Layout, structures: Sequence[Any], written: Sequence[int]) -> None:
        self.writer = writer
        self.layout = layout
        self.structures = structures
        self.written = written
        self.tests: list[str] = []
        self.memory: list[str] = []

    def load(self) -> Any:
        """The test, as a function of the structures."""
        for index, form in enumerate(self.writer.forms):
            if form.is_flat:
                self._flat(index)
            else:
                self._nodes(index)
                self._leaves(index, form)
                self._ties(index, form)
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
        self.tests.append(f"{whole}.layout == {self._named(self.layout, 'layout')}")

    def _nodes(self, index: int) -> None:
        for steps, node in self.layout.nodes:
            if index and not is_container(node):
                continue
            other = reach(self.structures[index], steps)
            if other is None and index:
                continue
            where = self.writer.wholes[index] + self.writer.way(steps)
            self.tests.append(f"type({where}) is {self._named(type(other), type(other).__name__)}")
            if isinstance(other, (tuple, list, dict)):
                self.tests.append(f"len({where}) == {len(other)}")
            elif hasattr(other, "__dict__") and is_container(other):
                self.tests.append(f"len({where}.__dict__) == {len(vars(other))}")

    def _ties(self, index: int, form: Form) -> None:
        for place, steps in self.layout.ties:
            if place not in form.absent:
                other = self.writer.wholes[index] + self.writer.way(steps)
                self.tests.append(f"{self.writer.at(index, place)} is {other}")

    def _leaves(self, index: int, form: Form) -> None:
        for place, parameter in enumerate(self.layout.parameters):
            value = reach(self.structures[index], parameter.steps)
            if place in form.absent:
                steps = self._named(parameter.steps, "way")
                self.tests.append(f"{self._named(reach, 'reach')}({self.writer.wholes[index]}, {steps}) is None")
                continue
            where = self.writer.at(index, place)
            if not parameter.is_array:
                self.tests.append(f"type({where}) is {self._named(type(value), type(value).__name__)}")
                continue
            name = self.writer.names.fresh(f"{self.writer.formula.values[index]}{place}")
            self.tests.append(f"({name} := {where}).shape == {parameter.shape!r}")
            self.tests.append(f"{name}.dtype is {self._named(value.dtype, value.dtype.name)}")
            if index in self.written:
                self.tests.append(f"{name}.flags.writeable")
                self.memory.append(f"id({name})")
