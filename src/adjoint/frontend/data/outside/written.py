"""What functions write outside whose derivative is declared, and whether the program reads it.

Nobody follows what they write: where the program may have looked it up, the call is refused. Of objects, only the
attributes that are written are forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.called_functions import function_behind
from adjoint.analysis.effects import effects_of
from adjoint.frontend.data.outside.lifted import lift
from adjoint.frontend.entry.captured import reader
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import FORGOTTEN, FORGOTTEN_CONSTANT, Forgotten, Record, Ref, Value
from adjoint.ir.walk import key_atoms, operands, statements_in, terminators_in, vars_of
from adjoint.types.classes.safe_lookups import contents_of
from adjoint.types.structure import fields_of


def note_entered(lo: Lowerer, thing: Any, value: Value) -> None:
    """Takes down an object, a container or an array that the program has from outside."""
    lo.run_data.written.entered.append((thing, value))
    if lo.run_data.written:
        _forget(lo, thing, value)


def forget_written(lo: Lowerer) -> None:
    """Forgets the attributes, of objects that the program has, that were found written."""
    for thing, value in lo.run_data.written.entered:
        _forget(lo, thing, value)


def _forget(lo: Lowerer, thing: Any, value: Value) -> None:
    if isinstance(thing, (np.ndarray, list, dict)):
        return
    written = lo.run_data.written
    own = fields_of(thing)
    names = {name: found for (owner, name), found in written.attributes.items() if owner == id(thing)}
    whole = written.things.get(id(thing))
    if whole is not None:
        names.update(dict.fromkeys(own, (thing, False, whole[1])))
    for name, item in own.items():
        problem = _written_in(lo, item)
        if problem is not None:
            names[name] = item, False, problem
    for name, (_, counts, problem) in names.items():
        record = lo.store.get(value)
        if not (isinstance(value, Ref) and isinstance(record, Record)):
            raise problem
        part = record.get(name)
        varies = not counts or part is None or joins.may_vary(joins.shape_of(part, lo.store))
        if not isinstance(part, Forgotten):
            if lift(lo, value.site):
                raise Restart  # loops have to know it from their beginning
            lo.store[value] = record.with_part(name, FORGOTTEN if varies else FORGOTTEN_CONSTANT)


def _written_in(lo: Lowerer, thing: Any) -> Any:
    """What to say if a container is written, or one in it; None where none is."""
    for each in _containers_in(thing):
        if id(each) in lo.run_data.written.things:
            return lo.run_data.written.things[id(each)][1]
    return None


def _containers_in(thing: Any, depth: int = 0) -> Iterator[Any]:
    if isinstance(thing, (list, dict, set, tuple)) and depth < _DEEPEST:
        yield thing
        for item in _items(thing):
            yield from _containers_in(item, depth + 1)


_DEEPEST = 8  # containers that lie deeper are not looked into by the program either


def values_of(lo: Lowerer, thing: Any) -> Iterator[Value]:
    """What stands in the program for an object or container from outside, or for arrays that share memory."""
    for each, value in lo.run_data.written.entered:
        if isinstance(each, np.ndarray):
            if isinstance(thing, np.ndarray) and np.may_share_memory(each, thing):
                yield value
        elif each is thing or any(thing is part for held in _containers_in(each) for part in (held, *_items(held))):
            yield value


def _items(container: Any) -> Any:
    return container.values() if isinstance(container, dict) else container


def refuse_written(lo: Lowerer, body: ir.Block) -> None:
    """Refuses to read variables, containers and arrays that are written and that the program has looked up."""
    written, run = lo.run_data.written, lo.run_data
    if not written:
        return
    read = _read_in(body, {})

    def is_read(value: Value | None) -> bool:
        return not isinstance(value, ir.Var) or value in read

    for key, (path, _) in run.ways.items():
        found = _of_variable(lo, path) or (_written_in(lo, _now(lo, path)) if is_read(run.captured[key]) else None)
        if found is not None:
            raise found
    for cell, source in run.contents.items():
        if cell in run.outside or cell in run.given:
            bound = written.variables.get((id(source), "cell_contents"))
            held = lo.store.get(cell, run.outside.get(cell))
            found = bound[2] if bound is not None else _written_in(lo, contents_of(source)) if is_read(held) else None
            if found is not None:
                raise found
    for argument in run.arguments.values():
        found = _written_in(lo, argument)
        if found is not None:
            raise found
    _refuse_arrays(lo, read)


def _read_in(block: ir.Block, known: dict[ir.Function, set[ir.Var]]) -> set[ir.Var]:
    """The variables whose values, or what is in them, a block reads; to put something there is not to read it."""
    found: set[ir.Var] = set()
    for statement in statements_in(block):
        match statement:
            case ir.Call(callee=callee) if (function := function_behind(callee)) is not None:
                if function not in known:
                    known[function] = set(function.params)  # if it calls itself
                    known[function] = _read_in(function.body, known)
                pairs = zip(function.params, operands(statement), strict=False)
                found.update(arg for param, arg in pairs if param in known[function] and isinstance(arg, ir.Var))
                found.update(vars_of(operands(statement)[len(function.params) :]))
            case ir.Call(args=(_, *args), targets=()) if effects_of(statement).writes == (0,):
                found.update(vars_of(args))
            case ir.Store(key=key, value=value, mode="set"):
                found.update(vars_of((*key_atoms(key), value)))
            case _:
                found.update(vars_of(operands(statement)))
    for end in terminators_in(block):
        found.update(vars_of(operands(end)))
    return found


def _of_variable(lo: Lowerer, path: tuple[Any, ...]) -> Any:
    match path:
        case ("global" | "attribute" | "static" | "has", owner, str(name)):
            owner = vars(owner) if isinstance(owner, ModuleType) else owner
            for (home, written), (writer, _, problem) in lo.run_data.written.variables.items():
                is_inherited = isinstance(writer, type) and isinstance(owner, type) and issubclass(writer, owner)
                if written == name and (home == id(owner) or is_inherited):
                    return problem
    return None


def _now(lo: Lowerer, path: tuple[Any, ...]) -> Any:
    try:
        return reader(path)(lo.run_data.root)
    except (AttributeError, KeyError, ValueError, IndexError, TypeError):
        return None


def _refuse_arrays(lo: Lowerer, read: set[ir.Var]) -> None:
    written = [pair for pair in lo.run_data.written.things.values() if isinstance(pair[0], np.ndarray)]
    for thing, value in lo.run_data.written.entered if written else ():
        if not isinstance(thing, np.ndarray) or value not in read:
            continue
        for array, problem in written:
            if np.may_share_memory(array, thing):
                raise problem
