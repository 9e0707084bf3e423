"""The decorators of `functools`: memos of a call of its own, functions chosen by a class, those that change nothing."""

from __future__ import annotations

import ast
import builtins
import functools
import types
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.entry import inputs
from adjoint.frontend.entry.captured import Guard, reader
from adjoint.frontend.functions.function_values import meaning
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Closure, TupleValue, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import functools_definitions
from adjoint.frontend.objects.attributes import bind
from adjoint.frontend.objects.classes import class_of, class_told
from adjoint.frontend.objects.construction import construct
from adjoint.sources.library_folders import is_of_a_library


@handles(functools.wraps)
def _wraps(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return ir.Const(python_functions.same)


@handles(functools.update_wrapper)
def _update_wrapper(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return args[0]


@handles(functools.cache)
def _cache(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return python_functions.call(lo, functools_definitions.memoised, args, node)


@handles(functools.lru_cache)
def _lru_cache(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not args or (isinstance(args[0], ir.Const) and (args[0] == NONE or isinstance(args[0].value, int))):
        return ir.Const(functools.cache)  # how much it remembers changes nothing of what it gives
    return _cache(lo, args[:1], {}, node)


@handles(functools.singledispatch)
def _single_dispatch(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return NotImplemented if node is None else construct(lo, _SINGLE, args, kwargs, node)


_SINGLE = functools_definitions.SingleDispatch


@handles(functools_definitions.class_in_annotation)
def _class_in_annotation(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    (function,) = args
    if isinstance(function, Closure):
        spec = function.source.node.args
        first = next((parameter.annotation for parameter in (*spec.posonlyargs, *spec.args)), None)
        found = meaning(lo, first, function.globals)
        if isinstance(found, type):
            return ir.Const(found)
    label = "the class for which this function is registered is not known here"
    raise lo.problem("AD0301", node, label, helps=("name it: @f.register(float)",))


# Functions of modules


def chosen_by_class(lo: Lowerer, function: Any, args: list[Value], node: ast.AST | None) -> Value | None:
    """The function that one made by ``singledispatch`` chooses for its first argument; None for other functions."""
    if getattr(function, "__code__", None) is not _CODE_OF_DISPATCH or not args:
        return None
    cls = _class_that_decides(lo, args[0], node)
    return inputs.captured(lo, function.dispatch(cls), ("dispatched", function, cls), function.__name__, node)


def method_by_class(
    lo: Lowerer, method: functools.singledispatchmethod[Any], args: list[Value], node: ast.AST | None
) -> Value:
    """The method that one made by ``singledispatchmethod`` chooses, bound to its object, the first argument."""
    receiver, *others = args
    owner = class_of(lo, receiver)
    if not others or owner is None:
        raise lo.problem("AD0301", node, "the argument is not given by position, by whose class the method is chosen")
    path = ("dispatched", method.dispatcher, _class_that_decides(lo, others[0], node))
    chosen = method.dispatcher.dispatch(path[2])
    lo.run_data.guards.append(Guard(path, reader(path), chosen))
    return bind(lo, receiver, owner, method.func.__name__, chosen, node)


def _class_that_decides(lo: Lowerer, value: Value, node: ast.AST | None) -> type:
    told = class_told(lo, value, node)
    if not isinstance(told, ir.Const):
        label = "the class of the first argument, by which the function is chosen, is not known here"
        raise lo.problem("AD0401", node, label, helps=("call the function that is meant",))
    cls: type = told.value
    return cls


def is_memo(function: Any) -> bool:
    """Whether a function has a memo."""
    return isinstance(function, functools._lru_cache_wrapper)


def _calls_itself(function: Any) -> bool:
    inner = function.__wrapped__
    return isinstance(inner, types.FunctionType) and any(
        inner.__globals__.get(name) is function for name in inner.__code__.co_names
    )


def known_already(function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """What a library's function with a memo says of modules, texts and numbers, or of nothing.

    It is the same in each call of a process.
    """
    if kwargs or not is_memo(function):
        return None
    code = getattr(function.__wrapped__, "__code__", None)
    if code is None or not is_of_a_library(code.co_filename):
        return None
    try:
        found = function(*map(_plain, args))
    except Exception:  # the program raises it, too, when it comes there; or it is of other things
        return None
    if type(found).__module__ == "importlib.metadata" and not found:  # a list there, in 3.11
        return ir.Const(())
    return _as_known(found)


def _as_known(found: Any) -> Value | None:
    """What a function gave, where nobody can change it: a text, a class, a module, or tuples of these."""
    if type(found) is not tuple:
        return ir.Const(found) if isinstance(found, (bool, str, types.ModuleType, type, type(None))) else None
    items = tuple([item for item in map(_as_known, found) if item is not None])
    return TupleValue(items) if len(items) == len(found) else None


def _plain(value: Value) -> Any:
    """A known value that nobody can change."""
    match value:
        case TupleValue(cls=builtins.tuple, items=items):
            return tuple(map(_plain, items))
        case ir.Const(value=types.ModuleType() | str() | bool() | int() | None as known):
            return known
        case ir.Const(value=tuple() as known):
            return tuple(_plain(ir.Const(item)) for item in known)
    raise TypeError("a value that is not known, or may change")


def remembered(lo: Lowerer, function: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """A call of a function with a memo, of what varies: that of the function behind it, of the same numbers.

    One that calls itself would take its time again: it has a memo for each call from outside.
    """
    memos = lo.run_data.memos
    if function in memos:
        return lo.call(memos[function], *_by_position(lo, function, args, kwargs, node), node)
    inner: Value = ir.Const(function.__wrapped__)
    if _calls_itself(function):
        args, kwargs = _by_position(lo, function, args, kwargs, node)
        memos[function] = inner = python_functions.call(lo, functools_definitions.memoised, [inner], node)
    try:
        result = lo.call(inner, args, kwargs, node)
    finally:
        memos.pop(function, None)
    if not _is_of_numbers(result):
        label = "what this returned before it returns again, and that may be written"
        helps = (f"call the function behind the cache: {function.__name__}.__wrapped__(...)",)
        raise lo.problem("AD0303", node, label, helps=helps)
    return result


def _by_position(
    lo: Lowerer, function: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, those that are named in the places of their parameters, and defaults."""
    inner, named = function.__wrapped__, dict(kwargs)
    code, defaults = inner.__code__, inner.__defaults__ or ()
    given = list(args)
    for place in range(len(args), code.co_argcount):
        name, index = code.co_varnames[place], place - code.co_argcount + len(defaults)
        if name in named:
            given.append(named.pop(name))
        elif index >= 0:
            given.append(inputs.captured(lo, defaults[index], ("default", inner, index), name, node))
        else:
            break
    return given, named


def _is_of_numbers(value: Value) -> bool:
    if isinstance(value, TupleValue):
        return all(map(_is_of_numbers, value.items))
    if isinstance(value, ir.Var) and isinstance(value.type, ir.Opaque):
        return value.type.signature is not None  # a function value, which nobody writes
    return isinstance(value, (ir.Const, ir.Undefined)) or (isinstance(value, ir.Var) and _is_fixed(value.type))


def _is_fixed(type_: ir.Type | None) -> bool:
    """Whether values of a type are numbers, or tuples of them, which nobody can change."""
    match type_:
        case ir.Tuple(items=items):
            return all(map(_is_fixed, items))
        case ir.List(element=part, is_tuple=True):
            return _is_fixed(part)
        case _:
            return isinstance(type_, ir.Scalar)


_CODE_OF_DISPATCH = functools.singledispatch(lambda _: None).__code__  # type: ignore[attr-defined]
