"""Derivatives inside functions of Numba: ``@njit`` code that calls ``ad.grad(f)``.

A derivative has a type of its own there. When it is called, the types of the arguments tell all that is known of them,
and it is derived and compiled for these.
"""

# mypy: disable-error-code="no-untyped-call, misc, no-untyped-def"

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import numpy as np
from numba.core import errors, types
from numba.core.datamodel import models
from numba.extending import NativeValue, register_model, unbox
from numba.np.numpy_support import as_dtype

from adjoint import ir
from adjoint.api.tools.pointers_for_numba import callable_from_numba, kind_of_type
from adjoint.diagnostics import DifferentiationError
from adjoint.differentiation.finish import finish
from adjoint.dispatch.options import checked_of, options_of
from adjoint.frontend.calls.levels import as_deep_as_needed
from adjoint.frontend.data.outside.captured_by_rules import noting
from adjoint.frontend.entry.captured import differentiated
from adjoint.frontend.entry.entry import lower_operator
from adjoint.native.compile import callers
from adjoint.native.compile.core import Core
from adjoint.native.compile.not_native import NotNative
from adjoint.rules.registry import on_change
from adjoint.rules.types_of_values import AnyExtents
from adjoint.target import Target

_known: WeakSet[Any] = WeakSet()
"""The types of all derivatives that compiled code calls."""


def forget() -> None:
    """Forgets what compiled code was made with: something was declared, after which it may be another."""
    for each in list(_known):
        each.forget()
    callers.forget()


on_change(forget)


class DerivativeType(types.Callable, types.Dummy):
    """The type of one derivative."""

    def __init__(self, derivative: Any) -> None:
        self.derivative = derivative
        self._compiled: dict[tuple[Any, ...], Any] = {}
        _known.add(self)
        super().__init__(f"Derivative({derivative!r} at {id(derivative):#x})")

    def forget(self) -> None:
        """Forgets what was compiled."""
        self._compiled.clear()

    @property
    def key(self) -> Any:
        return id(self.derivative)

    def get_call_type(self, context: Any, args: Sequence[Any], kws: Any) -> Any:
        """The signature of a call with arguments of these types; derives and compiles at the first of them."""
        if kws:
            raise errors.TypingError("a derivative takes its arguments by position in compiled code")
        callers.note()
        plain = tuple(types.unliteral(arg) for arg in args)
        if plain not in self._compiled:
            self._compiled[plain] = _dispatcher(self.derivative, plain)
        return self._compiled[plain]._numba_type_.get_call_type(context, plain, {})

    def get_call_signatures(self) -> tuple[list[Any], bool]:
        """The signatures are not known before a call."""
        return [], True

    def get_impl_key(self, signature: Any) -> Any:
        return self._compiled[tuple(signature.args)]._numba_type_.get_impl_key(signature)


register_model(DerivativeType)(models.OpaqueModel)


@unbox(DerivativeType)
def _unbox(kind, obj, c):
    return NativeValue(c.context.get_dummy_value())


@functools.singledispatch
def _example(kind: Any) -> Any:
    raise NotNative(f"in compiled code, a derivative takes no argument of the type {kind}")


@_example.register(types.Array)
def _(kind: Any) -> Any:
    return np.zeros((2,) * kind.ndim, as_dtype(kind.dtype)).view(AnyExtents)


@_example.register(types.Float)
@_example.register(types.Complex)
@_example.register(types.Integer)
@_example.register(types.Boolean)
def _(kind: Any) -> Any:
    dtype = as_dtype(kind)
    python = {"float64": 1.5, "int64": 2, "complex128": 1.5j}
    return python.get(dtype.name, dtype.type(1))


@_example.register(types.BaseTuple)
def _(kind: Any) -> Any:
    parts = [_example(part) for part in kind]
    made = getattr(kind, "instance_class", None)
    return tuple(parts) if made is None else made(*parts)


def _dispatcher(derivative: Any, args: tuple[Any, ...]) -> Any:
    """A compiled function of Numba for arguments of these types."""
    try:
        return _compiled(derivative, args)
    except DifferentiationError as refusal:
        raise errors.TypingError(str(refusal)) from refusal
    except NotNative as reason:
        raise errors.TypingError(str(DifferentiationError(reason.problem))) from reason


def _compiled(derivative: Any, args: tuple[Any, ...]) -> Any:
    examples = tuple(map(_example, args))
    kinds = tuple(map(kind_of_type, args))
    root = differentiated(derivative.function)
    target = Target(True, checked_of(root, derivative.native))

    def finished() -> ir.Function:
        entry = lower_operator(derivative.kind, derivative.function, derivative.options, examples, {}, target)
        if entry.captured:
            names = ", ".join(repr(item.var.hint) for item in entry.captured)
            raise NotNative(f"the function reads data from outside of it: {names}")
        if entry.argument_guards:
            raise NotNative("the derivative depends on the value of an argument, of which only the type is known")
        return finish(entry.function, target=target)

    with noting() as captured_by_rules:
        function = as_deep_as_needed(finished)
    if captured_by_rules:
        raise NotNative("a rule of a function that it calls reads data from outside")
    core = Core(function, options_of(root, derivative.native), True, target)
    return callable_from_numba(core.for_machine_code(kinds), args)
