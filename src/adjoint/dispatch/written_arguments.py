"""A notice, once for each function: what it writes to arguments it is differentiated for, its derivative writes."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from adjoint import ir
from adjoint.analysis.effects import written_args, written_places
from adjoint.diagnostics import Span, diagnostic
from adjoint.diagnostics.errors import warn
from adjoint.dispatch.aliasing.parameter_paths import Origins
from adjoint.dispatch.aliasing.parts import ANY, Way
from adjoint.ir.walk import statements_in
from adjoint.runtime.objects import put_attribute, put_item

if TYPE_CHECKING:
    from adjoint.dispatch.specialize import Specialization


KINDS = ARRAYS, CONTAINERS, OBJECTS = (ir.Array,), (ir.List, ir.Dict), (ir.Instance,)
_PUTS: dict[Any, tuple[type[ir.Type], ...]] = {put_item: CONTAINERS, put_attribute: OBJECTS}


def ways_to_written(
    function: ir.Function, places: Sequence[int], kinds: tuple[type[ir.Type], ...]
) -> dict[int, frozenset[Way]]:
    """The ways from parameters to what a function may write of some kinds; ``(ANY,)`` where that is not known."""
    params = {function.params[place]: place for place in places}
    written = {param for param in params if _is_written(param.type, kinds)}
    called: set[ir.Var] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Store):
            if isinstance(statement.base, ir.Var) and isinstance(statement.base.type, kinds):
                written.add(statement.base)
        elif isinstance(statement, ir.Load):
            if _is_written(statement.target.type, kinds):
                written.add(statement.target)
        elif isinstance(statement, ir.Call):
            if isinstance(statement.callee, (ir.Definition, ir.Derived)):
                called.update(arg for arg in written_args(statement) if isinstance(arg, ir.Var))
            elif statement.callee in _PUTS and _PUTS[statement.callee] is kinds:
                written.update(arg for arg in statement.args[:1] if isinstance(arg, ir.Var))
    origins = Origins(function)
    found: dict[int, set[Way]] = {place: set() for place in places}
    for var in (*written, *called):
        for root, way in origins.of(var):
            for place in places if root is None else [params[root]] if root in params else ():
                found[place].add(way if var in written else (ANY,))  # what is called may write anything there
    return {place: frozenset(ways) for place, ways in found.items()}


def _is_written(type_: ir.Type, kinds: tuple[type[ir.Type], ...]) -> bool:
    return isinstance(type_, kinds) and type_.storage.written  # type: ignore[attr-defined]


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
