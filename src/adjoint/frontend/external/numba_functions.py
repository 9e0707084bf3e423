"""What Numba makes of Python: functions of arrays of functions of elements, lists and dicts with types, classes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.external import numba_definitions
from adjoint.frontend.interpreter.values import STANDS_FOR, Partial, TupleValue, Value


def function_of(constant: Any) -> Value | None:
    """The function or class that a call of one of Numba's means; None where it means itself."""
    plain = _plain_form(constant)
    if plain is not None:
        return ir.Const(plain)
    match type(constant).__name__:
        case "DUFunc":
            function, dtype = constant._dispatcher.py_func, _dtype(constant)
            if dtype is None or constant.nout != 1:
                return None
            return Partial(ir.Const(numba_definitions.elementwise), (ir.Const(function), ir.Const(dtype)), ())
        case "GUFunc":
            function, dtype = constant.gufunc_builder.py_func, _dtype(constant)
            if dtype is None:
                return None
            inputs, outputs = map(_axes, constant.signature.split("->"))
            given = (ir.Const(function), ir.Const(dtype), inputs, outputs, ir.Const(_as_arrays(constant)))
            return Partial(ir.Const(numba_definitions.by_cores), given, ())
        case _:
            return None


def _dtype(function: Any) -> Any:
    """The floating dtype of what a function gives; None where it may give something else."""
    kinds = {kind for signature in function.types for kind in signature.partition("->")[2]}
    if not kinds or "d" in kinds:
        return np.dtype(float)
    return np.dtype(np.float32) if kinds == {"f"} else None


def _as_arrays(function: Any) -> tuple[bool, ...]:
    """Which arguments a function takes as arrays of one element, where its signature tells of a number."""
    declared = [getattr(signature, "args", ()) for signature in function.gufunc_builder._sigs]
    count = function.signature.partition("->")[0].count("(")
    texts = function.signature.partition("->")[0].split(")")[:count]
    is_number = [text.rpartition("(")[2].strip() == "" for text in texts]
    return tuple(
        single and bool(declared) and all(hasattr(args[place], "ndim") for args in declared)
        for place, single in enumerate(is_number)
    )


def _axes(text: str) -> TupleValue:
    """The names of the axes in half a signature: ``(m,n),(n)``."""
    groups = re.findall(r"\(([^)]*)\)", text)
    names = [[name.strip() for name in group.split(",") if name.strip()] for group in groups]
    return TupleValue(tuple([TupleValue(tuple(map(ir.Const, group))) for group in names]))


# Functions and classes that mean one of Python's


def _plain_form(constant: Any) -> Any:
    """What does the same in Python: `range` for `numba.prange`, `list` for `numba.typed.List`; None for all others."""
    name: Any = getattr(constant, "__name__", "")
    home: Any = getattr(constant, "__module__", None)
    if isinstance(constant, type):
        return _PLAIN.get((home, name)) or _plain_class(constant)
    return _EMPTY.get((home, name))


_PLAIN = {
    ("numba.misc.special", "prange"): range,  # which it is wherever Numba does not run it in threads
    ("numba.typed.typedlist", "List"): list,
    ("numba.typed.typeddict", "Dict"): dict,
}
_EMPTY = {
    ("numba.typed.typedlist", "empty_list"): numba_definitions.empty_list,
    ("numba.typed.typeddict", "empty"): numba_definitions.empty_dict,
}


def _plain_class(cls: Any) -> type | None:
    """The class that `numba.experimental.jitclass` was applied to, made again; None for other classes."""
    if type(cls).__name__ != "JitClassType":
        return None
    made = cls.class_type
    if made not in _plain_classes:
        parts: dict[str, Any] = {**made.methods, **{name: staticmethod(f) for name, f in made.static_methods.items()}}
        for name, accessors in made.jit_props.items():
            read, written = (accessors[kind].py_func if kind in accessors else None for kind in ("get", "set"))
            parts[name] = property(read, written)
        parts |= {"__module__": made.methods["__init__"].__module__, STANDS_FOR: cls}
        _plain_classes[made] = type(cls.__name__, (), parts)
    return _plain_classes[made]


_plain_classes: dict[Any, type] = {}
