"""Lists, tuples, dicts and objects of random programs, and what is taken out of them."""

from __future__ import annotations

from fuzz.expressions import call, comprehension_clause, whole
from fuzz.writer import Type, Writer, production


@production("list", 2)
def list_name(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    return w.pick(known) if known else None


@production("list", 2)
def list_display(w: Writer, type_: Type, depth: int) -> str:
    items = [w.expression(type_[1], max(depth - 1, 0)) for _ in range(w.random.randint(1, 3))]
    return f"[{', '.join(items)}]"


@production("list", 2)
def list_comprehension(w: Writer, type_: Type, depth: int) -> str | None:
    if depth <= 0:
        return None
    names, clause = comprehension_clause(w)
    with w.binding(names):
        return f"[{w.expression(type_[1], depth - 1)} {clause}]"


@production("list", 0.5)
def list_other(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    if not known:
        return None
    one, two = w.pick(known), w.pick(known)
    return str(w.pick((f"{one}[:]", f"list({one})", f"({one}[:3] + {two}[:2])", f"{one}[::-1]", f"{one}.copy()")))


@production("tuple", 1)
def tuple_name(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    return w.pick(known) if known else None


@production("tuple", 2)
def tuple_display(w: Writer, type_: Type, depth: int) -> str:
    items = [w.expression(item, max(depth - 1, 0)) for item in type_[1:]]
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


@production("tuple", 1)
def tuple_call(w: Writer, type_: Type, depth: int) -> str | None:
    return call(w, type_, depth)


@production("dict", 1)
def dict_name(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    return w.pick(known) if known else None


@production("dict", 2)
def dict_display(w: Writer, type_: Type, depth: int) -> str:
    return "{" + ", ".join(f"{key!r}: {w.float(max(depth - 1, 0))}" for key in type_[1:]) + "}"


@production("object", 2)
def object_name(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    return w.pick(known) if known else None


@production("object", 2)
def object_built(w: Writer, type_: Type, depth: int) -> str:
    items = [w.expression(item, max(depth - 1, 0)) for _, item in w.record(type_[1]).fields]
    return f"{type_[1]}({', '.join(items)})"


@production("object", 1)
def object_replaced(w: Writer, type_: Type, depth: int) -> str | None:
    known = w.of_type(type_)
    if not known:
        return None
    field, part = w.pick(w.record(type_[1]).fields)
    return f"replace({w.pick(known)}, {field}={w.expression(part, max(depth - 1, 0))})"


def from_list(w: Writer, type_: Type) -> str | None:
    known = w.of_type(("list", type_))
    if not known:
        return None
    chosen = w.pick(known)
    return f"{chosen}[{w.pick(('0', '-1', f'{whole(w)} % len({chosen})'))}]"


@production("array", 1.5)
def array_from_list(w: Writer, type_: Type, depth: int) -> str | None:
    return from_list(w, type_)


@production("object", 1.5)
def object_from_list(w: Writer, type_: Type, depth: int) -> str | None:
    return from_list(w, type_)


@production("tuple", 1.5)
def tuple_from_list(w: Writer, type_: Type, depth: int) -> str | None:
    return from_list(w, type_)


@production("array", 1)
def array_attribute(w: Writer, type_: Type, depth: int) -> str | None:
    known = [
        f"{name}.{field}"
        for name in w.names("object")
        for field, part in w.record(w.type_of(name)[1]).fields
        if part == type_
    ]
    return w.pick(known) if known else None


@production("object", 1)
def object_attribute(w: Writer, type_: Type, depth: int) -> str | None:
    known = [
        f"{name}.{field}"
        for name in w.names("object")
        for field, part in w.record(w.type_of(name)[1]).fields
        if part == type_
    ]
    return w.pick(known) if known else None
