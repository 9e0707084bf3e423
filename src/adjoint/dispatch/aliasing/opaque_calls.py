"""Calls of what nobody looks into, which may run functions of the user's: handlers, hooks, callbacks.

A logger runs its handlers, ``warnings.warn`` what was put in the place of ``showwarning``, a pool what it is handed.
Where such a function knows what the program reads, and may write it, the derivative would miss that. Which calls there
are is found when a function is compiled; what is behind them is asked at each call.
"""

from __future__ import annotations

import functools
import gc
import sys
import types
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.reachable import may_write_anything
from adjoint.analysis.user_code_effects import (
    assigned_by,
    is_class_of_the_user,
    is_of_the_user,
    may_act,
    methods_of,
    named_by,
)
from adjoint.diagnostics import Span, error
from adjoint.dispatch.aliasing.opaque_containers import any_in_common, is_own, reached_openly
from adjoint.dispatch.aliasing.parameter_paths import Origins
from adjoint.dispatch.aliasing.parts import ANY, PLAIN, Way, parts_of
from adjoint.frontend.entry.captured import has_fields
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_run
from adjoint.records import dataclass
from adjoint.runtime import display
from adjoint.runtime.objects import itself, make_object
from adjoint.sources.library_folders import is_of_a_library, package_of
from adjoint.types.array_libraries import is_array


@dataclass(frozen=True, slots=True)
class UnseenCall:
    """A call of what nobody looks into.

    Attributes
    ----------
    span, name
        Where it is, and what is called.
    constants, ways
        What it is given, and what is called: as far as that is known, and where to find it in the inputs.
    varies
        Whether it is given what may vary.
    """

    span: Span | None
    name: str
    constants: tuple[Any, ...]
    ways: frozenset[tuple[int, Way]]
    varies: bool


@dataclass(frozen=True, slots=True)
class UnseenCalls:
    """Those of a function."""

    calls: tuple[UnseenCall, ...]

    def refuse(self, inputs: Sequence[Any], written: Sequence[Any], paths: Iterable[Any]) -> None:
        """Raises where a call may run what writes memory that the function reads.

        ``written`` is what the function writes itself: a call that is given nothing that varies may take it from there.
        ``paths`` say which global variables it reads.
        """
        roots = [[*call.constants, *(_furthest(inputs[place], way) for place, way in call.ways)] for call in self.calls]
        if not Behind([root for each in roots for root in each]).acting:  # as it is nearly always
            return
        names = {(id(path[1]), path[2]) for path in paths if path[:1] == ("global",)}
        given = reached_openly(inputs, []) if any(call.varies for call in self.calls) else []
        for call, own in zip(self.calls, roots, strict=True):
            behind = Behind(own)
            known = given if call.varies else written
            if any_in_common(known, behind.memory) or not names.isdisjoint(behind.assigned):
                runs = ", ".join(dict.fromkeys(repr(each.__qualname__) for each in behind.acting[:2]))
                label = f"{call.name} may run {runs}, which is not looked into, and may change what is read here"
                raise error("AD0303", call.span, label, helps=_HELPS)


_HELPS = (
    "hand the call constants, ad.stop_gradient(x), and let nothing that it runs change what the function reads",
    "or call what it runs by its name",
)


def unseen_calls_of(function: ir.Function) -> UnseenCalls | None:
    """The calls in a function of what nobody looks into; None, where there are none."""
    statements = list(statements_run(function))
    unseen = [each for each in statements if isinstance(each, ir.Call) and _is_unseen(each)]
    if not unseen:
        return None
    origins = Origins(function)
    kept = tuple(
        atom.value
        for each in statements
        if isinstance(each, ir.Store) or (isinstance(each, ir.Call) and each.callee in (itself, make_object))
        for atom in operands(each)
        if isinstance(atom, ir.Const) and isinstance(atom.value, types.FunctionType)
    )
    return UnseenCalls(tuple([_call(each, kept, origins) for each in unseen]))


def _is_unseen(call: ir.Call) -> bool:
    if call.callee in display.PRINTS:
        return any(name == "file" for name, _ in call.kwargs)
    return may_write_anything(call) and (call.callee is display.call or not is_own(call.callee))


def _call(call: ir.Call, kept: tuple[Any, ...], origins: Origins) -> UnseenCall:
    """The call, with functions that the program ``kept`` in objects."""
    callee, args = call.callee, (*call.args, *(value for _, value in call.kwargs))
    prints = callee in display.PRINTS
    constants = [arg.value for arg in args if isinstance(arg, ir.Const) and type(arg.value) not in PLAIN]
    constants += [arg.type.cls for arg in args if isinstance(arg, ir.Var) and isinstance(arg.type, ir.Instance)]
    constants += kept if callee is display.call or prints else (*kept, callee)
    objects = [arg for arg in args if isinstance(arg, ir.Var) and isinstance(arg.type, ir.Opaque)]
    varies = not prints and any(ir.may_vary(type_of_atom(arg)) for arg in args)
    name = (
        args[0].hint if callee is display.call and isinstance(args[0], ir.Var) else getattr(callee, "__name__", "this")
    )
    return UnseenCall(call.span, repr(name), tuple(constants), origins.from_params(objects), varies)


def _furthest(value: Any, way: Way) -> Any:
    """What lies in a value at a way; where that leads to a method, or out of sight, the last object on it."""
    for step in way:
        parts = [part for key, part in parts_of(value) if step is ANY or key == step]
        if not parts:
            return value
        value = parts if step is ANY else parts[0]
    return value


class Behind:
    """What calls may run, and what that knows.

    Attributes
    ----------
    acting
        The functions of the user's that may change something.
    memory
        The lists, dicts, arrays and objects that these know.
    assigned
        The global variables that they assign: tables and names.
    """

    def __init__(self, roots: Sequence[Any]) -> None:
        self.acting: list[types.FunctionType] = []
        self.memory: list[Any] = []
        self.assigned: set[tuple[int, str]] = set()
        self._met: dict[int, Any] = {}
        self._pending: list[Any] = [*roots, *(hook for root in roots for hook in _hooks_of(root))]
        while self._pending:
            one = self._pending.pop()
            if type(one) not in _LEFT_OUT and id(one) not in self._met:
                self._met[id(one)] = one
                self._look(one)
        if not self.acting:
            self.memory = []

    def _look(self, one: Any) -> None:
        if isinstance(one, types.FunctionType):
            self._function(one)
        elif isinstance(one, type):
            self._class(one)
        elif isinstance(one, (list, dict)) or is_array(one):
            self.memory.append(one)
            self._pending += [part for _, part in parts_of(one)]
        elif not isinstance(one, _NOT_FOLLOWED) and f"{type(one).__module__}.{type(one).__name__}" != "logging.Manager":
            if has_fields(one):
                self.memory.append(one)
            self._pending += gc.get_referents(one)

    def _function(self, function: types.FunctionType) -> None:
        if not is_of_the_user(function):
            self._pending += [function.__closure__, function.__defaults__]
            return
        if may_act(function):
            self.acting.append(function)
            self._pending += named_by(function)
            self.assigned.update((id(function.__globals__), name) for name in assigned_by(function))

    def _class(self, cls: type) -> None:
        if is_class_of_the_user(cls):
            self._pending += methods_of(cls)
            self._pending += [value for value in vars(cls).values() if isinstance(value, (list, dict, np.ndarray))]


_LEFT_OUT = PLAIN.union(weakref.ProxyTypes)  # what a proxy stands for may be gone
_NOT_FOLLOWED = (types.ModuleType, types.CodeType, types.FrameType, np.dtype)


@functools.lru_cache(maxsize=256)
def _module_of(name: str) -> types.ModuleType | None:
    return sys.modules.get(name.lstrip("_")) or sys.modules.get(name)


def _hooks_of(root: Any) -> Iterator[Any]:
    """What of the user's was put into the module of a function of a library, and what the module keeps."""
    name = getattr(root, "__module__", None)
    if not isinstance(root, (types.FunctionType, types.BuiltinFunctionType)) or not isinstance(name, str):
        return
    module = _module_of(name)
    if (
        module is None
        or package_of(root) in _WITHOUT_HOOKS
        or not is_of_a_library(getattr(module, "__file__", "") or "")
    ):
        return
    for name, value in vars(module).items():
        is_own = isinstance(value, types.FunctionType) and value.__module__ == module.__name__
        if not is_own and name[:2] != "__" and type(value) not in PLAIN and not isinstance(value, _OF_LIBRARIES):
            yield value


_OF_LIBRARIES = (type, types.ModuleType, types.BuiltinFunctionType)
_WITHOUT_HOOKS = ("builtins", "numpy", "scipy", "math", "adjoint")
