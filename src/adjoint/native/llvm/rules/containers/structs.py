"""Objects of users' classes as structures: blocks with a word for each part of a field.

As in lists, the first three words are a length, the room there is, and the address of items: nothing, here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from adjoint.native.llvm.rules.containers.lists import reference_places
from adjoint.native.llvm.rules.numbers import negation, scalar
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import (
    Kind,
    Known,
    Number,
    Struct,
    StructKind,
    Tuple,
    Unsupported,
    Value,
    parts,
    references,
    types_of_parts,
)
from adjoint.native.llvm.writer import Module, constant, truth
from adjoint.native.llvm.writing.emission import NONE_YET, Emission
from adjoint.native.llvm.writing.layouts import Layout, words
from adjoint.runtime import objects
from adjoint.types.vectors import TangentVector

_FIELDS = 24
"""Where fields begin."""


def new(e: Emission, cls: type, values: Mapping[str, Value]) -> Struct:
    """An object with these fields."""
    writer, layouts = e.writer, e.program.layouts
    layout = layouts.of_new(cls, values, e.types_of_fields())
    given = {name: _as_field(e, values[name], found) for name, found in layout.items() if not isinstance(found, Known)}
    block = writer.op(f"call noalias ptr @new_struct(ptr %call, i64 {_FIELDS + 8 * layouts.size(cls)})")
    e.check(writer.op(f"icmp eq ptr {block}, null"), MemoryError, "no memory for an object")
    writer.line(f"store ptr @{_declare_destructor(writer.module, layout)}, ptr {writer.place(block, '-56')}")
    made = Struct(StructKind(cls), block, e.owning(block))
    for name, value in given.items():
        e.retain_all(value)
        writer.put_parts(_place(e, made, name), parts(value))
    return made


def _as_field(e: Emission, value: Value, found: Kind) -> Value:
    """A value as one of the kind of a field: in shadows None is zero."""
    is_zero = isinstance(value, Known) and value.value is None and isinstance(found, str)
    return e.converted(constant(0.0) if is_zero else value, found)


@rule(objects.make_object)
def _made(e: Emission, cls: Value, names: Value, *values: Value) -> Struct:
    fields = [name.value for name in names.items if isinstance(name, Known)] if isinstance(names, Tuple) else []
    if not isinstance(cls, Known) or len(fields) != len(values):
        raise Unsupported("an object of a class that is known at run time")
    return new(e, cls.value, dict(zip(fields, values, strict=True)))


def is_of_fields(callee: Any) -> bool:
    """Whether a call makes an object of a class of Adjoint's whose fields are its arguments, by name."""
    if not isinstance(callee, type):
        return False
    return issubclass(callee, objects.Checkpoints) or (
        issubclass(callee, TangentVector) and callee.__init__ is TangentVector.__init__
    )


def made_of(cls: type) -> Callable[..., Struct]:
    """The rule for such a call."""

    def write(e: Emission, **fields: Value) -> Struct:
        return new(e, cls, fields)

    return write


def load(e: Emission, x: Struct, name: str) -> Value:
    """A field; what it refers to is retained: the object may lose it meanwhile."""
    found = _kind(e, x, name)
    _require(e, x, name)
    if isinstance(found, Known):
        return found
    value = _read(e, x, name, found, e.owning)
    e.retain_all(value)
    return value


def store(e: Emission, x: Struct, name: str, value: Value, mode: str) -> None:
    """Puts a value into a field."""
    _require(e, x, name)
    if mode != "set":
        old = load(e, x, name)
        value = RULES[operator.add if mode == "add" else operator.sub](e, scalar(old), scalar(value))
    found = e.program.layouts.put(x.kind.cls, name, value)
    if isinstance(found, Known):
        return
    given = _as_field(e, value, found)
    e.retain_all(given)
    for base, _ in references(_read(e, x, name, found, None)):
        e.release(base)
    e.writer.put_parts(_place(e, x, name), parts(given))


def _kind(e: Emission, x: Struct, name: str) -> Kind | Known:
    layout = e.program.layouts.of(x.kind.cls)
    if name not in layout:
        raise Unsupported(f"the attribute {name!r}")
    return layout[name]


def _place(e: Emission, x: Struct, name: str) -> str:
    return e.writer.place(x.base, str(_FIELDS + 8 * e.program.layouts.place(x.kind.cls, name)))


def _read(e: Emission, x: Struct, name: str, found: Kind, own: Any) -> Value:
    return e.assembled(found, e.writer.parts_at(_place(e, x, name), types_of_parts(found)), own)


def _require(e: Emission, x: Struct, name: str) -> None:
    """Raises where there is None instead of an object."""
    if x.kind.optional:
        message = f"'NoneType' object has no attribute {name!r}"
        e.check(_is_nothing(e, x).name, AttributeError, message)


def _is_nothing(e: Emission, x: Struct) -> Number:
    return truth(e.writer.op(f"icmp eq ptr {x.base}, {NONE_YET['ptr']}"))


_DESTROY = """define internal void @{name}(ptr %object) {{
{releases}
  ret void
}}"""


def _declare_destructor(module: Module, layout: Layout) -> str:
    """The function that gives up what the fields of an object refer to."""
    places, first = [], 0
    for found in layout.values():
        if not isinstance(found, Known):
            places += reference_places(found, first)
        first += words(found)
    name = f"destroy_struct_{'_'.join(map(str, places))}"
    lines = []
    for at in places:
        lines += [
            f"  %p{at} = getelementptr i8, ptr %object, i64 {_FIELDS + 8 * at}",
            f"  %b{at} = load ptr, ptr %p{at}",
            f"  call void @release(ptr %b{at})",
        ]
    module.functions[name] = _DESTROY.format(name=name, releases="\n".join(lines))
    return name


# Identity and truth

_usual_identity = RULES[operator.is_]


@rule(operator.is_)
def _is(e: Emission, a: Value, b: Value) -> Number:
    match a, b:
        case Struct(), Struct():
            return truth(e.writer.op(f"icmp eq ptr {a.base}, {b.base}"))
        case (Struct() as x, Known(value=None)) | (Known(value=None), Struct() as x):
            return _is_nothing(e, x) if x.kind.optional else constant(False)
    return _usual_identity(e, a, b)  # type: ignore[no-any-return]


@rule(operator.is_not)
def _is_not(e: Emission, a: Value, b: Value) -> Number:
    return negation(e, _is(e, a, b))


_usual_truth = RULES["truth"]


@rule("truth")
def _is_true(e: Emission, value: Value) -> Number:
    if not isinstance(value, Struct):
        return _usual_truth(e, value)  # type: ignore[no-any-return]
    if any(hasattr(value.kind.cls, name) for name in ("__bool__", "__len__")):
        raise Unsupported("an object whose class says whether it is true")
    return negation(e, _is_nothing(e, value)) if value.kind.optional else constant(True)
