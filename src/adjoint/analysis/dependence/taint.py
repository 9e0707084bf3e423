"""Taint analysis of objects that nobody looks into: a buffer of text tells what varies, once that was written to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MethodDescriptorType

from adjoint import ir
from adjoint.analysis.joins import caught
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in, targets_of
from adjoint.rules import registry
from adjoint.rules.kinds import NoDerivative, Observer
from adjoint.runtime import display


def tainted_objects(block: ir.Block, varied: set[ir.Atom]) -> set[ir.Atom]:
    """The values of unknown classes that may tell what varies, since it was written to an object before.

    Parameters
    ----------
    block
        The statements.
    varied
        The values that vary, those without a derivative among them (:func:`.may_vary.varying`).
    """
    found: set[ir.Atom] = set()
    before = -1
    while before != len(found):
        before = len(found)
        showing = {bar for statement in statements_in(block) for bar in _bars(statement, varied | found)}
        for statement in statements_in(block):
            if not showing.isdisjoint(targets_of(statement)):
                continue  # what a bar is told it does not hand to the items
            told = found - showing if _draws(statement) else found
            found.update(atom for atom in _told(statement, varied, told) if _is_unknown(atom))
    return found


_OF_PROGRESS = frozenset({"tqdm", "progressbar", "rich"})
"""Packages whose objects show how far a loop is: what they are told, they show, and never hand out as an item."""
_ITERATORS = frozenset({iter, next, enumerate, zip, reversed})


def _bars(statement: ir.Statement, varied: set[ir.Atom]) -> Sequence[ir.Var]:
    """The progress bars that a statement makes, of items that do not vary."""
    if not isinstance(statement, ir.Call) or not isinstance(statement.callee, type):
        return ()
    if not varied.isdisjoint(operands(statement)):
        return ()
    return statement.targets if statement.callee.__module__.partition(".")[0] in _OF_PROGRESS else ()


def _draws(statement: ir.Statement) -> bool:
    """Whether a statement asks for items, or makes what does."""
    if isinstance(statement, ir.Loop):
        return isinstance(statement.over, ir.Items)
    return isinstance(statement, ir.Call) and statement.callee in _ITERATORS


def _told(statement: ir.Statement, varied: set[ir.Atom], found: set[ir.Atom]) -> Iterator[ir.Atom]:
    given = [*operands(statement)]
    given += [atom for inner in blocks_of(statement) for leaf in leaves(inner) for atom in operands(leaf)]
    made = targets_of(statement)
    yield from (name for raised, name in caught(statement) if raised in found)
    if not found.isdisjoint(given):
        yield from made
        if isinstance(statement, ir.Loop):
            yield from statement.params
            yield from filter(None, (statement.index,))
    if isinstance(statement, ir.Load) and isinstance(statement.key, ir.Attribute) and statement.target in found:
        yield statement.base  # its method was given what varies
    if isinstance(statement, ir.Call) and not varied.isdisjoint(given):
        yield from filter(is_text, made)
        yield from _printed_to(statement)
        if any(atom in varied and _is_written(atom) for atom in given):
            yield from _written_to(statement)
    if isinstance(statement, ir.Call) and _is_opaque(statement) and not found.isdisjoint(made):
        yield from given  # what is made may write to what it is made of


def is_text(atom: ir.Atom) -> bool:
    """Whether a value is known to be a text."""
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Opaque) and atom.type.cls in (str, bytes)


def holds_text(atom: ir.Atom) -> bool:
    """Whether a value is known to be a text, or a container with texts in it."""
    return isinstance(atom, ir.Var) and _is_of_text(atom.type)


def _is_of_text(type_: ir.Type | None) -> bool:
    match type_:
        case ir.Opaque(cls=cls):
            return cls in (str, bytes)
        case ir.List(element=inner) | ir.Dict(value=inner):
            return _is_of_text(inner)
        case ir.Tuple(items=items):
            return any(map(_is_of_text, items))
        case _:
            return False


def _is_opaque(call: ir.Call) -> bool:
    module = getattr(call.callee, "__module__", None) or ""
    return registry.rule_for(call.callee) is None and not module.startswith("adjoint.")


def _printed_to(call: ir.Call) -> Iterator[ir.Atom]:
    return (value for name, value in call.kwargs if name in ("file", "stream", "fp"))


def _is_written(atom: ir.Atom) -> bool:
    """Whether a method that is handed this may keep it as text; arrays and numbers are followed by their types."""
    return is_text(atom) or (isinstance(atom, ir.Var) and isinstance(atom.type, (ir.List, ir.Tuple, ir.Dict)))


def _written_to(call: ir.Call) -> Iterator[ir.Atom]:
    """The object of which a method is called."""
    if call.callee is display.call or isinstance(call.callee, MethodDescriptorType):
        yield from call.args[:1]


def _is_unknown(atom: ir.Atom) -> bool:
    """Whether a value may be such an object, or come from one."""
    return isinstance(atom, ir.Var) and isinstance(atom.type, ir.Opaque)


def reads_tainted(call: ir.Call, found: set[ir.Atom]) -> bool:
    """Whether a call makes numbers of such a value."""
    if found.isdisjoint(call.args):
        return False
    rule = registry.rule_for(call.callee)
    makes_numbers = isinstance(call.callee, type) and call.callee in (float, int, complex)
    return makes_numbers or (rule is not None and not isinstance(rule, (NoDerivative, Observer)))
