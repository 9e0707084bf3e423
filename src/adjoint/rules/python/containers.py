"""Types of the calls that make containers or ask things of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from adjoint import ir
from adjoint.rules.joined_types import join, join_all
from adjoint.runtime import display
from adjoint.runtime.copies import snapshot

_NONE = ir.Opaque(type(None))
Handler = Callable[..., ir.Type]


def handler_for(callee: Any) -> Handler | None:
    """What tells the type of a call from the types of its arguments; None for anything but containers."""
    return _handlers().get(id(callee))


@cache
def _handlers() -> dict[int, Handler]:
    handlers: dict[Any, Handler] = {
        display.make_list: _make_list,
        display.make_tuple: lambda *items: ir.Tuple(items),
        display.make_dict: _make_dict,
        display.keys_of: lambda table: ir.List(ir.OPAQUE),
        display.last_key: lambda table: ir.OPAQUE,
        display.make_set: lambda *items: ir.Opaque(set),
        set: lambda *items: ir.Opaque(set),
        frozenset: lambda *items: ir.Opaque(frozenset),
        display.make_slice: lambda *parts: ir.Opaque(slice),
        display.format_value: lambda *parts: ir.Opaque(str),
        display.join_string: lambda *parts: ir.Opaque(str),
        list.pop: lambda base, *rest: _element(base),
        list.copy: lambda base: ir.List(base.element) if isinstance(base, ir.List) else ir.OPAQUE,
        list.index: lambda *rest: ir.INT,
        list.count: lambda *rest: ir.INT,
        list.__contains__: lambda *rest: ir.BOOL,
        dict.get: _get,
        dict.pop: _get,
        dict.setdefault: _get,
        snapshot: ir.fresh,
        dict.copy: lambda base: ir.Dict(base.value) if isinstance(base, ir.Dict) else ir.OPAQUE,
    }
    effects: list[Any] = [list.append, list.extend, list.insert, list.clear, list.reverse, list.sort, list.remove]
    effects += [dict.clear, dict.update]
    for effect in effects:
        handlers[effect] = _nothing
    return {id(callee): handler for callee, handler in handlers.items()}


def _nothing(*arguments: ir.Type) -> ir.Type:
    return _NONE


def _make_list(*items: ir.Type) -> ir.Type:
    return ir.List(join_all(items))


def _make_dict(*items: ir.Type) -> ir.Type:
    """``make_dict(key, value, key, value, ...)``"""
    return ir.Dict(join_all(items[1::2]))


def _element(base: ir.Type) -> ir.Type:
    return base.element if isinstance(base, ir.List) and base.element is not None else ir.OPAQUE


def _get(base: ir.Type, key: ir.Type, *default: ir.Type) -> ir.Type:
    if not isinstance(base, ir.Dict) or base.value is None:
        return default[0] if default else ir.OPAQUE
    joined = join(base.value, default[0]) if default else base.value
    return ir.OPAQUE if joined is None else joined
