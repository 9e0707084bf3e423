"""Generators as statements of random programs: both the body and the loop over it change what the other sees."""

from __future__ import annotations

from fuzz.expressions import condition, index
from fuzz.statements import MOST_DEPTH, MOST_LOOPS, leave, loop_else, tame
from fuzz.writer import FLOAT, Type, Writer, production


@production("statement", 2.5)
def yield_value(w: Writer) -> str | None:
    if not w.scope.yields:
        return None
    w.line(f"yield {tame(w, w.float(2))}")
    return "done"


def _write(w: Writer, arrays: list[str]) -> None:
    """Maybe a store into an array that others see."""
    if arrays and w.chance(0.4):
        name = w.pick(arrays)
        w.line(f"{name}[{index(w, w.type_of(name)[1])}] = {tame(w, w.float(1))}")


def _body(w: Writer, arrays: list[str]) -> None:
    w.line(f"yield {tame(w, w.float(1))}")
    _write(w, arrays)
    w.body(3)
    if w.chance(0.5):
        w.line(f"yield {tame(w, w.float(1))}")


def _protected(w: Writer, arrays: list[str]) -> None:
    """A body with something that happens however it is left."""
    kept = w.names("array")
    w.line("try:")
    with w.block():
        _body(w, arrays)
    w.line("finally:")
    with w.block(can_leave=False, yields=False):
        if arrays:
            name = w.pick(arrays)
            w.line(f"{name}[{index(w, w.type_of(name)[1])}] += {tame(w, w.float(0))}")
        else:
            w.line(f"{w.fresh('v')} = {len(kept)}.0")


def _define(w: Writer, arrays: list[str]) -> str:
    """A generator function, and a call of it."""
    name = w.fresh("g")
    params = {w.fresh("x"): FLOAT for _ in range(w.random.randint(0, 2))}
    outer = w.scope
    rebound = tuple(w.names("float", assignable=True)) if w.chance(0.4) else ()
    given = ", ".join(w.float(1) for _ in params)
    w.line(f"def {name}({', '.join(params)}):")
    fixed = frozenset(outer.names) - set(rebound)
    changes = {"can_leave": False, "result": FLOAT, "fixed": fixed, "outer": rebound or ("",), "yields": True}
    with w.block(loops=max(outer.loops, 1), **changes):
        if rebound:
            w.line(f"nonlocal {', '.join(rebound)}")
        w.scope.names.update(params)
        form = w.random.random()
        if form < 0.4:
            _body(w, arrays)
        elif form < 0.6:
            _protected(w, arrays)
        else:
            counter = w.fresh("i")
            w.line(f"for {counter} in range({w.random.randint(1, 4)}):")
            with w.block(loops=w.scope.loops + 1, can_leave=True):
                w.define(counter, ("int", None))
                _body(w, arrays)
                leave_by = w.random.random()
                if leave_by < 0.3:
                    w.line(f"if {condition(w)}:")
                    with w.block():
                        leave(w, 1.0)
            if w.chance(0.4):
                w.line(f"yield {tame(w, w.float(1))}")
    return f"{name}({given})"


def _through(w: Writer, call: str) -> tuple[str, dict[str, Type]]:
    """What a loop goes through, and what it binds."""
    item, other, place = w.fresh("v"), w.fresh("v"), w.fresh("i")
    arrays = w.names("array")
    if arrays and w.chance(0.2):
        name = w.pick(arrays)
        return w.pick((f"zip({call}, {name})", f"zip({name}, {call})")), {item: FLOAT, other: FLOAT}
    if w.chance(0.2):
        return f"enumerate({call})", {place: ("int", None), item: FLOAT}
    forms = (f"({item} * 0.5 for {item} in {call})", f"map(math.sin, {call})", f"itertools.islice({call}, 3)")
    return w.pick(forms) if w.chance(0.25) else call, {item: FLOAT}


@production("statement", 1)
def loop_over_a_generator(w: Writer) -> str | None:
    if w.scope.loops >= MOST_LOOPS or w.scope.depth >= 2 or w.scope.outer or w.scope.depth >= MOST_DEPTH:
        return None
    arrays = w.names("array", assignable=True)
    call = _define(w, arrays)
    if w.chance(0.25):
        made = w.pick(("sum", "max"))
        name = w.fresh("v")
        w.line(f"{name} = {made}({call})")
        w.define(name, FLOAT)
        return name
    text, names = _through(w, call)
    if w.chance(0.2):
        stream = w.fresh("s")
        w.line(f"{stream} = {text}")
        _write(w, arrays)
        text = stream
    w.line(f"for {', '.join(names)} in {text}:")
    with w.block(loops=w.scope.loops + 1, can_leave=True):
        w.scope.names.update(names)
        _write(w, arrays)
        w.body(2)
        if w.chance(0.4):
            w.line(f"if {condition(w)}:")
            with w.block():
                leave(w, 1.0)
    loop_else(w)
    return call
