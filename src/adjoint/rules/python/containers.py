"""Types of the calls that make containers or ask things of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from adjoint.ir.types import BOOL, INT, OPAQUE, Dict, List, Opaque, Tuple, Type, fresh
from adjoint.rules.joined_types import join, join_all
from adjoint.runtime import display
from adjoint.runtime.copies import snapshot

_NONE = Opaque(type(None))
Handler = Callable[..., Type]


def handler_for(callee: Any) -> Handler | None:
    """What tells the type of a call from the types of its arguments; None for anything but containers."""
    return _handlers().get(id(callee))


@cache
def _handlers() -> dict[int, Handler]:
    handlers: dict[Any, Handler] = {
        display.make_list: _make_list,
        display.make_tuple: lambda *items: Tuple(items),
        display.make_dict: _make_dict,
        display.keys_of: lambda table: List(OPAQUE),
        display.make_set: lambda *items: Opaque(set),
        display.make_slice: lambda *parts: Opaque(slice),
        display.format_value: lambda *parts: Opaque(str),
        display.join_string: lambda *parts: Opaque(str),
        list.pop: lambda base, *rest: _element(base),
        list.copy: lambda base: List(base.element) if isinstance(base, List) else OPAQUE,
        list.index: lambda *rest: INT,
        list.count: lambda *rest: INT,
        list.__contains__: lambda *rest: BOOL,
        dict.get: _get,
        dict.pop: _get,
        dict.setdefault: _get,
        snapshot: fresh,
        dict.copy: lambda base: Dict(base.value) if isinstance(base, Dict) else OPAQUE,
    }
    effects: list[Any] = [list.append, list.extend, list.insert, list.clear, list.reverse, list.sort, list.remove]
    effects += [dict.clear, dict.update]
    for effect in effects:
        handlers[effect] = _nothing
    return {id(callee): handler for callee, handler in handlers.items()}


def _nothing(*arguments: Type) -> Type:
    return _NONE


def _make_list(*items: Type) -> Type:
    return List(join_all(items))


def _make_dict(*items: Type) -> Type:
    """``make_dict(key, value, key, value, ...)``"""
    return Dict(join_all(items[1::2]))


def _element(base: Type) -> Type:
    return base.element if isinstance(base, List) and base.element is not None else OPAQUE


def _get(base: Type, key: Type, *default: Type) -> Type:
    if not isinstance(base, Dict) or base.value is None:
        return default[0] if default else OPAQUE
    joined = join(base.value, default[0]) if default else base.value
    return OPAQUE if joined is None else joined
