"""Which values may depend on some parameters: a quick answer that errs on the side of yes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adjoint import ir
from adjoint.analysis.called_functions import function_behind, functions_run
from adjoint.analysis.dependence.taint import holds_text
from adjoint.analysis.effects import effects, written_args
from adjoint.analysis.joins import caught, joins
from adjoint.ir.walk import binders_of, blocks_of, leaves, operands, statements_in, targets_of, vars_of


def varying(block: ir.Block, params: Iterable[ir.Var], *, by_choice: bool = True) -> set[ir.Atom]:
    """The variables of ``block`` that may depend on ``params``, through values and through memory.

    Of objects, the fields that are written are told apart from the others. ``by_choice``: also where ``params`` only
    choose, by a condition or an index, which of several values it is.
    """
    varied: set[ir.Atom] = set(params)
    fields: set[tuple[ir.Storage | ir.Atom, str]] = set()
    partly: set[ir.Atom] = set()
    """Objects of which only fields vary."""
    statements = statements_in(block)
    ways = _Ways(statements)
    before = (-1, -1)
    while before != (len(varied), len(fields)):
        before = len(varied), len(fields)
        for statement in statements:
            if isinstance(statement, ir.Call) and effects(statement.callee).reads == ():
                continue  # looks at shapes and types only
            varied.update(name for source, name in caught(statement) if source in varied)
            if not by_choice and blocks_of(statement):
                varied.update(target for source, target in joins(statement) if source in varied)
                if isinstance(statement, ir.Loop) and _goes_through(statement, varied | partly):
                    varied.update(filter(None, (statement.index,)))
                continue
            if not by_choice and isinstance(statement, ir.Load) and statement.base not in varied | partly:
                continue
            if not _depends(statement, varied, fields, partly):
                continue
            is_made_of_it = _made_of(statement, varied)
            varied.update(target for target in targets_of(statement) if is_made_of_it(target))
            if isinstance(statement, ir.Loop):
                varied.update(statement.params)
                if _goes_through(statement, varied | partly):
                    varied.update(filter(None, (statement.index,)))
            elif isinstance(statement, ir.Store) and isinstance(statement.base, ir.Var):
                if isinstance(statement.base.type, ir.Instance) and isinstance(statement.key, ir.Attribute):
                    fields.add((_memory_of(statement.base), statement.key.name))
                    partly.update(ways.to(statement.base))
                else:
                    varied.update(ways.to(statement.base))
            elif isinstance(statement, ir.Call):
                written = [atom for atom in written_args(statement) if isinstance(atom, ir.Var)]
                if statement.targets:  # what it makes tells what was done to an object that nobody looks into
                    written = [atom for atom in written if ir.storage_of(atom.type) is not None]
                varied.update(name for atom in written for name in ways.to(atom))
    return varied | partly


class _Ways:
    """The variables from which memory is reached: those that hold a list have the numbers in its rows, too."""

    def __init__(self, statements: Sequence[ir.Statement]) -> None:
        self.statements = statements
        self.known: dict[ir.Storage, list[ir.Var]] | None = None

    def to(self, base: ir.Var) -> Iterable[ir.Var]:
        """Those from which the memory of ``base`` is reached."""
        storage = ir.storage_of(base.type)
        if storage is None:
            return (base,)
        if self.known is None:
            self.known = {}
            for var in self._variables():
                for each in ir.storages(var.type):
                    self.known.setdefault(each, []).append(var)
        return (base, *self.known.get(storage, ()))

    def _variables(self) -> Iterable[ir.Var]:
        found: dict[ir.Var, None] = {}
        for statement in self.statements:
            found.update(dict.fromkeys((*targets_of(statement), *binders_of(statement))))
            found.update(dict.fromkeys(vars_of(operands(statement))))
        return found


def _memory_of(base: ir.Atom) -> ir.Storage | ir.Atom:
    storage = ir.storage_of(base.type) if isinstance(base, ir.Var) else None
    return base if storage is None else storage


def _made_of(statement: ir.Statement, varied: set[ir.Atom]) -> Callable[[ir.Var], bool]:
    """Which results of a statement are made of what varies: texts, where a function makes some of what is no text."""
    function = function_behind(statement.callee) if isinstance(statement, ir.Call) else None
    if function is None or any(holds_text(atom) and atom in varied for atom in operands(statement)):
        return lambda _: True
    return lambda target: not holds_text(target) or _makes_texts(function)


def _makes_texts(function: ir.Function) -> bool:
    """Whether a function, or one that it calls, makes a text of anything but texts and constants."""
    return any(_makes_text(statement) for each in functions_run(function) for statement in statements_in(each.body))


def _makes_text(statement: ir.Statement) -> bool:
    if not isinstance(statement, ir.Call) or function_behind(statement.callee) is not None:
        return False
    is_of_others = any(isinstance(arg, ir.Var) and not holds_text(arg) for arg in operands(statement))
    return is_of_others and any(map(holds_text, statement.targets))


def _goes_through(loop: ir.Loop, values: set[ir.Atom]) -> bool:
    """Whether the items of a loop are those of one of some values."""
    return isinstance(loop.over, ir.Items) and loop.over.iterable in values


def _depends(
    statement: ir.Statement,
    varied: set[ir.Atom],
    fields: set[tuple[ir.Storage | ir.Atom, str]],
    partly: set[ir.Atom],
) -> bool:
    if isinstance(statement, ir.Load) and statement.base in partly and isinstance(statement.key, ir.Attribute):
        return statement.base in varied or (_memory_of(statement.base), statement.key.name) in fields
    read = operands(statement)
    if isinstance(statement, ir.Store):
        read = tuple(atom for atom in read if atom is not statement.base or atom in varied)
    inside = [atom for inner in blocks_of(statement) for leaf in leaves(inner) for atom in operands(leaf)]
    return any(atom in varied or atom in partly for atom in (*read, *inside))
