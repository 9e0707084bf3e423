"""Runs IR directly, as the nodes' descriptions say: what every transform and back end is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.ir.nodes import (
    Atom,
    Attribute,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Definition,
    Exit,
    Function,
    Guarded,
    If,
    Items,
    Load,
    Loop,
    Raise,
    Range,
    Return,
    Slice,
    Statement,
    Store,
    Undefined,
    Var,
    Yield,
)

NOTHING = object()  # what an undefined value is; reading it is an error


def call_function(function: Function, *args: Any) -> Any:
    """The result of a function: alone, or a tuple."""
    env: dict[Var, Any] = dict(zip(function.params, args, strict=True))
    leaf, values = _block(function.body, env)
    assert isinstance(leaf, Return)
    return values[0] if len(values) == 1 else values


def _read(atom: Atom, env: dict[Var, Any]) -> Any:
    value = _hand(atom, env)
    assert value is not NOTHING, f"{atom!r} is read but undefined"
    return value


def _hand(atom: Atom, env: dict[Var, Any]) -> Any:
    match atom:
        case Var():
            return env[atom]
        case Const(value=value):
            return value
        case Undefined():
            return NOTHING


def _index(key: Any, env: dict[Var, Any]) -> Any:
    def part(item: Any) -> Any:
        if isinstance(item, Slice):
            return slice(_read(item.lower, env), _read(item.upper, env), _read(item.step, env))
        return _read(item, env)

    items = tuple(map(part, key.items))
    return items if key.tupled else items[0]


def _block(block: Block, env: dict[Var, Any]) -> tuple[Any, tuple[Any, ...]]:
    """Runs a block; gives the leaf in which it ended and the values that this hands out."""
    while True:
        for statement in block.statements:
            _statement(statement, env)
        match block.terminator:
            case Branch(cond, then, orelse):
                block = then if _read(cond, env) else orelse
            case Raise(exception, cause):
                if exception is None:
                    raise
                raise _read(exception, env) from (None if cause is None else _read(cause, env))
            case Return(values) as leaf:
                return leaf, tuple(_read(value, env) for value in values)
            case leaf:
                return leaf, tuple(_hand(value, env) for value in leaf.values)


def _statement(statement: Statement, env: dict[Var, Any]) -> None:
    match statement:
        case Call(targets, callee, args, kwargs):
            passed = [_read(arg, env) for arg in args]
            named = {name: _read(value, env) for name, value in kwargs}
            if isinstance(callee, Definition):
                callee = callee.function
            result = call_function(callee, *passed) if isinstance(callee, Function) else callee(*passed, **named)
            if len(targets) == 1:
                env[targets[0]] = result
            elif targets:
                env.update(zip(targets, result, strict=True))
        case Load(target, base, Attribute(name)):
            env[target] = getattr(_read(base, env), name)
        case Load(target, base, key):
            env[target] = _read(base, env)[_index(key, env)]
        case Store():
            _store(statement, env)
        case If(cond, then, orelse, targets):
            leaf, values = _block(then if _read(cond, env) else orelse, env)
            assert isinstance(leaf, Yield)
            env.update(zip(targets, values, strict=True))
        case Loop():
            _loop(statement, env)
        case Guarded():
            _guarded(statement, env)


def _store(store: Store, env: dict[Var, Any]) -> None:
    base, value = _read(store.base, env), _read(store.value, env)
    if isinstance(store.key, Attribute):
        name = store.key.name
        old = getattr(base, name) if store.mode != "set" else None
        setattr(
            base, name, {"set": lambda: value, "add": lambda: old + value, "sub": lambda: old - value}[store.mode]()
        )
        return
    index = ... if store.key is None else _index(store.key, env)
    match store.mode:
        case "set":
            base[index] = value
        case "add":
            base[index] += value
        case "sub":
            base[index] -= value
        case "add_at":
            np.add.at(base, index, value)


def _loop(loop: Loop, env: dict[Var, Any]) -> None:
    carried = [_hand(init, env) for init in loop.inits]
    match loop.over:
        case Range(start, stop, step, backward):
            indices: Any = range(_read(start, env), _read(stop, env), _read(step, env))
            indices = reversed(indices) if backward else indices
        case Items(iterable):
            indices = _read(iterable, env)
        case None:
            indices = iter(int, 1)
    for index in indices:
        if loop.index is not None:
            env[loop.index] = index
        env.update(zip(loop.params, carried, strict=True))
        leaf, values = _block(loop.body, env)
        if isinstance(leaf, Exit):
            kind, carried = leaf.kind, list(values)
            break
        assert isinstance(leaf, Continue)
        carried = list(values)
    else:
        kind = 0
        carried += [NOTHING] * (len(loop.targets) - len(carried))
    env.update(zip(loop.targets, carried, strict=True))
    if loop.exit is not None:
        env[loop.exit] = kind


def _guarded(guarded: Guarded, env: dict[Var, Any]) -> None:
    def run() -> tuple[Any, tuple[Any, ...]]:
        if guarded.context is not None:
            with _read(guarded.context, env) as value:
                if guarded.name is not None:
                    env[guarded.name] = value
                return _block(guarded.body, env)
        try:
            return _block(guarded.body, env)
        except BaseException as error:
            for handler in guarded.handlers:
                if handler.exception is None or isinstance(error, _read(handler.exception, env)):
                    if handler.name is not None:
                        env[handler.name] = error
                    return _block(handler.body, env)
            raise

    try:
        _, values = run()
    finally:
        if guarded.final is not None:
            _block(guarded.final, env)
    env.update(zip(guarded.targets, values, strict=True))
