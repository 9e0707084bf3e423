"""A notice, once for each function: what it writes to arguments it is differentiated for, its derivative writes."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from adjoint import ir
from adjoint.analysis.effects import written_places
from adjoint.diagnostics import Span, diagnostic
from adjoint.diagnostics.errors import warn
from adjoint.ir.walk import statements_in

if TYPE_CHECKING:
    from adjoint.dispatch.specialize import Specialization

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
