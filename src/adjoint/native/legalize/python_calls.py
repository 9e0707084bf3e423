"""Calls that a compiler does not know: they leave the machine code, and run as Python, for as long as they take.

What such a call returns must be of a known type: a number, or an array of known dtype and rank.
"""

from __future__ import annotations

import builtins
import math
import operator
import types as python_types
from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.codegen.python import emit
from adjoint.codegen.texts import Emitted, load
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import operands, targets_of
from adjoint.native.compile.messages.not_native import NotNative
from adjoint.native.compile.numba_types import declared_type, dtype_of, numba_type
from adjoint.native.legalize.arrays.indices import is_mask, rank_of
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.rules.declarations import declaration_for
from adjoint.runtime import copies, display, lists, tangents
from adjoint.runtime.arithmetic import bundles, checks, numbers
from adjoint.runtime.array_functions import arrays, places, sequences
from adjoint.runtime.cotangents import as_array, as_number
from adjoint.sources.library_folders import package_of

_NOTHING = ir.Const(None)
_ANNOTATE = (
    "annotate what the function returns: -> float",
    "an array of rank 1: -> np.ndarray[tuple[int], np.dtype[np.float64]]",
)

_SELDOM_OF_MATH = (
    *(math.remainder, math.fmod, math.modf, math.frexp, math.ldexp),
    *(math.comb, math.perm, math.isqrt, math.factorial, math.lcm, math.ulp),
)
"""Functions of ``math`` of which Numba knows few."""


class ByPython:
    """A statement as a function that compiled code can call; Python can call it, too.

    Attributes
    ----------
    emitted
        The text of the function.
    declared
        The types of its results, in Numba's notation.
    """

    def __init__(self, emitted: Emitted, declared: Sequence[str]) -> None:
        self.emitted = emitted
        self.declared = tuple(declared)
        self.__name__ = f"{emitted.name}_by_python"
        self.__qualname__ = self.__name__

    def __call__(self, *args: Any) -> Any:
        return load(self.emitted)(*args)


def with_calls_of_python(function: ir.Function) -> ir.Function:
    """The function with what Numba does not know as calls of Python."""
    return _Leaving().function(function)


class _Leaving(Rewriting):
    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        fault = _fault_of(statement)
        if fault is not None:
            raise NotNative(fault, (), statement.span)
        if isinstance(statement, ir.Call) and statement.callee is as_array:  # checked where it comes from Python
            return (ir.Call(statement.targets, np.asarray, statement.args[:1], (), statement.span),)
        if is_known(statement):
            return (statement,)
        outside = by_python(statement)
        if outside is None and isinstance(statement, ir.Call) and _is_surely_unknown(statement.callee):
            is_declared = declaration_for(statement.callee) is not None or statement.callee is as_number
            notes = _ANNOTATE if is_declared else ()
            raise NotNative(_without_form(statement.callee), notes, statement.span)  # nothing need be compiled to know
        return outside or (statement,)

    def terminator(self, terminator: ir.Terminator) -> tuple[Iterable[ir.Statement], ir.Terminator]:
        if isinstance(terminator, ir.Raise) and terminator.cause is not None:
            raise NotNative("'raise ... from' has no form in machine code", (), terminator.span)
        return (), terminator

    def compound(self, statement: ir.Statement) -> ir.Statement:
        if isinstance(statement, ir.Guarded):
            raise NotNative(_fault_of_guarded(statement), (), statement.span)
        return statement


def by_python(statement: ir.Call | ir.Load | ir.Store) -> tuple[ir.Statement, ...] | None:
    """A statement as a call of Python; None where what it takes or gives does not come through."""
    declared = [declared_type(target.type) for target in targets_of(statement)]
    taken = tuple(dict.fromkeys(atom for atom in operands(statement) if isinstance(atom, ir.Var)))
    from_lists = _as_arrays(taken) if isinstance(statement, ir.Call) and effects_of(statement).pure else {}
    if None in declared or not all(var in from_lists or _comes_through(var.type) for var in taken):
        return None
    callee = ByPython(_alone(statement, taken, from_lists), [name for name in declared if name is not None])
    before = [ir.Call((array,), np.array, (var,), (), statement.span) for var, array in from_lists.items()]
    handed = tuple([from_lists.get(var, var) for var in taken])
    return (*before, ir.Call(targets_of(statement), callee, handed, (), statement.span))


def _fault_of(statement: ir.Call | ir.Load | ir.Store) -> str | None:
    """Why a statement is refused that Numba would compile, but not as what it means."""
    match statement:
        case ir.Call(callee=dict.get, args=(_, _)):
            return "'get' of a dict gives a value or None, of which there is no type"
        case ir.Call(callee=np.linalg.eig | np.linalg.eigvals | np.roots, args=(matrix, *_)) if _kind_of(matrix) != "c":
            return "eigenvalues of a real matrix, and roots, are real or complex, as its elements have it"
        case _:
            return None


def _fault_of_guarded(statement: ir.Guarded) -> str:
    """Why it is refused. Machine code raises less than Python does, so a handler of all exceptions would miss some."""
    if statement.context is not None:
        return "'with' has no form in machine code"
    if statement.handlers:
        return "machine code may raise less than Python does in what is handled, so 'except' has no form in it"
    return "'finally' has no form in machine code"


def _is_surely_unknown(callee: Any) -> bool:
    """Whether a function of NumPy or of the runtime has no form for the compiler, whatever it is given."""
    if declaration_for(callee) is not None:
        return True
    module = str(getattr(callee, "__module__", ""))
    of_library = module.startswith("adjoint.runtime") or package_of(callee) == "numpy"
    return of_library and not (_is_plain(callee) or _is_declared(callee))


def _without_form(callee: Any) -> str:
    if getattr(callee, "__module__", None) == "adjoint.runtime.functions":
        return "a function value that is known only at run time cannot be called in machine code"
    name = getattr(callee, "__name__", None) or type(callee).__name__
    return f"'{name}' has no form for machine code, and the kind of what it gives is known only when it runs"


def _kind_of(array: ir.Atom) -> str | None:
    """The kind of an array's dtype; None where it is not known."""
    type_ = type_of_atom(array)
    return type_.dtype.kind if isinstance(type_, ir.Array) and type_.dtype is not None else None


def _comes_through(type_: ir.Type) -> bool:
    """Whether values of a type can be handed to Python: lists, also in tuples, cannot."""
    if isinstance(type_, ir.Tuple):
        return all(map(_comes_through, type_.items))
    return not isinstance(type_, ir.List) and numba_type(type_) is not None


def _as_arrays(taken: Iterable[ir.Var]) -> dict[ir.Var, ir.Var]:
    """Arrays for lists of Python's own numbers, which come through as such."""
    found: dict[ir.Var, ir.Var] = {}
    for var in taken:
        match var.type:
            case ir.List(element=ir.Scalar(dtype=None) as element):
                found[var] = ir.Var(var.hint, ir.Array(dtype_of(element), ("any",)))
    return found


def _alone(statement: ir.Call | ir.Load | ir.Store, taken: Sequence[ir.Var], lists: Container[ir.Var]) -> Emitted:
    """A statement as a function of what it reads; ``lists`` come as arrays."""
    params = tuple([ir.Var(var.hint, var.type, var.named) for var in taken])
    given: dict[ir.Var, ir.Atom] = dict(zip(taken, params, strict=True))
    conversions: list[ir.Statement] = []
    for var, param in zip(taken, params, strict=True):
        if var in lists:
            given[var] = items = ir.Var(var.hint, var.type)
            conversions.append(ir.Call((items,), np.ndarray.tolist, (param,)))
        elif isinstance(var.type, ir.Scalar) and var.type.dtype not in (None, np.float64, np.int64, np.bool_):
            # machine code hands numbers over as those of Python
            given[var] = number = ir.Var(var.hint, var.type)
            conversions.append(ir.Call((number,), var.type.dtype.type, (param,)))
    targets, checks = _checked(statement)
    body = ir.Block((*conversions, substitute(statement, given), *checks), ir.Return(targets or (ir.Const(None),)))
    name = getattr(getattr(statement, "callee", None), "__name__", "") or "index"
    return emit(ir.Function(name.strip("_<>") or "call", params, body))


def _checked(statement: ir.Call | ir.Load | ir.Store) -> tuple[tuple[ir.Var, ...], list[ir.Statement]]:
    """What a statement gives, and checks of it: Numba takes an array of any rank as one of that which is declared."""
    targets = targets_of(statement)
    if isinstance(statement, ir.Call) and len(targets) == 1 and declaration_for(statement.callee) is not None:
        type_ = targets[0].type
        if isinstance(type_, ir.Array) and type_.dims is not None:
            checked = ir.Var(targets[0].hint, type_)
            name = getattr(statement.callee, "__name__", "the function")
            said = (ir.Const(len(type_.dims)), ir.Const(type_.dtype), ir.Const(name))
            return (checked,), [ir.Call((checked,), as_array, (targets[0], *said))]
    return targets, []


def is_known(statement: ir.Call | ir.Load | ir.Store) -> bool:
    """Whether Numba compiles a statement, as far as its types tell."""
    match statement:
        case ir.Load(base=base, key=key) | ir.Store(base=base, key=key):
            return not is_mask(base, key)
        case ir.Call(callee=callee, args=args, kwargs=kwargs):
            orders = (*args, *[value for _, value in kwargs])
            if callee is display.format_value:
                return _is_plain_field(*args)
            if callee is operator.matmul:
                return all(rank_of(arg) in (1, 2) for arg in args) and _same_dtype(args)
            if callee is np.linalg.norm and any(
                isinstance(part, ir.Const) and type(part.value) is str for part in orders
            ):
                return False  # Numba finds out when it runs
            return not _is_written_view(statement) and (_is_plain(callee) or _resolves(statement))


def _is_plain_field(value: ir.Atom, conversion: ir.Atom = _NOTHING, spec: ir.Atom = _NOTHING) -> bool:
    """Whether Numba formats a value as Python does: whole numbers and texts, as they are."""
    type_ = type_of_atom(value)
    known = type_ in (ir.Opaque(str), ir.Scalar("int")) or (
        isinstance(value, ir.Const) and type(value.value) in (int, str)
    )
    is_converted = isinstance(conversion, ir.Const) and conversion.value in ("s", "r", "a", *map(ord, "sra"))
    return known and not is_converted and isinstance(spec, ir.Const) and not spec.value


_ALWAYS_VIEWS = (np.transpose, arrays.unbroadcast, places.diag, places.diagonal, tangents.follow_view)
"""What gives a view in machine code exactly where it does in Python."""


def _is_written_view(call: ir.Call) -> bool:
    """Whether the result may share memory that something writes: what Numba copies, NumPy may not."""
    if isinstance(call.callee, (ir.Definition, ir.Function)) or call.callee in _ALWAYS_VIEWS or _is_slice(call):
        return False
    if effects_of(call).view_of is None:
        return False
    return any(isinstance(target.type, ir.Array) and target.type.storage.written for target in call.targets)


def _is_slice(call: ir.Call) -> bool:
    """Whether the result is a part of a cotangent along an axis."""
    parts = (sequences.concatenated_part, sequences.stacked_part)
    return call.callee in parts and call.args[2] != _NOTHING


def _same_dtype(args: Iterable[ir.Atom]) -> bool:
    found = [type_.dtype for type_ in map(type_of_atom, args) if isinstance(type_, ir.Array)]
    return all(dtype is not None and dtype.kind in "fc" and dtype == found[0] for dtype in found)


def _is_plain(callee: Any) -> bool:
    """Whether a callee is part of the language, or is compiled with the derivative."""
    if isinstance(callee, (ir.Definition, ir.Function, ByPython)) or callee is display.call:
        return True
    if isinstance(callee, (python_types.MethodDescriptorType, python_types.WrapperDescriptorType)):
        return True
    module = getattr(callee, "__module__", None)
    if callee in (pow, *_SELDOM_OF_MATH):
        return False
    return module in ("_operator", "operator", builtins.__name__, math.__name__, display.__name__, bundles.__name__)


_SURE = {
    id(callee)
    for callee in (
        *(
            np.copy,
            np.ndarray.copy,
            np.zeros,
            np.empty,
            np.ones,
            np.zeros_like,
            np.empty_like,
            np.ones_like,
            np.sum,
            np.arange,
        ),
        *(arrays.zeros_like, arrays.unbroadcast, arrays.match, copies.owned, copies.of_dtype),
        *(numbers.quotient, numbers.product, numbers.selected, numbers.somewhere),
        *(numbers.divide, numbers.times, numbers.power, numbers.log, numbers.sqrt, numbers.choose, numbers.unit),
        *(lists.no_items, lists.any_layout, checks.check_divisor, checks.check_domain, checks.check_range),
        *(checks.check_power, checks.check_bound),
    )
}
"""What need not be asked for, where only arrays and numbers are given by position."""


def _is_sure(call: ir.Call) -> bool:
    """Whether a call is one of those that occur everywhere; to ask Numba takes as long as to compile it."""
    if call.kwargs or not all(isinstance(type_of_atom(arg), (ir.Array, ir.Scalar)) for arg in call.args[:1]):
        return False
    callee = call.callee
    if isinstance(callee, np.ufunc):
        from numba.np.ufunc_db import get_ufuncs  # lazy

        known = get_ufuncs()  # type: ignore[no-untyped-call]
        return callee in known and len(call.args) == callee.nin
    if callee is np.sum and len(call.args) > 1:
        return False
    return id(callee) in _SURE or (isinstance(callee, type) and issubclass(callee, np.generic))


def _resolves(call: ir.Call) -> bool:
    """Whether Numba finds a meaning for a call with arguments of these types; True where they are not known."""
    if _is_sure(call):
        return True
    args = [_argument(arg) for arg in call.args]
    named = {name: _argument(arg) for name, arg in call.kwargs}
    if None in args or None in named.values():
        return _is_declared(call.callee)
    return _resolved(call.callee, tuple(args), named, [target.type for target in call.targets])


def _is_declared(callee: Any) -> bool:
    """Whether Numba knows a function at all."""
    from numba.core.registry import cpu_target  # lazy

    import adjoint.native.runtime.declarations  # noqa: F401  # lazy
    from adjoint.native.runtime.declaring import is_declared  # lazy

    if is_declared(callee):
        return True
    context = cpu_target.typing_context
    context.refresh()
    try:
        return context.resolve_value_type(callee) is not None
    except Exception:  # of various kinds
        return False


def _argument(atom: ir.Atom) -> Any:
    """The type of an argument for Numba; None where it is not known."""
    from numba.core import types  # lazy
    from numba.core.errors import NumbaError  # lazy
    from numba.core.registry import cpu_target  # lazy

    if isinstance(atom, ir.Var):
        return types.none if atom.type == ir.Opaque(type(None)) else numba_type(atom.type)
    if not isinstance(atom, ir.Const):
        return None
    value = atom.value
    if type(value) in (int, str, bool):
        return types.literal(value)  # type: ignore[no-untyped-call]
    try:
        return cpu_target.typing_context.resolve_value_type(value)
    except (NumbaError, ValueError):
        return None


def _resolved(callee: Any, args: tuple[Any, ...], named: dict[str, Any], targets: Sequence[ir.Type]) -> bool:
    from numba.core.registry import cpu_target  # lazy

    import adjoint.native.runtime.declarations  # noqa: F401  # lazy
    from adjoint.native.runtime.declaring import takes  # lazy

    declared = takes(callee, args, named)
    if declared is not None:
        return declared
    context = cpu_target.typing_context
    cpu_target.target_context.refresh()
    context.refresh()
    try:
        found = context.resolve_function_type(context.resolve_value_type(callee), args, named)
    except Exception:  # of various kinds
        return False
    if found is None:
        return False
    return len(targets) != 1 or _agrees(found.return_type, targets[0])


def _agrees(found: Any, wanted: ir.Type) -> bool:
    """Whether a result has the rank that it should have."""
    from numba.core import types  # lazy

    if isinstance(wanted, ir.Array) and wanted.dims is not None:
        return isinstance(found, types.Array) and found.ndim == len(wanted.dims)
    return True
