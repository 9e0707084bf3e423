"""What has no form in LLVM IR runs as Python: calls, loads and stores, of objects of Python and of others.

A call that keeps nothing of what it is given borrows it, and its results are copied. All others share memory with the
objects that they take and give.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.codegen.python import emit
from adjoint.codegen.texts import ByPython, Emitted
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import operands, targets_of
from adjoint.native.legalize.as_python import (
    BY_IDENTITY,
    BY_IDENTITY_OR_VALUE,
    computed_by,
    gives_fixed_view,
    refusing_unknown,
)
from adjoint.native.llvm.callbacks import Callback, announced, callback_for, dense
from adjoint.native.llvm.rules.containers.structs import is_of_fields
from adjoint.native.llvm.rules.exceptions import Raised
from adjoint.native.llvm.rules.of_python import c_api
from adjoint.native.llvm.rules.of_python.objects import (
    Lock,
    Result,
    as_object,
    borrowing,
    called,
    number_of_type,
    sharing,
)
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import (
    OBJECT,
    Array,
    ArrayKind,
    Bounds,
    Complex,
    Known,
    List,
    ListKind,
    Number,
    Object,
    ObjectKind,
    Shown,
    Steps,
    Tuple,
    Unsupported,
    Value,
    dtype_of,
    kinds_in,
    width_of,
)
from adjoint.native.llvm.values import Kind as AnyKind
from adjoint.native.llvm.writer import whole
from adjoint.native.llvm.writing.declared import kind_of_type
from adjoint.native.llvm.writing.emission import Emission, LeftAlone, is_of_python, kind_of_object
from adjoint.records import dataclass, replace
from adjoint.rules.declarations import declaration_for
from adjoint.runtime import display
from adjoint.runtime.cotangents import as_array
from adjoint.runtime.outside import assign_attribute, assign_captured, assign_global
from adjoint.sources.library_folders import package_of
from adjoint.types.classes.safe_lookups import asked

_OF_PYTHON = ("f8", "i8", "b1", "c8")
"""Kinds of numbers that Python has itself."""
_BY_IDENTITY = (*BY_IDENTITY, *BY_IDENTITY_OR_VALUE)
_ASSIGNS = (assign_attribute, assign_captured, assign_global)
_MAY_BE_NOTHING = (dict.get, dict.pop)
"""What gives None beside what its type says."""
_CONTAINERS = (dict, list, set, frozenset, tuple, collections.deque)
_HARMLESS = (
    *(len, sorted, reversed, min, max, sum, range, enumerate, zip, iter, next),
    *(abs, float, int, bool, complex, pow, divmod, round, list, tuple, set, frozenset, dict),
    *(itertools.chain, itertools.islice, itertools.pairwise, itertools.product, itertools.repeat, itertools.cycle),
    *(itertools.permutations, itertools.combinations, itertools.combinations_with_replacement),
    itertools.zip_longest,
)
"""What does the same with numbers of Python and of NumPy."""
_TELLING = (display.format_value, display.join_string)
"""What may not, of Adjoint's own."""

Leaving = ir.Call | ir.Load | ir.Store


@dataclass(frozen=True, slots=True)
class _Left:
    """A statement that is left for Python.

    Attributes
    ----------
    statement
        The statement.
    taken
        What it reads at run time.
    known
        What it reads that the compiler knows.
    results
        The kinds of what it gives.
    """

    statement: Leaving
    taken: Mapping[ir.Var, Value]
    known: Mapping[ir.Var, ir.Const]
    results: Sequence[str | ArrayKind | ObjectKind]

    def kinds(self) -> list[AnyKind]:
        """The kinds of what it reads at run time, and of what these are made up."""
        return [found for value in self.taken.values() for found in kinds_in(kind_of_object(value))]


@rule("python")
def by_python(e: Emission, statement: Leaving) -> Value:
    """What a statement gives that runs as Python."""
    taken = [atom for atom in dict.fromkeys(operands(statement)) if isinstance(atom, ir.Var)]
    values = {var: e.value(var) for var in taken}
    if any(isinstance(value, Known) and isinstance(value.value, Raised) for value in values.values()):
        raise Unsupported("an exception as an object of Python")
    for var in taken:
        value = values[var]
        if isinstance(value, Known) and not isinstance(statement, ir.Call) and var == statement.base:
            values[var] = constant(e, value.value)  # Python warns of the text "None[0]"
    may_be_nothing = _calls_one_of(statement, _MAY_BE_NOTHING)
    results = [OBJECT if may_be_nothing else _result_kind(target) for target in targets_of(statement)]
    varying = {var: value for var, value in values.items() if not isinstance(value, Known)}
    known = {var: ir.Const(value.value) for var, value in values.items() if isinstance(value, Known)}
    left = _Left(statement, varying, known, results)
    kinds = left.kinds()
    if any(isinstance(found, str) and width_of(found) for found in kinds):
        raise Unsupported("a call of Python with bundles")
    if _is_of_several(statement) or OBJECT in kinds:  # whose items may be None beside what is announced
        pairs = zip(results, computed_by(statement), strict=True)
        told = [OBJECT if isinstance(found, ArrayKind) and not is_computed else found for found, is_computed in pairs]
        left = replace(left, results=told)
    if _asks_whose_whole_number(statement):
        raise Unsupported("a whole number that may be Python's or NumPy's, and is asked for that")
    e.program.asks |= _asks_for_classes(statement) and not all(map(_tells_owner, operands(statement)))
    found = (_sharing if _shares(left) else _borrowing)(e, left)
    if _may_be_joined(left):
        given = zip(targets_of(statement), left.results, strict=True)
        arrays = frozenset(target for target, result in given if isinstance(result, ArrayKind))
        e.left.append(LeftAlone(statement, _asks_for_classes(statement), arrays))
    return found[0] if len(found) == 1 else Tuple(tuple(found)) if found else Known(None)


def _is_of_several(statement: Leaving) -> bool:
    """Whether a call of Python is one of several statements."""
    return isinstance(statement, ir.Call) and isinstance(statement.callee, ByPython) and statement.callee.several


def _may_be_joined(left: _Left) -> bool:
    """Whether a statement may run as Python together with others: it is handed nothing that Python would copy."""
    is_plain = all(isinstance(value, (Number, Complex, Array, Object, Known)) for value in left.taken.values())
    return is_plain and not any(
        True for target in targets_of(left.statement) for _ in _announcement(left.statement, target)
    )


def _asks_whose_whole_number(statement: Leaving) -> bool:
    """Whether the class is asked of a number that counts as one of Python's in machine code if it is whole."""
    if not isinstance(statement, ir.Call) or statement.callee is not isinstance:
        return False
    number, classes = statement.args
    may_be_either = isinstance(type_of_atom(number), ir.Number) and isinstance(classes, ir.Const)
    return may_be_either and _tells_apart(classes.value, _WHOLE)  # type: ignore[union-attr]


def _asks_for_classes(statement: Leaving) -> bool:
    """Whether a statement may do other things with a number of Python than with one of NumPy."""
    if isinstance(statement, ir.Call):
        callee = statement.callee
        owner = asked(callee, "__objclass__")
        if isinstance(callee, ByPython):
            return callee.asks
        if callee is isinstance and isinstance(statement.args[1], ir.Const):
            is_unsure = isinstance(type_of_atom(statement.args[0]), ir.Number)
            return _tells_apart(statement.args[1].value, _KINDS if is_unsure else _OWNERS)
        if (
            owner in _CONTAINERS
            or _is_arithmetic(callee)
            or _calls_one_of(statement, _HARMLESS)
            or is_of_fields(callee)
        ):
            return False
        return _calls_one_of(statement, _TELLING) or package_of(owner or callee) not in ("numpy", "scipy", "adjoint")
    if isinstance(statement, ir.Load) and isinstance(statement.key, ir.Attribute):
        return not isinstance(type_of_atom(statement.base), (ir.Instance, ir.Array))
    return isinstance(statement, ir.Load) and _is_part_of_a_number(type_of_atom(statement.base), statement.key)


_OWNERS: tuple[tuple[type, type], ...] = (
    *((float, np.dtype(code).type) for code in np.typecodes["Float"]),
    *((complex, np.dtype(code).type) for code in np.typecodes["Complex"]),
)
_WHOLE: tuple[tuple[type, type], ...] = (
    *((int, np.dtype(code).type) for code in np.typecodes["AllInteger"]),
    (bool, np.bool_),
)
_KINDS = (*_OWNERS, (float, int), (float, bool), (int, bool), (complex, float))
"""Classes between which a number may be one or the other."""


def _tells_apart(classes: Any, pairs: Iterable[tuple[type, type]]) -> bool:
    """Whether of two classes between which a number may be one or the other one is of these, and one is not."""
    try:
        return any(issubclass(one, classes) != issubclass(other, classes) for one, other in pairs)
    except TypeError:  # no classes, as Python will say
        return True


def _tells_owner(atom: ir.Atom) -> bool:
    """Whether the type of a value tells of the numbers in it whose they are."""
    type_ = type_of_atom(atom)
    return isinstance(type_, (ir.Scalar, ir.Array)) or (isinstance(type_, ir.Opaque) and type_.cls in (str, type(None)))


def _is_part_of_a_number(base: ir.Type | None, key: ir.Key) -> bool:
    """Whether a load may be of a number: NumPy's have parts, as ``x[()]`` and ``x[..., None]``, Python's have none."""
    if isinstance(base, ir.Array) and isinstance(key, ir.Subscript) and base.dims is None:
        return all(isinstance(item, ir.Const) and item.value in (None, ...) for item in key.items)
    return isinstance(base, ir.Scalar) or (isinstance(base, ir.Array) and not base.dims)


def _calls_one_of(statement: Leaving, callees: Iterable[Any]) -> bool:
    return isinstance(statement, ir.Call) and any(statement.callee is each for each in callees)


def _is_operator(callee: Any) -> bool:
    return getattr(callee, "__module__", None) in ("_operator", "operator")


def _is_of_arrays(statement: Leaving) -> bool:
    """Whether a statement calls a method that numbers of NumPy have, and Python's lack."""
    owner = getattr(statement.callee, "__objclass__", None) if isinstance(statement, ir.Call) else None
    return owner in (np.ndarray, np.generic)


def _is_arithmetic(callee: Any) -> bool:
    return _is_operator(callee) or getattr(callee, "__module__", None) in ("math", "cmath", "_bisect")


def _result_kind(target: ir.Var) -> str | ArrayKind | ObjectKind:
    """The kind of a result: arrays of several axes are laid out as they come."""
    if not isinstance(target.type, (ir.Scalar, ir.Array)):
        return OBJECT
    try:
        found = kind_of_type(target.type)
    except Unsupported:
        return OBJECT
    assert isinstance(found, (str, ArrayKind))
    return found


def _shares(left: _Left) -> bool:
    """Whether a statement may keep what it is given, write to it, or give a part of it."""
    statement, kinds = left.statement, left.kinds()
    if _is_of_several(statement):
        return True
    has_objects = OBJECT in kinds or OBJECT in left.results
    if isinstance(statement, ir.Store) or has_objects or _calls_one_of(statement, (*_BY_IDENTITY, *_ASSIGNS)):
        return True
    is_written = any(ir.is_written_array(target.type) for target in targets_of(statement))
    if isinstance(statement, ir.Load):
        return is_written
    facts = effects_of(statement)
    is_numeric = all(isinstance(value, (Number, Complex)) for value in left.taken.values())
    if is_numeric and _is_operator(statement.callee):
        raise Unsupported("an operator by Python")  # which loops over elements are made of
    if is_written and (facts.view_of is not None or not facts.pure):
        return True
    if not facts.pure and any(isinstance(found, ListKind) for found in kinds):
        return True
    is_harmless = facts.pure or package_of(statement.callee) in ("numpy", "scipy", "adjoint")
    return not (is_harmless or is_numeric)


def _borrowing(e: Emission, left: _Left) -> list[Value]:
    if any(isinstance(found, ListKind) and found.element is None for found in left.kinds()):
        raise Unsupported("a call of Python with a list on which nothing was put")
    kinds = list(map(_laid_out, left.results))
    after = [
        (dense, dtype_of(found.element), found.rank, found.by_rows) if isinstance(found, ArrayKind) else None
        for found in kinds
    ]
    callback = _callback(e, left, after)
    tells = _asks_for_classes(left.statement) or _is_of_arrays(left.statement)
    lock = Lock.taken(e)
    objects = [
        number_of_type(e, value, var.type) if tells and isinstance(value, (Number, Complex)) else borrowing(e, value)
        for var, value in left.taken.items()
    ]
    return called(e, callback, objects, lock, list(map(Result, kinds)))


def _laid_out(found: Any) -> Any:
    """The kind of an array that is copied: one of several axes is laid out as it comes, one of none is a number."""
    if not isinstance(found, ArrayKind):
        return found
    return ArrayKind(found.element, found.rank, found.rank < 2) if found.rank else found.element


def _sharing(e: Emission, left: _Left) -> list[Value]:
    statement = left.statement
    if isinstance(statement, ir.Load) and isinstance(e.value(statement.base), (Number, Complex)):
        raise Unsupported("a part of a number")
    if isinstance(statement, ir.Store) and not isinstance(base := e.value(statement.base), (Array, Object)):
        if isinstance(base, List) and not base.kind.read_only:
            e.learn(("list", base.kind.key), OBJECT)  # into which an object is put
        raise Unsupported("a store to a value")
    if _calls_one_of(statement, _BY_IDENTITY):
        _require_same_answer(statement, left.taken.values())
    after: list[Any] = []
    told: list[Result] = []
    targets = targets_of(statement)
    for target, found, is_fixed in zip(targets, left.results, _fixed_views(left), strict=True):
        if not isinstance(found, ArrayKind):
            after.append(None)
            told.append(Result(found))
            continue
        is_written = is_fixed is False and ir.is_written_array(target.type)
        if is_written and not found.rank and _reads_arrays_without_axes(left):
            raise Unsupported("a view of an array without axes, which is written")
        after.append((announced, dtype_of(found.element), found.rank, is_written))
        told.append(Result(ArrayKind(found.element, found.rank, False, is_fixed is True), True))
    taken = {var: _as_python_has_it(e, value) for var, value in left.taken.items()}
    answer = c_api.by_function(e, statement, taken, told)
    if answer is not None:
        return answer
    callback = _callback(e, replace(left, taken=taken), after)
    lock = Lock.taken(e)
    return called(e, callback, [sharing(e, value, var.type) for var, value in taken.items()], lock, told)


def _fixed_views(left: _Left) -> tuple[bool | None, ...]:
    """For each result whether it is a view that nobody may write; None where it may be one."""
    statement, count = left.statement, len(targets_of(left.statement))
    if isinstance(statement, ir.Call) and isinstance(statement.callee, ByPython):
        return statement.callee.fixed or (False,) * count
    fixed: dict[ir.Atom, bool | None] = {
        var: isinstance(value, Array) and value.kind.read_only for var, value in left.taken.items()
    }
    return (gives_fixed_view(statement, fixed),) * count


def _reads_arrays_without_axes(left: _Left) -> bool:
    """Whether what is read are arrays without axes: numbers in machine code, which Python has as copies."""
    return any(
        value.kind.rank == 0
        if isinstance(value, Array)
        else isinstance(value, (Number, Complex)) and isinstance(var.type, (ir.Array, ir.Number))
        for var, value in left.taken.items()
    )


def _require_same_answer(statement: Leaving, values: Iterable[Value]) -> None:
    """Refuses questions for the identity of what becomes another object each time."""
    by_value = not _calls_one_of(statement, BY_IDENTITY)
    for value in values:
        is_whole = isinstance(value, Number) and value.kind[0] in "biu"
        if not (isinstance(value, (Object, List)) or (by_value and is_whole)):
            raise Unsupported("a question for the identity of a value")


def _callback(e: Emission, left: _Left, after: Sequence[tuple[Any, ...] | None]) -> Callback:
    """What runs a statement, which is the same in all sweeps as long as what it reads is of the same kinds."""
    numbers = tuple([value.kind if isinstance(value, (Number, Complex)) else None for value in left.taken.values()])
    known = tuple([(var, id(const.value)) for var, const in left.known.items()])
    key = id(left.statement), tuple(left.taken), numbers, known, tuple(after)
    return _noted(e, e.program.attempts.callback(key, left, lambda: callback_for(_alone(left, after))))


def _noted(e: Emission, callback: Callback) -> Callback:
    e.program.callbacks[callback.symbol] = callback
    return callback


def _alone(left: _Left, after: Sequence[tuple[Any, ...] | None]) -> Emitted:
    """A statement as a function of what it reads; numbers that are borrowed come as those of Python.

    ``after``: by what a result is checked, and with which options.
    """
    statement, taken = left.statement, left.taken
    params = tuple([ir.Var(var.hint, var.type, var.named) for var in taken])
    given: dict[ir.Var, ir.Atom] = {**left.known, **dict(zip(taken, params, strict=True))}
    own = getattr(getattr(statement, "callee", None), "__objclass__", object)
    before: list[ir.Statement] = []
    for (var, value), param in zip(taken.items(), params, strict=True):
        if isinstance(value, (Number, Complex)) and (value.kind not in _OF_PYTHON or issubclass(own, np.generic)):
            given[var] = number = ir.Var(var.hint, var.type)
            before.append(ir.Call((number,), dtype_of(value.kind).type, (param,)))
    told: list[ir.Atom] = []
    checks: list[ir.Statement] = []
    for target, check in zip(targets_of(statement), after, strict=True):
        told.append(target)
        for each in (*_announcement(statement, target), check):
            if each is not None:
                checked = ir.Var(target.hint, target.type)
                checks.append(ir.Call((checked,), each[0], (told[-1], *map(ir.Const, each[1:]))))
                told[-1] = checked
    body = ir.Block(
        (*before, refusing_unknown(substitute(statement, given)), *checks), ir.Return(tuple(told) or (ir.Const(None),))
    )
    name = getattr(getattr(statement, "callee", None), "__name__", "") or "index"
    return emit(ir.Function(name.strip("_<>") or "call", params, body))


def _announcement(statement: Leaving, target: ir.Var) -> Iterator[tuple[Any, ...]]:
    """By what it is checked that a function gives what its annotation says."""
    is_declared = isinstance(statement, ir.Call) and declaration_for(statement.callee) is not None
    type_ = target.type
    if is_declared and isinstance(type_, ir.Array) and type_.dims is not None:
        name = getattr(statement.callee, "__name__", "the function")  # type: ignore[union-attr]
        yield as_array, len(type_.dims), type_.dtype, name


# What only the compiler saw until now


@rule("object")
def object_of(e: Emission, value: Value, type_: ir.Type | None) -> Object:
    """A value as an object of Python."""
    if isinstance(value, (Shown, Bounds, Steps)):
        found = _as_python_has_it(e, value)
        assert isinstance(found, Object)
        return found
    if is_of_python(value):
        assert isinstance(value, Known)
        if isinstance(value.value, Raised):
            raise Unsupported("an exception as an object of Python")
        return constant(e, value.value)
    return as_object(e, value, type_)


def constant(e: Emission, value: Any) -> Object:
    """An object that the compiler knows."""
    body = ir.Block((), ir.Return((ir.Const(value),)))
    return _given_by(e, callback_for(emit(ir.Function("constant", (), body))), [])


def _as_python_has_it(e: Emission, value: Value) -> Value:
    """Texts, ranges and slices, which machine code has as their parts, as objects."""
    if isinstance(value, Bounds):
        return _made_of(e, display.make_slice, [value.lower, value.upper, value.step])
    if isinstance(value, Steps):
        return _made_of(e, range, [whole(value.start), whole(value.stop), whole(str(value.step))])
    return shown(e, value) if isinstance(value, Shown) else value


def _made_of(e: Emission, callee: Any, values: Sequence[Value]) -> Object:
    params = tuple([ir.Var("bound", ir.OPAQUE) for _ in values])
    made = ir.Var("made", ir.OPAQUE)
    body = ir.Block((ir.Call((made,), callee, params),), ir.Return((made,)))
    return _given_by(e, callback_for(emit(ir.Function(made.hint, params, body))), values)


def shown(e: Emission, text: Shown) -> Object:
    """A text of what is known at run time."""
    params: list[ir.Var] = []
    values: list[Value] = []
    statements: list[ir.Statement] = []
    pieces: list[ir.Atom] = []
    for part in text.parts:
        if isinstance(part, str):
            pieces.append(ir.Const(part))
            continue
        value, conversion, form = part
        is_float = isinstance(value, Complex) or (isinstance(value, Number) and value.kind[0] == "f")
        if isinstance(value, (Array, Tuple)) or (is_float and conversion in ("r", "a")):
            raise Unsupported("the notation of a number that may be Python's or NumPy's")
        params.append(ir.Var("value", ir.OPAQUE))
        values.append(value)
        piece = ir.Var("piece", ir.OPAQUE)
        statements.append(ir.Call((piece,), display.format_value, (params[-1], ir.Const(conversion), ir.Const(form))))
        pieces.append(piece)
    joined = ir.Var("text", ir.OPAQUE)
    statements.append(ir.Call((joined,), display.join_string, tuple(pieces)))
    function = ir.Function("text", tuple(params), ir.Block(tuple(statements), ir.Return((joined,))))
    return _given_by(e, callback_for(emit(function)), values)


def _given_by(e: Emission, callback: Callback, values: Sequence[Value]) -> Object:
    lock = Lock.taken(e)
    (found,) = called(e, _noted(e, callback), [borrowing(e, value) for value in values], lock, [Result(OBJECT)])
    assert isinstance(found, Object)
    return found
