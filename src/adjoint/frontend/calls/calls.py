"""Calls: what stands for the function decides whether it is inlined, becomes a call in the IR, or makes an object."""

from __future__ import annotations

import array
import ast
import collections
import functools
import inspect
import operator as operators
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics.entrances import behind
from adjoint.frontend.calls import definitions, handlers
from adjoint.frontend.calls.keyword_tables import from_table
from adjoint.frontend.calls.opaque import library_classes
from adjoint.frontend.calls.opaque.arguments import SIGNATURE, any_carries
from adjoint.frontend.calls.operands import with_arrays
from adjoint.frontend.calls.rule_calls import call_by_declaration, call_into, call_rule, is_ruled, place_of_out
from adjoint.frontend.data import making
from adjoint.frontend.differentiation.inside.operators import call_operator, operator_of
from adjoint.frontend.entry import inputs
from adjoint.frontend.entry.captured import CONSTANT
from adjoint.frontend.functions.closures import closure_of
from adjoint.frontend.functions.inlining import call_closure
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.options.choices import call_for_each_structure, chosen, on_each_option
from adjoint.frontend.interpreter.values import (
    NONE,
    Closure,
    Method,
    Operator,
    Partial,
    Pullback,
    Record,
    Ref,
    SuperValue,
    Union,
    Value,
    is_stand_in,
)
from adjoint.frontend.library.in_python.collections_definitions import UsersList, UsersTable
from adjoint.frontend.objects.classes import class_of, is_object
from adjoint.frontend.objects.special_methods import special_method
from adjoint.frontend.syntax import starred
from adjoint.rules import registry
from adjoint.sources.definitions import underlying
from adjoint.sources.library_folders import is_of_a_library, package_of
from adjoint.types.array_libraries import are_loaded
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.structure import DICTS, home_of


def call_node(lo: Lowerer, node: ast.Call) -> Value:
    """A call expression."""
    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        return _super(lo, node)
    function = lo.evaluate(node.func)
    taken_apart = starred.columns(lo, node) if function == ir.Const(zip) else None
    if taken_apart is not None:
        return taken_apart
    if function == ir.Const(print):
        function, args = starred.printed(lo, node)
    else:
        args = starred.arguments(lo, function, node)
    kwargs: dict[str, Value] = {}
    tables: list[Value] = []
    for keyword in node.keywords:
        value = lo.evaluate(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        table = making.plain_dict(lo, value, keyword.value)
        record = lo.store.get(table)
        if isinstance(record, Record) and record.cls in DICTS:
            for name, part in record.parts:
                if name in kwargs:
                    label = f"{name!r} is handed over twice"
                    raise lo.mistake(TypeError, keyword.value, label)
                kwargs[name] = part
            continue
        is_table = isinstance(table, ir.Var) and isinstance(table.type, ir.Dict)
        if not is_table or (len(node.keywords) > 1 and keyword is not node.keywords[-1]) or tables:
            is_of_class = issubclass(class_of(lo, table) or object, Mapping)
            helps = ("make a plain dict of it, outside of the function: dict(table)",) if is_of_class else None
            raise lo.problem("AD0301", keyword.value, "'**' of something whose keys are not known", helps=helps)
        tables.append(table)
    if lo.block is None:
        return ir.UNDEFINED
    if tables:
        found = from_table(lo, function, len(args), kwargs, tables[0], node)
        if found is None:
            raise lo.problem("AD0301", node.keywords[-1].value, "'**' of something whose keys are not known")
        kwargs = found
    name = _name_of_value(lo, function, node)
    if name is not None:
        _note_definition(lo, name, node)
    lo.at(node)
    return starred.for_each_length(lo, args, lambda given: call_value(lo, function, given, kwargs, node), node)


def _name_of_value(lo: Lowerer, function: Value, node: ast.Call) -> ast.Name | None:
    """The variable that is called, or that an operator is applied to, where it holds what may have no source."""
    name: ast.expr = node.func
    if isinstance(function, Operator) and isinstance(name, ast.Call) and name.args:
        function, name = function.function, name.args[0]
    if not isinstance(name, ast.Name) or lo.frame is None or name.id not in lo.frame.cells:
        return None
    is_opaque = isinstance(function, ir.Const) and not isinstance(function.value, (types.FunctionType, type))
    return name if is_opaque or isinstance(function, (ir.Var, Ref)) else None


def _note_definition(lo: Lowerer, name: ast.Name, call: ast.Call) -> None:
    """Takes down where the name of what is called gets its value, for a refusal of that call."""
    assert lo.frame is not None
    code = lo.frame.closure.source.node
    spec = code.args
    parameters = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
    places: list[ast.arg | ast.Name] = [parameter for parameter in parameters if parameter.arg == name.id]
    names = (node for node in ast.walk(code) if isinstance(node, ast.Name))
    places.extend(node for node in names if node.id == name.id and isinstance(node.ctx, ast.Store))
    before = [(place.lineno, place.col_offset, place) for place in places if place.lineno <= name.lineno]
    defined = lo.span(max(before, key=lambda entry: entry[:2])[2]) if before else None
    at = lo.span(call)
    if defined is not None and at is not None:
        lo.run_data.called_values[at] = defined


def _super(lo: Lowerer, node: ast.Call) -> Value:
    frame = lo.frame
    while frame is not None and frame.self_cell is None:
        frame = frame.caller
    if frame is None or frame.self_cell is None or frame.closure.owner is None:
        raise lo.problem("AD0301", node, "'super()' outside a method")
    return SuperValue(frame.closure.owner, lo.store[frame.self_cell])


def call_value(
    lo: Lowerer, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """``function(*args, **kwargs)``"""
    if isinstance(function, (Method, Ref, ir.Var)):
        from adjoint.frontend.declared.targets import declared_for_object  # lazy

        declared = declared_for_object(lo, function, node)
        if declared is not None:
            return call_by_declaration(lo, *declared, args, kwargs, node)
    match function:
        case Closure():
            return call_closure(lo, function, args, kwargs, node)
        case Method(function=inner, receiver=receiver):
            return call_value(lo, inner, [receiver, *args], kwargs, node)
        case Partial(function=inner, args=first, kwargs=named):
            return call_value(lo, inner, [*first, *args], {**dict(named), **kwargs}, node)
        case Operator():
            return call_operator(lo, function, args, kwargs, node)
        case Pullback():
            from adjoint.frontend.differentiation.inside.pullbacks import call_pullback  # lazy

            return call_pullback(lo, function, args, kwargs, node)
        case ir.Const(value=ir.Function() as body):
            from adjoint.frontend.declared.implicit_calls import call_function  # lazy

            return call_function(lo, body, args, node)
        case ir.Const(value=constant):
            call = functools.partial(_call_constant, lo, constant, node=node)
            return call_for_each_structure(lo, call, args, kwargs, node)
        case Union():
            return on_each_option(lo, function, lambda option: call_value(lo, option, args, kwargs, node), node)
    if is_function_value(lo, function):
        from adjoint.frontend.functions import function_values  # lazy

        if isinstance(function, ir.Var):
            return function_values.call_carried(lo, function, args, kwargs, node)
        assert isinstance(function, Ref)
        return function_values.call_known(lo, function, args, kwargs, node)
    method = special_method(lo, function, "__call__")
    if method is not None:
        return call_value(lo, method, args, kwargs, node)
    if isinstance(function, ir.Var):
        from adjoint.frontend.calls.opaque.results import call_opaque_variable  # lazy

        return call_opaque_variable(lo, function, args, kwargs, node)
    raise lo.problem("AD0202", node, "what is called here is not known")


def is_function_value(lo: Lowerer, function: Value) -> bool:
    """Whether a value carries its derivatives: an object of :class:`adjoint.Fn`, whose function is known or not."""
    if isinstance(function, ir.Var):
        return isinstance(function.type, ir.Opaque) and function.type.signature is not None
    return isinstance(function, Ref) and is_marked(class_of(lo, function), SIGNATURE)


_NOT_GIVEN = ir.Const(np._NoValue)
"""What functions of NumPy take for an argument that is left out."""


def _by_stand_in(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """``list.append(self, x)`` of an object of a user's class that inherits from a container."""
    if not args or not isinstance(constant, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return None
    model = _MODELS.get(constant.__objclass__)
    cls = class_of(lo, args[0]) if is_object(lo, args[0]) else None
    if model is None or cls is None or not issubclass(cls, model):
        return None
    own = getattr(model, constant.__name__, None)
    return lo.call(ir.Const(own), args, kwargs, node) if isinstance(own, types.FunctionType) else None


_MODELS: dict[Any, type] = {list: UsersList, dict: UsersTable}


def _call_constant(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of what is known: what is said of it in tables and rules comes first, then what it is, then its source."""
    union = next((value for value in (*args, *kwargs.values()) if isinstance(value, Union)), None)
    if union is not None and (is_ruled(constant) or constant in (float, abs)):

        def apply(option: Value) -> Value:
            given = [chosen(arg, union, option) for arg in args]
            named = {name: chosen(value, union, option) for name, value in kwargs.items()}
            return _call_constant(lo, constant, given, named, node)

        return on_each_option(lo, union, apply, node)
    kwargs = {name: value for name, value in kwargs.items() if value != _NOT_GIVEN}
    if kwargs.get("device") in _ONLY_DEVICES and package_of(constant) == "numpy":
        del kwargs["device"]
    result = _by_stand_in(lo, constant, args, kwargs, node) or _by_table(lo, constant, args, kwargs, node)
    if result is not None:
        return result
    args, kwargs = with_arrays(lo, constant, args, kwargs, node)
    for means in (_by_rule, _by_kind, _by_source):
        result = means(lo, constant, args, kwargs, node)
        if result is not None:
            return result
    if not callable(constant):
        raise lo.mistake(TypeError, node, f"{type(constant).__name__!r} object is not callable")
    from adjoint.frontend.calls.opaque.results import call_opaque  # lazy

    return library_classes.note_made(lo, call_opaque(lo, constant, args, kwargs, node), underlying(constant))


_ONLY_DEVICES = (NONE, ir.Const("cpu"))


def _by_table(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """A function of another array library, one whose derivative is declared, one with a handler, an operator."""
    if are_loaded() or getattr(constant, "__name__", None) == "array_namespace":
        from adjoint.frontend.external import array_libraries  # lazy

        if array_libraries.gives_namespace(constant):
            return ir.Const(array_libraries.namespace(lo.settings.target.library, constant))
        numpys = array_libraries.as_numpys(lo, constant, args, kwargs, node)
        if numpys is not None:
            return lo.call(*numpys, node)
    declaration = registry.declaration_for(constant)
    if declaration is not None:
        return call_by_declaration(lo, declaration, None, args, kwargs, node)
    if package_of(constant) == "autograd":
        from adjoint.frontend.external.autograd.calls import called  # lazy

        result = called(lo, constant, args, kwargs, node)
        if result is not None:
            return result  # type: ignore[no-any-return]
    special = handlers.handler(constant)
    if special is not None:
        wrong = handlers.misfit(constant, args, kwargs)
        if wrong is not None:
            raise lo.mistake(TypeError, node, wrong)
        result = special(lo, args, kwargs, node)
        if result is not NotImplemented:
            return result  # type: ignore[no-any-return]
    operator = operator_of(lo, constant, args, kwargs, node)
    if operator is not None:
        return operator
    if is_marked(type(constant), CONSTANT) and type(constant).__name__ == "Signature":
        from adjoint.frontend.functions.function_values import converted  # lazy

        return converted(lo, constant, args, kwargs, node)
    if is_marked(type(constant), SIGNATURE):
        receiver = inputs.captured(lo, constant, ("object", constant), "f", node)
        return lo.call(receiver, args, kwargs, node)
    return None


def _by_rule(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """A function that is defined by another one, or that has a rule."""
    meaning = definitions.meaning_of(constant, args, kwargs)
    if meaning is not None and definitions.covers(lo, meaning, len(args), tuple(kwargs), node):
        return lo.call(ir.Const(meaning), args, kwargs, node)
    if meaning is not None and "out" in kwargs and place_of_out(constant) is not None:
        return call_into(lo, constant, args, kwargs, node)
    if meaning is not None and registry.is_functional(constant):
        definitions.refuse_functions(lo, constant, meaning, [*args, *kwargs.values()], node)
    if meaning is not None and registry.is_only_defined(constant):
        raise definitions.uncovered(lo, constant, meaning, node)
    if registry.rule_for(constant) is not None:
        return call_rule(lo, constant, args, kwargs, node)
    return None


def _by_kind(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """What functions are made of: objects of NumPy and Numba, bound methods, partial functions, classes."""
    meant = _meant(lo, constant, node)
    if meant is not None:
        return lo.call(meant, args, kwargs, node)
    match constant:
        case functools.partial():
            inner = inputs.captured(lo, constant.func, ("partial", constant, "func"), "f", node)
            first = [
                inputs.captured(lo, value, ("partial", constant, i), f"arg_{i}", node)
                for i, value in enumerate(constant.args)
            ]
            named = {
                name: inputs.captured(lo, value, ("partial", constant, name), name, node)
                for name, value in constant.keywords.items()
            }
            return lo.call(inner, [*first, *args], {**named, **kwargs}, node)
        case operators.itemgetter() | operators.attrgetter() | operators.methodcaller():
            from adjoint.frontend.calls.builtin_functions import operator_functions  # lazy

            return lo.call(operator_functions.function_of(lo, constant, node), args, kwargs, node)
        case functools.singledispatchmethod():
            from adjoint.frontend.library.functools_calls import method_by_class  # lazy

            return lo.call(method_by_class(lo, constant, args, node), args[1:], kwargs, node)
        case types.MethodType(__name__=name, __func__=formula) if name in _FORMULAS and _is_of_distribution(constant):
            return lo.call(Method(ir.Const(formula), ir.Const(constant.__self__)), args, kwargs, node)
        case types.MethodType() if _is_of_distribution(constant):
            from adjoint.frontend.calls.opaque.results import call_opaque  # lazy

            return call_opaque(lo, constant, args, kwargs, node)  # what nothing is said of, and generated methods
        case types.MethodType():
            receiver = inputs.captured(lo, constant.__self__, ("self", constant), "self", node)
            return lo.call(Method(ir.Const(constant.__func__), receiver), args, kwargs, node)
        case types.BuiltinFunctionType(__self__=container) if isinstance(container, _CONTAINERS):
            receiver = inputs.captured(lo, container, ("self", constant), "self", node)
            method = inspect.getattr_static(type(container), constant.__name__)
            return lo.call(Method(ir.Const(method), receiver), args, kwargs, node)
        case type():
            from adjoint.frontend.objects.construction import call_class  # lazy

            return call_class(lo, constant, args, kwargs, node)
    return None


_CONTAINERS = (list, dict, set, collections.deque, array.array, np.ndarray)
"""Classes in C whose methods write what the program may read by another name: ``push = items.append``."""


_FORMULAS = frozenset(f"_{log}{name}" for log in ("", "log") for name in ("pdf", "pmf", "cdf", "sf")) | {"_ppf", "_isf"}
"""Methods of SciPy's distributions that are written out for a location of zero and a scale of one."""


def _is_of_distribution(method: types.MethodType) -> bool:
    """Whether a method belongs to an object of SciPy's statistics, and nothing is said of it."""
    is_of_stats = home_of(type(method.__self__)).startswith("scipy.stats.")
    return is_of_stats and not registry.is_defined(method.__func__)


def _meant(lo: Lowerer, constant: Any, node: ast.AST | None) -> Value | None:
    """The function or class that one of NumPy or Numba stands for."""
    if package_of(type(constant)) == "numpy":
        from adjoint.frontend.library.arrays.functions import function_of  # lazy

        return function_of(lo, constant, node)
    if _is_of_numba(constant):
        from adjoint.frontend.external import numba_functions  # lazy

        return numba_functions.function_of(constant)
    return None


def _is_of_numba(constant: Any) -> bool:
    """Whether a function or class is Numba's, or made by it of one of the user's."""
    return "numba" in (package_of(type(constant)), package_of(constant))


def _by_source(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """A function whose source is at hand, perhaps behind a decorator of Python's library."""
    if behind(constant) is not None:  # which prepares exceptions for who calls it from outside
        return lo.call(ir.Const(behind(constant)), args, kwargs, node)
    if hasattr(constant, "__wrapped__"):
        from adjoint.frontend.control.contexts_of_generators import context_of, function_of_contexts  # lazy

        managed = function_of_contexts(constant)
        if managed is not None:
            return context_of(lo, ir.Const(managed), args, kwargs, node)
        from adjoint.frontend.library.functools_calls import chosen_by_class, is_memo, known_already, remembered  # lazy

        meant = chosen_by_class(lo, constant, args, node)
        if meant is not None:
            return lo.call(meant, args, kwargs, node)
        if is_memo(constant) and any_carries(lo, args, kwargs):
            return remembered(lo, constant, args, kwargs, node)
        known = known_already(constant, args, kwargs)
        if known is not None:
            return known
    function = underlying(constant) or _implementation(constant)
    if function is not None and function.__name__ == "__new__":
        from adjoint.frontend.objects.construction import by_given_new  # lazy

        made = by_given_new(lo, function, args, kwargs, node)
        if made is not None:
            return made
    if function is not None and _is_inlined(lo, function, args, kwargs):
        return call_closure(lo, closure_of(lo, function, node), args, kwargs, node)
    if function is not None and library_classes.is_followed(lo, function, args):
        body = functools.partial(call_closure, lo, closure_of(lo, function, node), args, kwargs, node)
        return library_classes.followed(lo, function, args[0], body)
    is_wanted = function in lo.settings.wanted and function not in lo.settings.unseen
    if function is not None and (is_wanted or library_classes.is_of_options(lo, function, [*args, *kwargs.values()])):
        body = functools.partial(call_closure, lo, closure_of(lo, function, node), args, kwargs, node)
        return library_classes.followed(lo, function, None, body)
    if function is None and not isinstance(constant, (types.BuiltinFunctionType, types.MethodDescriptorType)):
        call = inspect.getattr_static(type(constant), "__call__", None)
        if isinstance(call, types.FunctionType) and package_of(type(constant)) != "numpy":
            receiver = inputs.captured(lo, constant, ("object", constant), "self", node)
            return lo.call(ir.Const(call), [receiver, *args], kwargs, node)
    return None


def _implementation(constant: Any) -> types.FunctionType | None:
    """The function in Python that NumPy runs for arrays of its own, where nothing is declared of the one it shows."""
    found = getattr(constant, "__wrapped__", None)
    if type(constant) is not _SHOWN or not isinstance(found, types.FunctionType):
        return None
    is_known = registry.rule_for(constant) is not None or registry.definitions_of(constant)
    return None if is_known else found


_SHOWN = type(np.trim_zeros)


def _is_inlined(lo: Lowerer, function: types.FunctionType, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """A user's function always is; a library's only where it is handed something that may carry a derivative."""
    if is_stand_in(function) or not is_of_a_library(function.__code__.co_filename):
        return True
    return any_carries(lo, args, kwargs)
