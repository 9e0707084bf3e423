"""A derivative that takes no zero for one that was left out, for as long as its results are numbers.

The supports of cotangents (:mod:`adjoint.differentiation.zeros.supports`) matter only where a slope that is infinite,
or not a number, meets a zero. There, without them, a result is not a number. So a derivative may run without
supports, speculatively; where a result is not a number it is computed again, with them (deoptimization).

It is legal where what the supports decide ends in the results alone, by arithmetic in which what is not a number stays
so, and where nobody notices that the derivative runs twice: it writes nothing that others see. What it prints it
prints the first time alone. Functions that it calls are looked through: where such a number enters one, it has to end
in the results of that function, too.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.joins import flows, reached
from adjoint.differentiation.definitions import everywhere, with_called
from adjoint.differentiation.memory.slots import has_slots
from adjoint.differentiation.zeros.supports import is_support
from adjoint.ir.rebuild import rebound, substitute, without_statements
from adjoint.ir.walk import blocks_of, key_atoms, operands, statements_in
from adjoint.rules.kinds import Bilinear, General, Linear
from adjoint.rules.registry import rule_for
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.arithmetic.numbers import choose, divide, product, quotient, selected, times
from adjoint.runtime.array_functions.products import einsum_of_one
from adjoint.runtime.array_functions.triangular import SOLVERS
from adjoint.runtime.copies import fresh_shadows
from adjoint.runtime.display import PRINTS

_ARITHMETIC = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.matmul),
        *(times, divide, product, quotient, selected, choose, abs, float, complex, np.where, np.copy),
        *(np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.positive, np.square),
        *(np.einsum, einsum_of_one, fresh_shadows),
        *(list, tuple, dict, operator.getitem, list.append, list.insert, list.pop, list.copy, dict.pop),
    }
)
"""Functions whose result is not a number where an operand is not, but for what a selection leaves out."""
_CONDITIONS = frozenset({choose, np.where})
_REPEATED = frozenset({*PRINTS, np.errstate, np.seterr, bool, np.empty, np.empty_like})
"""Functions of which nobody notices that they run twice: who prints is silent the second time; tapes are empty."""
_OWN = frozenset(["make_list", "make_tuple", "make_dict", "owned", "complex_of"])
"""The same of our own, by name."""
_TRANSPOSES = "adjoint.runtime.array_functions."
"""Where functions are that are linear in their first argument, where that is a cotangent: it is called ``ct`` there."""


def without_supports(function: ir.Function) -> ir.Function:
    """A derivative that takes each cotangent for one of which nothing was left out.

    Parameters
    ----------
    function
        A derivative, before it is finished.

    Returns
    -------
    Function
        It gives what ``function`` gives, or something that is not a number. The very function where that might not be
        so, or there is nothing to gain.
    """
    functions = with_called(function)
    present = {id(each): _present(each) for each in functions}
    if not any(present.values()) or is_noticed(function) or not end_in_results(functions, present):
        return function
    return everywhere(function, _all_present)


def _present(function: ir.Function) -> dict[ir.Var, ir.Atom]:
    """The products that supports are asked of, and what they are where nothing was left out."""
    return {
        statement.targets[0]: statement.args[1]
        for statement in statements_in(function.body)
        if type(statement) is ir.Call and statement.callee is selected and _asks_support(statement)
    }


def _all_present(function: ir.Function) -> ir.Function:
    """The function without those questions."""
    present = _present(function)
    if not present:
        return function
    for made, factor in present.items():
        while isinstance(factor, ir.Var) and factor in present:
            factor = present[factor]
        present[made] = factor
    return ir.Function(function.name, function.params, _replaced(function.body, present), function.doc)


def end_in_results(functions: Sequence[ir.Function], present: Mapping[int, Iterable[ir.Var]]) -> bool:
    """Whether in functions that call each other what the supports decide ends in results alone."""
    entering: dict[int, set[int]] = {id(each): set() for each in functions}
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        start = [*present[id(function)], *[function.params[place] for place in sorted(entering[id(function)])]]
        if not start:
            continue
        flow = _Flow(start, statements_in(function.body))
        if not flow.ends_in_results(function.body):
            return False
        for callee, places in flow.passed_on():
            if not places <= entering[id(callee)]:
                entering[id(callee)] |= places
                waiting.append(callee)
    return True


def _replaced(body: ir.Block, present: Mapping[ir.Var, ir.Atom]) -> ir.Block:
    """A body with products in the place of what selects them: they are memory that is written where that is."""
    written = {
        factor: ir.Var(factor.hint, made.type, factor.named)
        for made, factor in present.items()
        if isinstance(factor, ir.Var) and has_slots(made.type) and not has_slots(factor.type)
    }
    if not written:
        return substitute(body, present)
    factors = {
        made: written.get(factor, factor) if isinstance(factor, ir.Var) else factor for made, factor in present.items()
    }
    return rebound(substitute(body, {**written, **factors}), written)


def _asks_support(call: ir.Call) -> bool:
    support = call.args[0]
    return isinstance(support, ir.Var) and is_support(support)


def is_noticed(function: ir.Function) -> bool:
    """Whether anybody sees how often a function is run, and those that it calls."""
    outside: dict[int, set[ir.Storage]] = {id(function): _memory(function.params)}
    waiting = [function]
    while waiting:
        here = waiting.pop()
        seen = outside[id(here)]
        for statement in statements_in(here.body):
            if type(statement) is ir.Call and _is_looked_into(statement.callee):
                callee = statement.callee.function
                handed = {
                    place for place, arg in enumerate(statement.args[: len(callee.params)]) if _memory((arg,)) & seen
                }
                memory = _memory([callee.params[place] for place in handed])
                if id(callee) not in outside or not memory <= outside[id(callee)]:
                    outside.setdefault(id(callee), set()).update(memory)
                    waiting.append(callee)
            elif _is_seen(statement, seen):
                return True
    return False


def _memory(atoms: Iterable[ir.Atom]) -> set[ir.Storage]:
    return {storage.find() for atom in atoms if isinstance(atom, ir.Var) for storage in ir.storages(atom.type)}


def _is_seen(statement: ir.Statement, outside: set[ir.Storage]) -> bool:
    """Whether a statement acts on the world, or writes memory from outside."""
    if type(statement) is ir.Call:
        facts = effects_of(statement)
        if not facts.confined or not facts.known:
            return not _is_check(statement.callee) and statement.callee not in _REPEATED
        written = facts.written(statement.args)
    elif type(statement) is ir.Store:
        written = [statement.base]
    else:
        return False
    storages = [ir.storage_of(atom.type) if isinstance(atom, ir.Var) else None for atom in written]
    return any(storage is None or storage.find() in outside for storage in storages)


def _is_looked_into(callee: Any) -> bool:
    return isinstance(callee, ir.Definition) and callee.function is not None


def _is_check(callee: object) -> bool:
    """Whether a function does nothing but raise, in the first run as in the second."""
    from adjoint.rules.helpers.structures import CHECKS  # lazy

    return any(callee is check for check in CHECKS)


def prints(function: ir.Function) -> bool:
    """Whether a function, or one that it calls, prints."""
    return any(map(_prints, _with_calls(function)))


def without_prints(function: ir.Function) -> ir.Function:
    """The function, and those that it calls, without a word."""
    return everywhere(function, _silent)


def _silent(function: ir.Function) -> ir.Function:
    body = without_statements(function.body, _prints)
    return ir.Function(function.name, function.params, body, function.doc)


def _prints(statement: ir.Statement) -> bool:
    return type(statement) is ir.Call and statement.callee in PRINTS


def has_singular_slopes(function: ir.Function) -> bool:
    """Whether slopes in a function, or in one that it calls, may be infinite, or not a number."""
    return any(type(statement) is ir.Call and _is_singular(statement.callee) for statement in _with_calls(function))


def _with_calls(function: ir.Function) -> Iterator[ir.Statement]:
    return (statement for each in with_called(function) for statement in statements_in(each.body))


def _is_singular(callee: object) -> bool:
    if isinstance(callee, (ir.Declared, ir.Derived, ir.Applied)):
        return True
    if isinstance(callee, (ir.Definition, ir.Function)):
        return False
    module = getattr(callee, "__module__", None) or ""
    if module == "adjoint.runtime.display":
        return False
    rule = rule_for(callee)
    return isinstance(rule, General) or getattr(rule, "singular", False) or module == numbers.__name__


class _Flow:
    """Where products go that count as present though they may have been left out."""

    def __init__(self, start: Iterable[ir.Var], statements: Sequence[ir.Statement]) -> None:
        self.statements = statements
        self.onward: dict[Any, list[Any]] = {}
        """From variables, and classes of memory, to those that are made of them."""
        for statement in statements:
            self.follow(statement)
        self.reached = reached((place for var in start for place in (var, *self.homes(var))), self.onward)

    def reaches(self, atom: ir.Atom | None) -> bool:
        return isinstance(atom, ir.Var) and atom in self.reached

    def homes(self, var: ir.Var) -> Iterable[ir.Storage]:
        """The memory that can be reached from a variable."""
        return () if type(var.type) is ir.Scalar else ir.storages(var.type)

    def edges(self, sources: Iterable[ir.Atom], targets: Iterable[ir.Atom]) -> None:
        ends: list[Any] = []
        for target in targets:
            if isinstance(target, ir.Var):
                ends.append(target)
                self.live_in(target)
                ends += self.homes(target)
        for source in sources:
            if isinstance(source, ir.Var):
                self.live_in(source)
                self.onward.setdefault(source, []).extend(ends)

    def live_in(self, var: ir.Var) -> None:
        """What memory holds is what its variables refer to."""
        for home in self.homes(var):
            self.onward.setdefault(home, []).append(var)

    def follow(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Call(targets=targets):
                written = effects_of(statement).written(statement.args)
                self.edges(operands(statement), (*targets, *written))
            case ir.Load(target, base):
                self.edges((base,), (target,))
            case ir.Store(base=base, value=value):
                self.edges((value,), (base,))
            case _:
                for source, target in flows(statement):
                    self.edges((source,), (target,))

    def ends_in_results(self, body: ir.Block) -> bool:
        """Whether it is in results only, by arithmetic, that anybody sees a difference."""
        if any(map(self.reaches, _deciding(body))):
            return False
        return all(map(self.keeps, self.statements))

    def passed_on(self) -> Iterator[tuple[ir.Function, set[int]]]:
        """The functions that are called with it, and as which arguments."""
        for statement in self.statements:
            if type(statement) is ir.Call and isinstance(callee := statement.callee, ir.Definition) and callee.function:
                yield callee.function, {place for place, arg in enumerate(statement.args) if self.reaches(arg)}

    def keeps(self, statement: ir.Statement) -> bool:
        """Whether what is not a number is not a number after a statement."""
        if type(statement) is ir.Call:
            reached = [place for place, arg in enumerate(statement.args) if self.reaches(arg)]
            if any(self.reaches(value) for _, value in statement.kwargs):
                return False
            if not reached or _is_looked_into(statement.callee):
                return True
            return _is_arithmetic(statement, reached) or _is_idle(statement)
        match statement:
            case ir.Load(key=key) | ir.Store(key=key):
                return not any(map(self.reaches, key_atoms(key)))
            case ir.If(cond=cond):
                return not self.reaches(cond)
            case ir.Loop(over=ir.Range(start, stop, step)):
                return not any(map(self.reaches, (start, stop, step)))
            case ir.Loop(over=ir.Items(iterable)):
                return not self.reaches(iterable)
            case ir.Guarded(context=context):
                return not self.reaches(context)
        return True


def _is_idle(call: ir.Call) -> bool:
    """Whether a call computes a support, which nobody asks then, or looks at what never changes, as a shape."""
    return all(map(is_support, call.targets)) or effects_of(call).reads == ()


def _is_arithmetic(call: ir.Call, reached: list[int]) -> bool:
    callee = call.callee
    if callee in _CONDITIONS or callee in SOLVERS:
        return 0 not in reached
    if callee in _ARITHMETIC or isinstance(rule_for(callee), (Linear, Bilinear)):
        return True
    module = getattr(callee, "__module__", None) or ""
    if module.startswith(_TRANSPOSES) and reached == [0]:
        return bool(callee.__code__.co_varnames[:1] == ("ct",))
    return module.startswith("adjoint.runtime.") and callee.__name__ in _OWN


def _deciding(block: ir.Block) -> Iterator[ir.Atom]:
    """What decides where a block ends, or blocks in it: conditions, exceptions."""
    end = block.terminator
    if isinstance(end, ir.Branch):
        yield end.cond
        yield from _deciding(end.then)
        yield from _deciding(end.orelse)
    elif isinstance(end, ir.Raise):
        yield from operands(end)
    for statement in block.statements:
        for inner in blocks_of(statement):
            yield from _deciding(inner)
