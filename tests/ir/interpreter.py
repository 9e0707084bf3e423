"""Runs IR directly, as the nodes' descriptions say: what transforms and back ends are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.runtime.display import make_list, make_tuple

UNREAD = object()
"""What an undefined value is; reading it is an error."""


class Env(dict[ir.Var, Any]):
    """The values of the variables of a running function; those of functions that it calls are of the same class.

    Who watches a run derives from it: reads and writes of variables are those of a dictionary.
    """

    def begin(self, function: ir.Function) -> None:
        """Takes note of the function whose variables these are."""

    def callee(self, callee: Any) -> Any:
        """What is called for a callee."""
        return callee

    def iterations(self, indices: Iterable[Any]) -> Iterable[Any]:
        """What a loop runs over."""
        return indices


class TooLong(Exception):
    """A program that goes on and on."""


class Limited(Env):
    """The variables of a function whose loops make so many steps together, and no more."""

    steps = 10_000

    def iterations(self, indices: Iterable[Any]) -> Iterator[Any]:
        for index in indices:
            self.steps -= 1
            if self.steps < 0:
                raise TooLong
            yield index


def run(function: ir.Function, *args: Any, env: Env | None = None) -> Any:
    """The results of a function: one as it is, several as a tuple."""
    assert len(args) == len(function.params), (len(args), len(function.params))
    env = Env() if env is None else env
    env.begin(function)
    env.update(zip(function.params, args, strict=True))
    end = _block(function.body, env)
    assert isinstance(end[0], ir.Return)
    return end[1][0] if len(end[1]) == 1 else tuple(end[1])


def _value(atom: ir.Atom, env: Env) -> Any:
    if isinstance(atom, ir.Const):
        return partial(run, atom.value) if isinstance(atom.value, ir.Function) else atom.value
    if isinstance(atom, ir.Undefined):
        return UNREAD
    value = env[atom]
    assert value is not UNREAD, f"{atom} is read on a path on which it is undefined"
    return value


def _handed(atom: ir.Atom, env: Env) -> Any:
    return env[atom] if isinstance(atom, ir.Var) else _value(atom, env)


def _key(key: ir.Key, env: Env) -> Any:
    assert isinstance(key, ir.Subscript)
    items = [
        slice(*(_value(part, env) for part in (item.lower, item.upper, item.step)))
        if isinstance(item, ir.Slice)
        else _value(item, env)
        for item in key.items
    ]
    return tuple(items) if key.tupled or len(items) != 1 else items[0]


def _block(block: ir.Block, env: Env) -> tuple[ir.Terminator, list[Any]]:
    for statement in block.statements:
        _statement(statement, env)
    match block.terminator:
        case ir.Branch(cond=cond, then=then, orelse=orelse):
            return _block(then if _value(cond, env) else orelse, env)
        case ir.Raise(exception=exception, cause=cause):
            if exception is None:
                raise  # what is handled
            if cause is None:
                raise _value(exception, env)
            raise _value(exception, env) from _value(cause, env)
        case terminator:
            return terminator, [_handed(value, env) for value in terminator.values]


def _statement(statement: ir.Statement, env: Env) -> None:
    match statement:
        case ir.Call():
            _call(statement, env)
        case ir.Load(target=target, base=base, key=ir.Attribute(name=name)):
            env[target] = getattr(_value(base, env), name)
        case ir.Load(target=target, base=base, key=key):
            env[target] = _value(base, env)[_key(key, env)]
        case ir.Store():
            _store(statement, env)
        case ir.If(cond=cond, then=then, orelse=orelse, targets=targets):
            end, values = _block(then if _value(cond, env) else orelse, env)
            assert isinstance(end, ir.Yield)
            env.update(zip(targets, values, strict=True))
        case ir.Loop():
            _loop(statement, env)
        case ir.Guarded():
            _guarded(statement, env)


def _call(call: ir.Call, env: Env) -> None:
    read = _handed if call.callee in (make_tuple, make_list) else _value
    args = [read(arg, env) for arg in call.args]
    kwargs = {name: _value(value, env) for name, value in call.kwargs}
    callee = call.callee.function if isinstance(call.callee, ir.Definition) else call.callee
    if isinstance(callee, ir.Function):
        result = run(callee, *args, env=type(env)())
    else:
        result = env.callee(callee)(*args, **kwargs)
    if len(call.targets) == 1:
        env[call.targets[0]] = result
    elif call.targets:
        env.update(zip(call.targets, result, strict=True))


def _store(store: ir.Store, env: Env) -> None:
    base, value = _value(store.base, env), _value(store.value, env)
    if isinstance(store.key, ir.Attribute):
        old = getattr(base, store.key.name, None)
        setattr(base, store.key.name, _combined(store.mode, old, value))
        return
    key: Any = Ellipsis if store.key is None else _key(store.key, env)
    if store.mode == "add_at":
        np.add.at(base, key, value)
    else:
        base[key] = _combined(store.mode, base[key] if store.mode != "set" else None, value)


def _combined(mode: str, old: Any, value: Any) -> Any:
    match mode:
        case "add":
            old += value
        case "sub":
            old -= value
        case _:
            return value
    return old


def _indices(loop: ir.Loop, env: Env) -> Any:
    match loop.over:
        case ir.Range(start=start, stop=stop, step=step, backward=backward):
            space = range(_value(start, env), _value(stop, env), _value(step, env))
            return reversed(space) if backward else space
        case ir.Items(iterable=iterable):
            return _value(iterable, env)
        case None:
            return iter(int, 1)


def _loop(loop: ir.Loop, env: Env) -> None:
    current: Sequence[Any] = [_handed(init, env) for init in loop.inits]
    for index in env.iterations(_indices(loop, env)):
        env.update(zip(loop.params, current, strict=True))
        if loop.index is not None:
            env[loop.index] = index
        end, values = _block(loop.body, env)
        if isinstance(end, ir.Exit):
            env.update(zip(loop.targets, values, strict=True))
            if loop.exit is not None:
                env[loop.exit] = end.kind
            return
        assert isinstance(end, ir.Continue)
        current = values
    rest = [UNREAD] * (len(loop.targets) - len(loop.params))
    env.update(zip(loop.targets, [*current, *rest], strict=True))
    if loop.exit is not None:
        env[loop.exit] = 0


def _guarded(guarded: ir.Guarded, env: Env) -> None:
    def attempt() -> list[Any]:
        try:
            return _block(guarded.body, env)[1]
        except BaseException as error:
            for handler in guarded.handlers:
                if handler.exception is None or isinstance(error, _value(handler.exception, env)):
                    if handler.name is not None:
                        env[handler.name] = error
                    return _block(handler.body, env)[1]
            raise
        finally:
            if guarded.final is not None:
                _block(guarded.final, env)

    if guarded.context is None:
        values = attempt()
    else:
        with _value(guarded.context, env) as entered:
            if guarded.name is not None:
                env[guarded.name] = entered
            values = attempt()
    env.update(zip(guarded.targets, values, strict=True))
