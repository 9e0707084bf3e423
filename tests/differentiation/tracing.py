"""A splice for tests: runs a rule's function on tracers, so that these tests need no frontend."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Mapping
from typing import Any

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.rules.registry import rule_for


class Tracer:
    """Stands for an atom; what is done to it is emitted."""

    __array_ufunc__ = None

    def __init__(self, builder: Builder, atom: ir.Atom) -> None:
        self.builder = builder
        self.atom = atom

    def emit(self, callee: Any, *args: Any, **kwargs: Any) -> Tracer:
        given = {name: operand(value) for name, value in kwargs.items()}
        return Tracer(self.builder, self.builder.call(callee, *map(operand, args), **given))


def _binary(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    fn = getattr(operator, name)
    return (lambda a, b: a.emit(fn, a, b)), (lambda a, b: a.emit(fn, b, a))


for _name in ("add", "sub", "mul", "truediv", "pow", "matmul", "floordiv", "mod"):
    _forward, _swapped = _binary(_name)
    setattr(Tracer, f"__{_name}__", _forward)
    setattr(Tracer, f"__r{_name}__", _swapped)
for _name in ("lt", "le", "gt", "ge"):
    setattr(Tracer, f"__{_name}__", _binary(_name)[0])
setattr(Tracer, "__neg__", lambda a: a.emit(operator.neg, a))


def operand(value: Any) -> ir.Atom:
    """The atom for an argument of a call."""
    return value.atom if isinstance(value, Tracer) else ir.Const(value)


def untraced(value: Any) -> Any:
    if isinstance(value, Tracer):
        return value.atom
    if isinstance(value, tuple):
        return tuple(map(untraced, value))
    return None if value is None else ir.Const(value)


class _Module:
    def __init__(self, module: types.ModuleType, tracer: Tracer) -> None:
        self.module = module
        self.tracer = tracer

    def __getattr__(self, name: str) -> Any:
        return _wrapped(getattr(self.module, name), self.tracer)


def _wrapped(value: Any, tracer: Tracer) -> Any:
    if isinstance(value, types.ModuleType):
        return _Module(value, tracer)
    if callable(value) and rule_for(value) is not None:
        return lambda *args, **kwargs: tracer.emit(value, *args, **kwargs)
    return value


def splice(builder: Builder, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, ir.Atom] | None = None) -> Any:
    def traced(arg: Any) -> Any:
        if isinstance(arg, tuple):
            return tuple(map(traced, arg))
        return arg.value if isinstance(arg, ir.Const) else Tracer(builder, arg)

    tracer = Tracer(builder, ir.Const(None))
    scope = {name: _wrapped(value, tracer) for name, value in fn.__globals__.items()}
    copy = types.FunctionType(fn.__code__, scope, fn.__name__, fn.__defaults__, fn.__closure__)
    copy.__kwdefaults__ = fn.__kwdefaults__
    return untraced(copy(*map(traced, args), **{name: traced(value) for name, value in (kwargs or {}).items()}))
