"""Types of calls, learnt by example: the callee is run on small values of its arguments' types.

What a function does with dtypes, ranks and extents is best known to the function itself. Each call is tried with
several choices of the extents that are not known; a result's extent is 1, or is not, where all examples agree.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from types import BuiltinMethodType, MethodDescriptorType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.rules import registry
from adjoint.rules.examples import axis_error_of, examples_of, lists_integers
from adjoint.rules.joined_types import join_all
from adjoint.rules.kinds import Elementwise, NoDerivative, Rule
from adjoint.rules.python import containers
from adjoint.rules.types_of_values import KINDS, abstract
from adjoint.runtime import display
from adjoint.runtime.arithmetic.checks import brings_arithmetic
from adjoint.runtime.arithmetic.numbers import choose
from adjoint.runtime.array_functions.arrays import reshape_like, unbroadcast
from adjoint.runtime.array_functions.sparse import is_sparse
from adjoint.types.classes.constant_types import EXAMPLES

_NOTHING = ir.Opaque(type(None))
_SHAPE = ir.List(ir.INT, is_tuple=True)


# --- types of calls ---------------------------------------------------------------------------------------------------

_cache: dict[Any, tuple[ir.Type, ...]] = {}
registry.on_change(_cache.clear)


_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.abs, abs)
_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)

_OF_SEQUENCES = (operator.add, operator.mul)
_OF_TEXTS = (*_OF_SEQUENCES, operator.mod)
_TEXT = ir.Opaque(str)
_MADE = {
    id(int): ir.INT,
    id(float): ir.FLOAT,
    id(bool): ir.BOOL,
    id(len): ir.INT,
    id(np.size): ir.INT,
    id(np.ndim): ir.INT,
    **{id(function): _TEXT for function in (str, repr, format, ascii, bin, hex, str.join, str.format)},
}
"""Functions whose result has one type, whatever they are given."""


def type_of_call(
    callee: Any, args: Sequence[ir.Atom], kwargs: Sequence[tuple[str, ir.Atom]] = ()
) -> tuple[ir.Type, ...]:
    """The types of the results of a call; never raises.

    Parameters
    ----------
    callee
        The function that is called.
    args, kwargs
        The arguments of the call.

    Returns
    -------
    tuple of Type
        One type for each result. Fresh memory has a storage of its own; a view has the storage of its base.
    """
    arguments = tuple([_known(atom) for atom in args])
    named = tuple([(name, _known(atom)) for name, atom in kwargs]) if kwargs else ()
    handler = containers.handler_for(callee)
    if handler is not None:
        return (handler(*(type_of_known(argument) for argument in arguments)),)
    made = _TEXT if _makes_text(callee) else _MADE.get(id(callee))
    if made is not None:
        return (made,)
    rule = registry.rule_for(operator.add if callee is operator.iadd else callee)
    if rule is None or (callee is operator.iadd and not _is_joined_text(rule, arguments)):
        return (ir.Opaque(_class_of_result(callee)),)
    key = (id(callee), arguments, named)
    template = _cache.get(key)
    if template is None:
        template = _cache[key] = _infer(rule, arguments, named)
    if len(template) == 1 and type(template[0]) is ir.Scalar:
        return template
    base = _viewed(rule, arguments)
    return tuple([_instantiated(type_, base) for type_ in template])


def surely_raises(callee: Any, args: Sequence[ir.Atom], kwargs: Sequence[tuple[str, ir.Atom]]) -> str | None:
    """What `numpy.exceptions.AxisError` a call raises whatever its arrays hold; None where it is not sure to."""
    rule = registry.rule_for(callee)
    arguments, named = [*map(_known, args)], [(name, _known(atom)) for name, atom in kwargs]
    given = [*arguments, *(value for _, value in named)]
    arrays = [type_.dims is not None for type_ in given if isinstance(type_, ir.Array)]
    are_known = all(isinstance(type_, (ir.Array, ir.Const)) or type_ == ir.FLOAT for type_ in given)
    if rule is None or not rule.pure or rule.writes or not arrays or not all(arrays) or not are_known:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return axis_error_of(rule, arguments, named)


def _class_of_result(callee: Any) -> type | None:
    """The class of what a function without a rule gives, where it is one that makes such objects; None for others."""
    if isinstance(callee, type):
        return callee if callee in EXAMPLES or brings_arithmetic(callee) else None
    cls = callee.__self__ if isinstance(callee, BuiltinMethodType) else None
    return cls if isinstance(cls, type) and cls in EXAMPLES and callee.__name__ in _MAKING_DATES else None


_MAKING_DATES = ("now", "today", "utcnow", "fromordinal", "fromisoformat", "fromisocalendar", "strptime", "combine")
"""Methods of the classes of dates and times that give an object of the class, of what does not vary."""


def _makes_text(callee: Any) -> bool:
    """Whether this is a method of a text that is known, and makes another one of texts or numbers."""
    is_method = isinstance(callee, BuiltinMethodType) and isinstance(callee.__self__, str)
    return is_method and callee.__name__ in ("format", "format_map", "join")


def _known(atom: ir.Atom) -> ir.Type | ir.Const:
    return atom.type if isinstance(atom, ir.Var) else atom if isinstance(atom, ir.Const) else ir.OPAQUE


def type_of_known(known: ir.Type | ir.Const) -> ir.Type:
    """The type of what is known of an argument."""
    return abstract(known.value) if isinstance(known, ir.Const) else known


def _viewed(rule: Rule, arguments: Sequence[ir.Type | ir.Const]) -> ir.Storage | None:
    if rule.view_of is None or rule.view_of >= len(arguments):
        return None
    base = arguments[rule.view_of]
    return base.storage if isinstance(base, ir.Array) else None


def _instantiated(type_: ir.Type, base: ir.Storage | None) -> ir.Type:
    """A type with storages of its own, or with the storage of ``base``."""
    match type_:
        case ir.Scalar() | ir.Opaque() | ir.Number():
            return type_
        case ir.Array(dtype=dtype, dims=dims):
            return ir.Array(dtype, dims, base or ir.Storage())
        case ir.List(element=element):
            return ir.List(None if element is None else _instantiated(element, base), is_tuple=type_.is_tuple)
        case ir.Dict(value=value):
            return ir.Dict(None if value is None else _instantiated(value, base))
        case ir.Tuple(items=items):
            return ir.Tuple(tuple(_instantiated(item, base) for item in items), type_.cls)
        case _:
            return type_


def _infer(
    rule: Rule, arguments: tuple[ir.Type | ir.Const, ...], named: tuple[tuple[str, ir.Type | ir.Const], ...]
) -> tuple[ir.Type, ...]:
    if rule.typed is not None:
        return rule.typed(arguments)
    if rule.fn in _OF_TEXTS and _is_joined_text(rule, arguments):
        return (_TEXT,)
    if not rule.pure or rule.writes:
        return (_NOTHING if rule.writes or rule.fn in display.PRINTS else ir.OPAQUE,) * rule.results
    special = _special(rule, arguments, named)
    if special is not None:
        return (special,)
    if _TEXT in arguments and registry.is_about_arrays(rule.fn):
        # the subscripts of a sum tell its rank, and those of an example another one
        return _fallback(rule, arguments, named)
    examples, of_any_rank = _tried(rule, arguments, named)
    if not examples:
        return _fallback(rule, arguments, named)
    if of_any_rank:
        results = [examples] if rule.results == 1 else list(zip(*examples, strict=True))
        return tuple(_of_any_rank(_weakened(_summary(rule, list(result)), "number")) for result in results)
    vague = _vagueness(arguments + tuple(value for _, value in named))
    if rule.results == 1:
        found = _weakened(_summary(rule, examples), vague)
        if _is_of_number(rule, arguments) and isinstance(found, ir.Array):
            found = ir.Number()
        return (_SHAPE if rule.fn is np.shape and isinstance(found, ir.Opaque) else found,)
    return tuple(
        _weakened(_summary(rule, [example[place] for example in examples]), vague) for place in range(rule.results)
    )


def _is_joined_text(rule: Rule, arguments: tuple[ir.Type | ir.Const, ...]) -> bool:
    """Whether texts are joined, one is repeated, or something is written into one."""
    texts = [known == _TEXT or (isinstance(known, ir.Const) and type(known.value) is str) for known in arguments]
    if rule.fn is operator.add:
        return all(texts)
    if rule.fn is operator.mod:
        return texts[0]
    counts = [type_of_known(known) == ir.INT for known in arguments]
    return sorted([texts, counts]) == [[False, True], [True, False]]


def _tried(
    rule: Rule, arguments: tuple[ir.Type | ir.Const, ...], named: Sequence[tuple[str, ir.Type | ir.Const]]
) -> tuple[list[Any], bool]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return examples_of(rule, arguments, named)


def _is_of_number(rule: Rule, arguments: tuple[ir.Type | ir.Const, ...]) -> bool:
    """Whether this is a method of arrays, asked of what may be a number, whose method of that name gives a number."""
    if not (isinstance(rule.fn, MethodDescriptorType) and rule.fn.__objclass__ is np.ndarray):
        return False
    twin = registry.rule_for(getattr(np.generic, rule.fn.__name__, None))
    return isinstance(arguments[0], ir.Number) and twin is not None and not twin.always_array


def _of_matrix(rule: Rule, arguments: tuple[ir.Type | ir.Const, ...]) -> ir.Type | None:
    """A sparse matrix where a function of elements is asked for those of one: it has a method for that."""
    if not isinstance(rule, Elementwise) and rule.fn not in _BY_ELEMENTS:
        return None
    rest = [known for known in arguments if not isinstance(known, ir.Const)]
    known = rest[0] if len(rest) == 1 else None
    return known if isinstance(known, ir.Opaque) and is_sparse(known.cls) else None


_BY_ELEMENTS = (np.conjugate, np.real, np.imag)


def _special(
    rule: Rule, arguments: tuple[ir.Type | ir.Const, ...], named: tuple[tuple[str, ir.Type | ir.Const], ...]
) -> ir.Type | None:
    """The type of a result of which examples would not tell, or nothing new; None where they have to be asked."""
    known = None if named else _of_plain_numbers(rule, arguments) or _of_matrix(rule, arguments)
    if known is not None:
        return known
    if rule.fn is operator.sub and any(type_of_known(argument) in _SETS for argument in arguments):
        return ir.Opaque(set)
    fitted = _fitted(type_of_known(arguments[1])) if rule.fn is unbroadcast and len(arguments) == 2 else None
    if fitted is not None:
        return fitted
    if rule.fn is reshape_like and len(arguments) == 2 and isinstance(type_of_known(arguments[1]), ir.Number):
        return type_of_known(arguments[1])  # examples of as many elements as there are hardly ever come up
    if registry.is_about_arrays(rule.fn):
        from adjoint.rules import shapes  # lazy

        return shapes.typed(rule.fn, arguments, dict(named))
    if rule.fn is choose and arguments and isinstance(type_of_known(arguments[0]), ir.Scalar):
        return _chosen(arguments[1:])
    if rule.fn is round and len(arguments) == 2 and isinstance(type_of_known(arguments[0]), ir.Number):
        return type_of_known(arguments[0])
    return _chosen(arguments) if rule.fn in (max, min) else None


def _fitted(like: ir.Type) -> ir.Type | None:
    """The type of a cotangent that has the shape and the kind of an array, whatever it had before."""
    if not isinstance(like, ir.Array) or like.dtype is None or like.dims is None:
        return None
    return ir.Array(like.dtype if ir.is_float_dtype(like.dtype) else np.dtype(float), like.dims)


_SETS = (ir.Opaque(set), ir.Opaque(frozenset))


def _of_plain_numbers(rule: Rule, arguments: tuple[ir.Type | ir.Const, ...]) -> ir.Type | None:
    """The type of what operators and functions of ``math`` give for numbers of Python, where examples need not tell."""
    kinds = set(map(_python_kind, arguments))
    if not kinds <= _REAL:
        return None
    if rule.fn in _COMPARISONS:
        return ir.BOOL
    return ir.FLOAT if "float" in kinds and (rule.fn in _ARITHMETIC or _is_smooth_in_math(rule)) else None


_REAL = frozenset(("float", "int", "bool"))


def _is_smooth_in_math(rule: Rule) -> bool:
    """Whether a function is one of the module ``math`` that varies with its arguments: it gives floats."""
    return isinstance(rule, Elementwise) and getattr(rule.fn, "__module__", None) == "math"


def _python_kind(argument: ir.Type | ir.Const) -> ir.ScalarKind | None:
    match argument:
        case ir.Const(value=value):
            return KINDS.get(type(value))
        case ir.Scalar(kind=kind, dtype=None):
            return kind
        case _:
            return None


def _chosen(arguments: tuple[ir.Type | ir.Const, ...]) -> ir.Type | None:
    """What is one of several numbers may be of the type of each: an example would show that of one."""
    types = [type_of_known(argument) for argument in arguments]
    return join_all(types) if all(isinstance(type_, (ir.Scalar, ir.Number)) for type_ in types) else None


# --- from results to types --------------------------------------------------------------------------------------------


def _summary(rule: Rule, results: list[Any]) -> ir.Type:
    """What the results of several examples have in common."""
    first = results[0]
    if all(isinstance(result, np.ndarray) for result in results):
        return _array_summary(rule, results)
    if all(type(result) is tuple and len(result) == len(first) for result in results):
        parts = zip(*results, strict=True)
        return ir.Tuple(tuple(_summary(rule, list(part)) for part in parts))
    if all(type(result) is list for result in results):
        parts_ = [part for result in results for part in result]
        return ir.List(_summary(rule, parts_) if parts_ else None)
    types = [abstract(result) for result in results]
    joined = join_all(types)
    return ir.OPAQUE if joined is None else joined


def _array_summary(rule: Rule, arrays: list[Any]) -> ir.Type:
    dtypes, ranks = {array.dtype for array in arrays}, {array.ndim for array in arrays}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    if dtype is not None and dtype.kind not in ir.KINDS_OF_DTYPES:
        return ir.Opaque(np.ndarray)
    if rule.dtype == "unknown":
        dtype = None
    if len(ranks) > 1:
        return ir.Array(dtype, None)
    trusted = rule.shape == "sampled" and len(arrays) > 1
    return ir.Array(
        dtype, tuple(_dim(set(extents), trusted) for extents in zip(*(a.shape for a in arrays), strict=True))
    )


def _dim(extents: set[int], trusted: bool) -> ir.Dim:
    if not trusted:
        return "any"
    return "one" if extents == {1} else "any" if 1 in extents else "many"


def _holds_lists(known: Any) -> bool:
    """Whether an argument is a tuple of lists of integers, such as axes: the rank may depend on how many they are."""
    return isinstance(known, ir.Tuple) and any(lists_integers(item) or _holds_lists(item) for item in known.items)


def _vagueness(arguments: Sequence[Any]) -> str:
    """``number``: it is not known what is an array; ``point``: what is one without axes; ``dtype``: of which dtype."""
    if any(_is_number_or_array(known) or _holds_lists(known) for known in arguments):
        return "number"
    if any(isinstance(known, ir.Number) for known in arguments):
        return "point"
    return "dtype" if any(map(_is_of_any_dtype, arguments)) else ""


def _is_number_or_array(known: Any) -> bool:
    """Whether it is not known of an argument, or of what it holds, whether it is an array."""
    match known:
        case ir.List(element=element):
            return _is_number_or_array(element)
        case ir.Tuple(items=items):
            return any(map(_is_number_or_array, items))
    return isinstance(known, ir.Number) and not known.has_no_axes


def _is_of_any_dtype(known: Any) -> bool:
    """Whether an argument is an array of which the dtype is not known, or holds such, or is such a dtype itself."""
    match known:
        case ir.Array(dtype=dtype):
            return dtype is None
        case ir.List(element=element):
            return _is_of_any_dtype(element)
        case ir.Tuple(items=items):
            return any(map(_is_of_any_dtype, items))
    return bool(known == ir.Opaque(np.dtype))


def _weakened(type_: ir.Type, vague: str) -> ir.Type:
    """A type that was learnt from examples, without what the vague arguments do not warrant."""
    match type_:
        case ir.Array(dims=()) | ir.Scalar(kind="float" | "complex", dtype=np.dtype()) if vague == "point":
            return ir.Number(has_no_axes=True)
        case ir.Array(dtype=dtype, dims=dims) if vague:
            smooth = dtype is None or dtype.kind in "fc"
            return ir.Array(None if smooth else dtype, None if vague == "number" else dims)
        case ir.Scalar(kind="float" | "complex", dtype=dtype) if vague and dtype is not None:
            return ir.Number()
        case ir.Tuple(items=items):
            return ir.Tuple(tuple(_weakened(item, vague) for item in items))
        case ir.List(element=element) if element is not None:
            return ir.List(_weakened(element, vague), is_tuple=type_.is_tuple)
        case _:
            return type_


def _of_any_rank(type_: ir.Type) -> ir.Type:
    """A number or an array where a number was seen, and arrays of any rank."""
    match type_:
        case ir.Array(dtype=dtype):
            return ir.Array(dtype, None)
        case ir.Scalar(kind="float" | "complex"):
            return ir.Number()
        case ir.Tuple(items=items):
            return ir.Tuple(tuple(map(_of_any_rank, items)), type_.cls)
        case ir.List(element=element) if element is not None:
            return ir.List(_of_any_rank(element), is_tuple=type_.is_tuple)
        case _:
            return type_


def _fallback(
    rule: Rule, arguments: tuple[ir.Type | ir.Const, ...], named: Sequence[tuple[str, ir.Type | ir.Const]]
) -> tuple[ir.Type, ...]:
    """The types of results where no example could be run."""
    if rule.fn is np.shape:
        return (_SHAPE,)
    if isinstance(rule, NoDerivative) or (isinstance(rule, Elementwise) and any(map(_brings_arithmetic, arguments))):
        return (ir.OPAQUE,) * rule.results
    arrays = [known for known in arguments if isinstance(known, ir.Array)]
    ranked = any(array.dims is None or array.dims for array in arrays)
    if rule.always_array or (ranked and isinstance(rule, Elementwise)):
        dtypes = {array.dtype for array in arrays}
        known = len(dtypes) == 1 and all(isinstance(argument, (ir.Array, ir.Const)) for argument in arguments)
        return (ir.Array(_dtype_of_others(rule, arguments, named) if known else None, None),) * rule.results
    if rule.view_of is not None and rule.view_of < len(arguments) and arguments[rule.view_of] in arrays:
        return (ir.Array(None, None),) * rule.results
    if rule.fn in _OF_SEQUENCES and any(map(_is_sequence, arguments)):
        return (ir.OPAQUE,)  # of a list and what may be a list, or a count, comes a list of anything
    return (ir.Number(),) * rule.results


def _dtype_of_others(
    rule: Rule, arguments: tuple[ir.Type | ir.Const, ...], named: Sequence[tuple[str, ir.Type | ir.Const]]
) -> np.dtype | None:
    """The dtype that results have without what is named and not known, such as axes; None where that may tell it."""
    if any(name == "dtype" for name, _ in named):
        return None
    examples, _ = _tried(rule, arguments, [(name, value) for name, value in named if isinstance(value, ir.Const)])
    dtypes = {getattr(part, "dtype", None) for each in examples for part in (each if rule.results > 1 else (each,))}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return dtype if dtype is not None and dtype.kind in ir.KINDS_OF_DTYPES else None


def _brings_arithmetic(known: ir.Type | ir.Const) -> bool:
    """Whether it is known of an argument that its class says what functions and operators give."""
    type_ = type_of_known(known)
    return isinstance(type_, ir.Opaque) and type_.cls is not None and brings_arithmetic(type_.cls)


def _is_sequence(argument: ir.Type | ir.Const) -> bool:
    match argument:
        case ir.Const(value=list() | tuple()) | ir.List() | ir.Tuple():
            return True
        case ir.Opaque(cls=type() as cls):
            return issubclass(cls, (list, tuple, str, bytes))
        case _:
            return False
