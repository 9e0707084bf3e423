"""Arrays of which the layout decides what a program means, laid out as NumPy does.

Machine code lays new arrays out by rows. Where a view of one is written, and it is a view only where the array lies as
it takes (``reshape``), the array has to lie as NumPy has it: what makes it runs as Python, unless that is surely by
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.joins import joins
from adjoint.analysis.memory.array_layout import layout_readers
from adjoint.analysis.shapes.tapes import put_on_tape, taken_from_tape, tapes_of
from adjoint.diagnostics import Span
from adjoint.differentiation.reverse.memory.gathers import is_gathered
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_in, targets_of
from adjoint.native.compile.not_native import NotNative
from adjoint.native.legalize.as_python import by_python
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.rules.kinds import Elementwise
from adjoint.rules.registry import rule_for
from adjoint.runtime import copies, display
from adjoint.runtime.arithmetic import bundles, numbers
from adjoint.runtime.array_functions import arrays, sequences

_BY_ROWS = (
    *(np.zeros, np.empty, np.ones, np.full, np.eye, np.identity, np.ndarray.copy),
    *(sequences.array_of, display.draw),
    *(bundles.zero_bundles, bundles.no_bundles_yet),
)
"""Functions that lay their results out by rows, if nobody asks them for another order."""
_NEW = (
    np.copy,
    np.zeros_like,
    np.empty_like,
    np.ones_like,
    np.full_like,
    np.where,
    np.clip,
    arrays.zeros_like,
    arrays.zeros_in_memory,
)
_AS_THEY_LIE = (
    *_NEW,
    *(np.array, arrays.match, copies.owned, arrays.copy_laid_out_like, numbers.choose, np.ndarray.astype),
)
"""Functions that lay their results out by rows if their arguments lie so, as element-wise ones do."""
_RESHAPED = (np.reshape, np.ndarray.reshape, np.ravel, np.ndarray.ravel)
"""Functions whose results lie by rows if what is reshaped does."""
_REASON = "how this array lies in memory decides what is written here, and machine code does not know it"


def with_numpys_layouts(function: ir.Function, by_rows: Iterable[ir.Var] = ()) -> ir.Function:
    """The function with what makes such arrays run as Python; ``by_rows``: parameters that surely lie so."""
    readers = list(layout_readers(function))
    if not readers:
        return function
    found = _Layouts(function, by_rows)
    for call in readers:
        found.decides(call.args[0])
    found.spread(readers[0].span)
    return _ByPython(found.makers).function(function)


class _Layouts:
    """Of which arrays the layout decides something, and what makes them."""

    def __init__(self, function: ir.Function, by_rows: Iterable[ir.Var]) -> None:
        self.rows: set[ir.Atom] = set(by_rows)
        self.makers: set[int] = set()
        self._decide: dict[ir.Var, None] = {}
        self._sources: dict[ir.Var, list[ir.Atom]] = {}
        self._made: dict[ir.Var, ir.Call | ir.Load] = {}
        self._params = set(function.params)
        for statement in statements_in(function.body):
            for source, target in joins(statement):
                self._sources.setdefault(target, []).append(source)
            if isinstance(statement, (ir.Call, ir.Load)):
                self._made.update(dict.fromkeys(targets_of(statement), statement))
        self._function = function
        self._kept = kept = _kept(function)
        self._containers_decide = False
        known = -1
        while known < len(self.rows):  # what is taken back may be known once all that is kept is
            known = len(self.rows)
            for statement in statements_in(function.body):
                taken = taken_from_tape(statement)
                if taken is not None and taken[0] in kept:
                    if self.rows.issuperset(kept[taken[0]]):
                        self.rows.add(taken[1])
                elif isinstance(statement, ir.Call) and self._lies_by_rows(statement):
                    self.rows.update(statement.targets)

    def decides(self, atom: ir.Atom) -> None:
        if isinstance(atom, ir.Var) and not isinstance(atom.type, ir.Scalar) and not _has_one_element(atom.type):
            self._decide[atom] = None

    def spread(self, span: Span | None) -> None:
        """Goes back from each array to those that it is made of, or is a view of; ``span`` is where it matters."""
        done = 0
        while done < len(self._decide):
            var = list(self._decide)[done]
            done += 1
            for source in self._sources.get(var, ()):
                self.decides(source)
            if var in self._made and var not in self.rows:
                self._follow(self._made[var])
            elif var not in self._made and var not in self._sources and var not in self._params:
                raise NotNative(_REASON, (), span)

    def _follow(self, made: ir.Call | ir.Load) -> None:
        taken = taken_from_tape(made)
        if taken is not None and taken[0] in self._kept:
            for item in self._kept[taken[0]]:
                self.decides(item)
            return
        if isinstance(made, ir.Load):
            if not isinstance(type_of_atom(made.base), ir.Array):
                self._follow_containers(made)
                return
            self.decides(made.base)
            if is_gathered(made):
                self.makers.add(id(made))
            return
        found = effects_of(made)
        if isinstance(made.callee, (ir.Definition, ir.Function)):
            raise NotNative(_REASON, (), made.span)
        if found.hands_on or not found.known:  # what has no rule runs as Python, which lays out as NumPy does
            self._follow_containers(made)
            return
        if found.view_of is None:
            self.makers.add(id(made))
        if found.view_of is None or not _has_one_layout(type_of_atom(made.args[found.view_of])):
            for atom in operands(made):
                if (
                    isinstance(atom, ir.Var)
                    and isinstance(atom.type, (ir.Array, ir.Number))
                    and not _has_one_layout(atom.type)
                ):
                    self.decides(atom)

    def _follow_containers(self, made: ir.Call | ir.Load) -> None:
        """Goes back to all arrays that are put into containers, and handed to what may keep or give them."""
        if self._containers_decide:
            return
        self._containers_decide = True
        for statement in statements_in(self._function.body):
            if isinstance(statement, ir.Call) and isinstance(statement.callee, (ir.Definition, ir.Function)):
                raise NotNative(_REASON, (), made.span)
            for atom in _handed_on(statement):
                self.decides(atom)

    def _lies_by_rows(self, call: ir.Call) -> bool:
        """Whether a call makes arrays that surely lie by rows, in NumPy as in machine code."""
        if any(name == "order" for name, _ in call.kwargs) or not all(
            isinstance(t.type, ir.Array) for t in call.targets
        ):
            return False
        if call.callee in _BY_ROWS:
            return call.callee is not np.ndarray.copy or len(call.args) == 1
        if call.callee in _RESHAPED:
            return call.args[0] in self.rows
        if call.callee in _AS_THEY_LIE or isinstance(rule_for(call.callee), Elementwise):
            is_new = call.callee in _NEW or (call.callee not in _AS_THEY_LIE and effects_of(call).view_of is None)
            if is_new and all(_has_one_layout(target.type) for target in call.targets):
                return True
            return all(map(self._counts_as_by_rows, operands(call)))
        found = effects_of(call)
        is_new = rule_for(call.callee) is not None and found.known and found.view_of is None and not found.hands_on
        return is_new and bool(call.targets) and all(_has_one_layout(target.type) for target in call.targets)

    def _counts_as_by_rows(self, atom: ir.Atom) -> bool:
        """Whether an operand leaves a result by rows if the others do."""
        if not isinstance(atom, ir.Var) or not isinstance(atom.type, (ir.Array, ir.Number)):
            return True
        return atom in self.rows or _has_one_layout(atom.type)


def _kept(function: ir.Function) -> dict[ir.Var, list[ir.Atom]]:
    """What is put on tapes."""
    kept: dict[ir.Var, list[ir.Atom]] = {tape: [] for tape in tapes_of(function.body)}
    for put in filter(None, map(put_on_tape, statements_in(function.body))):
        if put[0] in kept:
            kept[put[0]].append(put[1])
    return kept


def _handed_on(statement: ir.Statement) -> Iterable[ir.Atom]:
    """What a statement puts into a container, or hands to what may keep it or give it back."""
    match statement:
        case ir.Store(base=base, value=value) if not isinstance(type_of_atom(base), ir.Array):
            return (value,)
        case ir.Call():
            found = effects_of(statement)
            is_of_numbers = all(isinstance(var.type, (ir.Array, ir.Scalar)) for var in statement.targets)
            is_plain = found.known and not found.hands_on and is_of_numbers and bool(statement.targets)
            return () if is_plain else operands(statement)
        case _:
            return ()


def _has_one_element(type_: ir.Type) -> bool:
    """Whether arrays of a type have one element, and lie in memory like any other of that shape."""
    return isinstance(type_, ir.Array) and type_.dims is not None and set(type_.dims) <= {"one"}


def _has_one_layout(type_: ir.Type | None) -> bool:
    """Whether new arrays of a type lie by rows whoever makes them: all axes but one have one element."""
    return isinstance(type_, ir.Array) and type_.dims is not None and len(type_.dims) - type_.dims.count("one") < 2


class _ByPython(Rewriting):
    def __init__(self, makers: set[int]) -> None:
        super().__init__()
        self._makers = makers

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterator[ir.Statement]:
        yield by_python(statement) if id(statement) in self._makers else statement
