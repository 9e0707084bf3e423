"""What lists and dicts of Python are asked most, by Python's C functions: no function of Python runs for it."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.native.llvm.objects import nothing, number_object
from adjoint.native.llvm.rules.of_python.objects import Lock, Result, answered, sharing
from adjoint.native.llvm.values import Object, Value
from adjoint.native.llvm.writer import Writer, constant
from adjoint.native.llvm.writing.emission import Emission

_WITH_ITEM = {"add": "PyNumber_InPlaceAdd", "sub": "PyNumber_InPlaceSubtract"}


def by_function(
    e: Emission, statement: ir.Call | ir.Load | ir.Store, taken: Mapping[ir.Var, Value], results: Sequence[Result]
) -> list[Value] | None:
    """What a statement gives that a C function does; None where none does."""
    atoms = _asked(statement)
    if atoms is None or not isinstance(type_of_atom(atoms[0]), (ir.List, ir.Dict, ir.Tuple, ir.Pack)):
        return None
    first, *others = atoms
    if not isinstance(e.value(first), Object) or not all(atom in taken or _is_number(atom) for atom in others):
        return None
    lock = Lock.taken(e)
    objects = [
        sharing(e, taken[atom], atom.type) if isinstance(atom, ir.Var) else _number(e.writer, atom) for atom in atoms
    ]
    return answered(e, _given(e.writer, statement, objects), objects, lock, list(results))


def _asked(statement: ir.Call | ir.Load | ir.Store) -> tuple[ir.Atom, ...] | None:
    """What a statement is about: a container, then a key, or an item, or both."""
    match statement:
        case ir.Load(base=base, key=ir.Subscript(items=(ir.Var() | ir.Const() as key,), tupled=False)):
            return base, key
        case ir.Store(
            base=base, key=ir.Subscript(items=(ir.Var() | ir.Const() as key,), tupled=False), value=value
        ) if statement.mode != "add_at":
            return base, key, value
        case ir.Call(callee=operator.contains | list.append, args=(base, item), kwargs=()):
            return base, item
        case ir.Call(callee=callee, args=(base,), kwargs=()) if callee is len:
            return (base,)
    return None


def _is_number(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) and (
        type(atom.value) in (bool, float) or (type(atom.value) is int and -(2**63) <= atom.value < 2**63)
    )


def _number(writer: Writer, atom: ir.Atom) -> str:
    assert isinstance(atom, ir.Const)
    return number_object(writer, constant(atom.value))


def _given(writer: Writer, statement: ir.Call | ir.Load | ir.Store, objects: Sequence[str]) -> str:
    """A new reference to what a function gives; null where it has raised an exception."""
    args = [("ptr", each) for each in objects]
    match statement:
        case ir.Load():
            return writer.call("PyObject_GetItem", "ptr", args)
        case ir.Store(mode="set"):
            return _done(writer, writer.call("PyObject_SetItem", "i32", args))
        case ir.Store(mode=mode):
            return _changed(writer, _WITH_ITEM[mode], args)
        case ir.Call(callee=list.append):
            return _done(writer, writer.call("PyList_Append", "i32", args))
        case ir.Call(callee=operator.contains):
            found = writer.call("PySequence_Contains", "i32", args)
            word = writer.op(f"sext i32 {found} to i64")
            truth = writer.call("PyBool_FromLong", "ptr", [("i64", word)])
            return writer.select(writer.op(f"icmp slt i32 {found}, 0"), "ptr", "null", truth)
    size = writer.call("PyObject_Size", "i64", args)
    number = writer.call("PyLong_FromLongLong", "ptr", [("i64", size)])
    return writer.select(writer.op(f"icmp slt i64 {size}, 0"), "ptr", "null", number)


def _done(writer: Writer, status: str) -> str:
    """None, where a function has done what it should."""
    return writer.select(writer.op(f"icmp slt i32 {status}, 0"), "ptr", "null", nothing(writer))


def _changed(writer: Writer, function: str, args: Sequence[tuple[str, str]]) -> str:
    """``base[key] += value``, or the like."""
    base, key, value = args
    end, ways = writer.new_label("changed"), []
    held = writer.call("PyObject_GetItem", "ptr", [base, key])
    ways.append(("null", writer.label))
    found = writer.new_label("found")
    writer.branch(writer.op(f"icmp eq ptr {held}, null"), end, found)
    writer.start(found)
    made = writer.call(function, "ptr", [("ptr", held), value])
    writer.call("Py_DecRef", "void", [("ptr", held)])
    ways.append(("null", writer.label))
    good = writer.new_label("made")
    writer.branch(writer.op(f"icmp eq ptr {made}, null"), end, good)
    writer.start(good)
    status = writer.call("PyObject_SetItem", "i32", [base, key, ("ptr", made)])
    writer.call("Py_DecRef", "void", [("ptr", made)])
    ways.append((_done(writer, status), writer.label))
    writer.jump(end)
    writer.start(end)
    return writer.phi("ptr", ways)
