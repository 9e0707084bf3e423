"""A notice, once for each function: what it writes to arguments it is differentiated for, its derivative writes."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from adjoint import ir
from adjoint.analysis.effects import effects_of, written_args, written_places
from adjoint.diagnostics import Span, diagnostic
from adjoint.diagnostics.errors import warn
from adjoint.dispatch.argument_aliasing import ANY, Way
from adjoint.ir.walk import statements_in
from adjoint.runtime.objects import put_item

if TYPE_CHECKING:
    from adjoint.dispatch.specialize import Specialization


ARRAYS, CONTAINERS = (ir.Array,), (ir.List, ir.Dict)


def ways_to_written(
    function: ir.Function, places: Sequence[int], kinds: tuple[type[ir.Type], ...]
) -> dict[int, frozenset[Way]]:
    """The ways from parameters to what a function may write of some kinds; ``(ANY,)`` where that is not known."""
    params = {function.params[place]: place for place in places}
    made: dict[ir.Var, ir.Statement] = {}
    called: set[ir.Var] = set()
    written = {
        param
        for param in params
        if isinstance(param.type, kinds) and param.type.storage.written  # type: ignore[attr-defined]
    }
    for statement in statements_in(function.body):
        if (
            isinstance(statement, ir.Store)
            and isinstance(statement.base, ir.Var)
            and isinstance(statement.base.type, kinds)
        ):
            written.add(statement.base)
        elif isinstance(statement, ir.Load):
            made[statement.target] = statement
            if isinstance(statement.target.type, kinds) and statement.target.type.storage.written:  # type: ignore[attr-defined]
                written.add(statement.target)
        elif isinstance(statement, ir.Call):
            made.update(dict.fromkeys(statement.targets, statement))
            if isinstance(statement.callee, (ir.Definition, ir.Derived)):
                called.update(arg for arg in written_args(statement) if isinstance(arg, ir.Var))
            if statement.callee is put_item and isinstance(statement.args[0], ir.Var) and kinds is CONTAINERS:
                written.add(statement.args[0])
    found: dict[int, set[Way]] = {place: set() for place in places}
    for var in called:  # what a function writes of its arguments may be anything in them
        root, _ = _traced(var, made)
        for place in [params[root]] if isinstance(root, ir.Var) and root in params else places if root is None else ():
            found[place].add((ANY,))
    for var in written:
        root, way = _traced(var, made)
        if isinstance(root, ir.Var) and root in params:
            found[params[root]].add(way)
        elif root is None:
            for ways in found.values():
                ways.add((ANY,))
    return {place: frozenset(ways) for place, ways in found.items()}


def _traced(var: ir.Var, made: dict[ir.Var, ir.Statement]) -> tuple[ir.Atom | None, Way]:
    """What an array was read from at last, and by which steps; None where that cannot be told."""
    steps: list[Any] = []
    current: ir.Atom = var
    while isinstance(current, ir.Var) and current in made:
        statement = made[current]
        if isinstance(statement, ir.Load):
            if not (isinstance(statement.base, ir.Var) and isinstance(statement.base.type, ir.Array)):
                steps.append(_step(statement.key))
            current = statement.base
            continue
        assert isinstance(statement, ir.Call)
        found = effects_of(statement)
        if found.known and found.view_of is not None:
            current = statement.args[found.view_of]
        else:
            return (current if found.known and (found.fresh or not found.hands_on) else None), ()
    return (current if isinstance(current, ir.Var) else None), tuple(reversed(steps))


def _step(key: ir.Key) -> Any:
    match key:
        case ir.Attribute(name=name):
            return name
        case ir.Subscript(items=(ir.Const(value=value),)):
            return value
        case _:
            return ANY


_told: WeakSet[CodeType] = WeakSet()


def tell(found: Specialization, key: Any, function: Any, args: Sequence[Any]) -> None:
    """Warns of the first argument that varies and is written in place: the caller sees that, as of the function."""
    code = getattr(function, "__code__", None)
    varying = _varying(key, len(args), found.names)
    if code is None or code in _told or not varying:
        return
    for place in sorted(set(found.written).intersection(written_places(found.function))):
        param = found.function.params[place]
        if place in varying and isinstance(param.type, (ir.Array, ir.List, ir.Dict)):
            _told.add(code)
            label = f"{param.hint!r} is changed here, by the function and by its derivative"
            ways = f"work on a copy: {param.hint} = {param.hint}.copy()", _MEANT
            warn(diagnostic("AD0505", _first_write(found, param), label, helps=ways, name=param.hint))
            return


_MEANT = "if that is meant: warnings.filterwarnings('ignore', '.*AD0505')"


def _varying(key: Any, count: int, names: Sequence[str]) -> set[int]:
    """The positions of the arguments that a derivative is taken for; none where nothing is derived."""
    kind = key[0]
    if kind in ("vjp", "jvp", "hvp"):
        return set(range(count if kind == "vjp" else count // 2))
    options = dict(key[1]) if kind in ("grad", "value_and_grad") and isinstance(key[1], tuple) else {}
    wrt = options.get("wrt", ())
    chosen = wrt if isinstance(wrt, tuple) else (wrt,)
    found = {names.index(one) for one in chosen if isinstance(one, str) and one in names}
    return found | {one % count for one in chosen if isinstance(one, int) and -count <= one < count}


def _first_write(found: Specialization, param: ir.Var) -> Span | None:
    assert isinstance(param.type, (ir.Array, ir.List, ir.Dict))
    for statement in statements_in(found.function.body):
        if isinstance(statement, ir.Store) and statement.span is not None:
            type_ = statement.base.type if isinstance(statement.base, ir.Var) else None
            if isinstance(type_, (ir.Array, ir.List, ir.Dict)) and type_.storage is param.type.storage:
                return statement.span
    return None
