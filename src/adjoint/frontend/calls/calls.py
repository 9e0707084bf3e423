"""Calls: a user's functions are inlined, functions with rules become calls in the IR, classes are constructed."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import operator as operators
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint import records
from adjoint.diagnostics import DifferentiationError
from adjoint.diagnostics.similar import did_you_mean
from adjoint.frontend.calls import definitions, handlers, library_classes
from adjoint.frontend.calls.opaque_calls import (
    SIGNATURE,
    keep_identity,
    keep_track,
    lend,
    may_carry,
    refuse_made_here,
    refuse_objects,
)
from adjoint.frontend.calls.operands import arrays, with_arrays
from adjoint.frontend.control.activations import (
    activation,
    is_deep,
    is_kept,
    is_structural,
    is_too_often,
    note_inlined,
)
from adjoint.frontend.control.called_forms import form_of_call
from adjoint.frontend.data import making, objects
from adjoint.frontend.differentiation.operators_inside import call_operator, call_pullback, operator_of
from adjoint.frontend.entry import inputs
from adjoint.frontend.entry.captured import CONSTANT
from adjoint.frontend.entry.partial_restarts import lowered_until_known
from adjoint.frontend.interpreter.choices import call_for_each_structure, chosen, on_each_option
from adjoint.frontend.interpreter.core import MAX_INLINE_DEPTH, Frame, Lowerer, Problem, Restart
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import (
    NONE,
    UNDEFINED,
    Cell,
    Closure,
    GeneratorValue,
    IteratorValue,
    Method,
    Operator,
    Partial,
    Pullback,
    Record,
    Ref,
    SuperValue,
    TupleValue,
    Union,
    Value,
    is_stand_in,
    local_mark,
)
from adjoint.frontend.iterators.iterators import drawn
from adjoint.frontend.syntax import starred
from adjoint.ir.effects import effects
from adjoint.ir.nodes import Atom, Call, Const, Function, Var
from adjoint.ir.types import OPAQUE, Array, List, Number, Opaque, Scalar
from adjoint.rules import registry
from adjoint.rules.declarations import Declaration
from adjoint.rules.declare import Bilinear, Elementwise, General, Linear, Rule
from adjoint.runtime import display
from adjoint.sources.definitions import find, underlying
from adjoint.sources.library_folders import is_class_of_a_library, is_of_a_library
from adjoint.sources.scope import own_yields, scope_of
from adjoint.types.array_libraries import are_loaded


def call_node(lo: Lowerer, node: ast.Call) -> Value:
    """A call expression."""
    from adjoint.frontend.syntax.expressions import evaluate  # lazy

    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        return _super(lo, node)
    function = evaluate(lo, node.func)
    taken_apart = starred.columns(lo, node) if function == Const(zip) else None
    if taken_apart is not None:
        return taken_apart
    args = starred.arguments(lo, function, node)
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(lo, keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        record = lo.store.get(value)
        if not isinstance(record, Record) or record.cls is not dict:
            raise lo.problem("AD0301", keyword.value, "'**' of something whose keys are not known")
        kwargs.update(record.parts)
    if lo.block is None:
        return UNDEFINED
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
    is_opaque = isinstance(function, Const) and not isinstance(function.value, (types.FunctionType, type))
    return name if is_opaque or isinstance(function, (Var, Ref)) else None


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
    if isinstance(function, (Method, Ref, Var)):
        from adjoint.frontend.declared.targets import declared_for_object  # lazy

        declared = declared_for_object(lo, function, node)
        if declared is not None:
            return _call_declared(lo, *declared, args, kwargs, node)
    match function:
        case Closure():
            return _call_closure(lo, function, args, kwargs, node)
        case Method(function=inner, receiver=receiver):
            return call_value(lo, inner, [receiver, *args], kwargs, node)
        case Partial(function=inner, args=first, kwargs=named):
            return call_value(lo, inner, [*first, *args], {**dict(named), **kwargs}, node)
        case Operator():
            return call_operator(lo, function, args, kwargs, node)
        case Pullback():
            return call_pullback(lo, function, args, kwargs, node)
        case Const(value=Function() as body):
            from adjoint.frontend.declared.implicit_calls import call_function  # lazy

            return call_function(lo, body, args, node)
        case Const(value=constant):
            call = functools.partial(_call_constant, lo, constant, node=node)
            return call_for_each_structure(lo, call, args, kwargs, node)
        case Union():
            return on_each_option(lo, function, lambda option: call_value(lo, option, args, kwargs, node), node)
    if is_function_value(lo, function):
        from adjoint.frontend.calls import function_values  # lazy

        if isinstance(function, Var):
            return function_values.call_carried(lo, function, args, kwargs, node)
        assert isinstance(function, Ref)
        return function_values.call_known(lo, function, args, kwargs, node)
    method = objects.special_method(lo, function, "__call__")
    if method is not None:
        return call_value(lo, method, args, kwargs, node)
    if isinstance(function, Var):
        return _call_opaque_variable(lo, function, args, kwargs, node)
    raise lo.problem("AD0202", node, "what is called here is not known")


def is_function_value(lo: Lowerer, function: Value) -> bool:
    """Whether a value carries its derivatives: an object of :class:`adjoint.Fn`, whose function is known or not."""
    if isinstance(function, Var):
        return isinstance(function.type, Opaque) and function.type.signature is not None
    return isinstance(function, Ref) and hasattr(objects.class_of(lo, function), SIGNATURE)


def is_ruled(constant: Any) -> bool:
    """Whether it is declared how a function is differentiated."""
    return registry.declaration_for(constant) is not None or registry.rule_for(constant) is not None


_NOT_GIVEN = Const(np._NoValue)
"""What functions of NumPy take for an argument that is left out."""


def _call_constant(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    union = next((value for value in (*args, *kwargs.values()) if isinstance(value, Union)), None)
    if union is not None and (is_ruled(constant) or constant in (float, abs)):

        def apply(option: Value) -> Value:
            given = [chosen(arg, union, option) for arg in args]
            named = {name: chosen(value, union, option) for name, value in kwargs.items()}
            return _call_constant(lo, constant, given, named, node)

        return on_each_option(lo, union, apply, node)
    kwargs = {name: value for name, value in kwargs.items() if value != _NOT_GIVEN}
    if are_loaded():
        from adjoint.frontend.calls import array_libraries  # lazy

        if array_libraries.gives_namespace(constant):
            return Const(array_libraries.namespace(lo.settings.target.library))
        numpys = array_libraries.as_numpys(lo, constant, args, kwargs, node)
        if numpys is not None:
            return call_value(lo, *numpys, node)
    declaration = registry.declaration_for(constant)
    if declaration is not None:
        return _call_declared(lo, declaration, None, args, kwargs, node)
    if (getattr(constant, "__module__", None) or "").startswith("numba") or type(constant).__name__ == "JitClassType":
        from adjoint.frontend.external import numba_functions  # lazy

        plain = numba_functions.plain_form(constant)
        if plain is not None:
            return call_value(lo, Const(plain), args, kwargs, node)
    special = handlers.handler(constant)
    if special is not None:
        result = special(lo, args, kwargs, node)
        if result is not NotImplemented:
            return result  # type: ignore[no-any-return]
    operator = operator_of(lo, constant, args, kwargs, node)
    if operator is not None:
        return operator
    if hasattr(type(constant), CONSTANT) and type(constant).__name__ == "Signature":
        from adjoint.frontend.calls.function_values import converted  # lazy

        return converted(lo, constant, args, kwargs, node)
    if hasattr(type(constant), SIGNATURE):
        receiver = inputs.captured(lo, constant, ("object", constant), "f", node)
        return call_value(lo, receiver, args, kwargs, node)
    args, kwargs = with_arrays(lo, constant, args, kwargs, node)
    meaning = definitions.meaning_of(constant, args, kwargs)
    if meaning is not None and definitions.covers(lo, meaning, len(args), tuple(kwargs), node):
        return call_value(lo, Const(meaning), args, kwargs, node)
    if meaning is not None and registry.is_functional(constant):
        definitions.refuse_functions(lo, constant, meaning, [*args, *kwargs.values()], node)
    if meaning is not None and registry.is_only_defined(constant):
        raise definitions.uncovered(lo, constant, meaning, node)
    if registry.rule_for(constant) is not None:
        return call_rule(lo, constant, args, kwargs, node)
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
            return call_value(lo, inner, [*first, *args], {**named, **kwargs}, node)
        case operators.itemgetter() | operators.attrgetter() | operators.methodcaller():
            from adjoint.frontend.calls import operator_functions  # lazy

            return call_value(lo, operator_functions.function_of(lo, constant, node), args, kwargs, node)
        case types.MethodType() if type(constant.__self__).__module__.startswith("scipy.stats."):
            return _call_opaque(lo, constant, args, kwargs, node)  # what nothing is said of, and generated methods
        case types.MethodType():
            receiver = inputs.captured(lo, constant.__self__, ("self", constant), "self", node)
            return call_value(lo, Method(Const(constant.__func__), receiver), args, kwargs, node)
        case type():
            return call_class(lo, constant, args, kwargs, node)
    if type(constant).__module__.startswith("numpy"):
        from adjoint.frontend.library.array_functions import function_of  # lazy

        meant = function_of(lo, constant, node)
        if meant is not None:
            return call_value(lo, meant, args, kwargs, node)
    if type(constant).__module__.startswith("numba.np.ufunc"):
        from adjoint.frontend.external.numba_functions import function_of as function_of_numba  # lazy

        meant = function_of_numba(lo, constant, node)
        if meant is not None:
            return call_value(lo, meant, args, kwargs, node)
    if hasattr(constant, "__wrapped__"):
        from adjoint.frontend.control.contexts_of_generators import context_of, function_of_contexts  # lazy

        managed = function_of_contexts(constant)
        if managed is not None:
            return context_of(lo, Const(managed), args, kwargs, node)
        from adjoint.frontend.library.functools_calls import chosen_by_class, is_memo, remembered  # lazy

        meant = chosen_by_class(lo, constant, args, node)
        if meant is not None:
            return call_value(lo, meant, args, kwargs, node)
        if is_memo(constant) and any(may_carry(lo, value) for value in (*args, *kwargs.values())):
            return remembered(lo, constant, args, kwargs, node)
    function = underlying(constant)
    if function is not None and _is_inlined(lo, function, args, kwargs):
        return _call_closure(lo, closure_of(lo, function, node), args, kwargs, node)
    if function is not None and library_classes.is_followed(lo, function, args):
        body = functools.partial(_call_closure, lo, closure_of(lo, function, node), args, kwargs, node)
        return library_classes.followed(lo, function, args[0], body)
    if function is None and not isinstance(constant, (types.BuiltinFunctionType, types.MethodDescriptorType)):
        call = inspect.getattr_static(type(constant), "__call__", None)
        if isinstance(call, types.FunctionType) and not type(constant).__module__.startswith("numpy"):
            receiver = inputs.captured(lo, constant, ("object", constant), "self", node)
            return call_value(lo, Const(call), [receiver, *args], kwargs, node)
    return _call_opaque(lo, constant, args, kwargs, node)


def _call_declared(
    lo: Lowerer,
    declaration: Declaration,
    receiver: Value | None,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    from adjoint.frontend.declared.calls import call_declared  # lazy

    return call_declared(lo, declaration, args, kwargs, node, receiver)


# -- functions with rules ---------------------------------------------------------------------------------------------


def _refuse_arrays_for_numbers(lo: Lowerer, callee: Any, args: list[Value], node: ast.AST | None) -> None:
    """Refuses what functions of the module ``math`` do not take: they take numbers, and arrays of one element."""
    if getattr(callee, "__module__", None) not in ("math", "cmath"):
        return
    for value in args:
        kind = _kind_of_no_number(lo, value)
        if kind is not None:
            name, which = callee.__name__, repr(value.hint) if isinstance(value, Var) and value.named else "this"
            own = {"pow": "power", "atan2": "arctan2", **{f"a{each}": f"arc{each}" for each in _ARCS}}.get(name, name)
            helps = (f"np.{own} takes {kind[1]}",) if hasattr(np, own) else ("call it for each element",)
            label = f"{callee.__module__}.{name}() takes a number, and {which} is {kind[0]}"
            raise lo.mistake(TypeError, node, label, helps=helps)


def _kind_of_no_number(lo: Lowerer, value: Value) -> tuple[str, str] | None:
    """What a value is that is no number, in the singular and in the plural; None for others."""
    match value:
        case Var(type=Array(dims=dims)) if "many" in (dims or ()):
            return "an array", "arrays"
        case Var(type=List()) | TupleValue():
            return "a list" if isinstance(value, Var) else "a tuple", "arrays and lists"
    if isinstance(value, Ref):
        record = lo.store.get(value)
        if isinstance(record, Record) and record.cls in (list, dict):
            return f"a {record.cls.__name__}", "arrays and lists"
    return None


def _refuse_unknown_keyword(lo: Lowerer, callee: Any, name: str, keyword: str, node: ast.AST | None) -> None:
    """Refuses a keyword that a function of a library does not have at all."""
    try:
        known = inspect.signature(callee).parameters
    except (TypeError, ValueError):
        return
    if keyword in known or any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    label, helps = f"{name}() has no parameter {keyword!r}", did_you_mean(keyword, known, "{}=")
    raise lo.mistake(TypeError, node, label, code="AD0203", helps=helps, name=name)


_ARCS = ("sin", "cos", "tan", "sinh", "cosh", "tanh")


def call_rule(lo: Lowerer, callee: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """A call of a function that has a rule, with what it is told as a sequence spread out."""
    declaration = registry.declaration_for(callee)
    if declaration is not None:
        return _call_declared(lo, declaration, None, args, kwargs, node)
    rule = registry.rule_for(callee)
    assert rule is not None
    args, kwargs = _with_out_named(callee, rule, args, kwargs)
    bound, named = rule.bind(args, kwargs)
    if "out" in named and named["out"] != NONE:
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        return _into(lo, callee, args, kwargs["out"], rest, node)
    if isinstance(rule, Elementwise) and (named or len(bound) != len(rule.accepted)):
        taken = len(rule.parameters)
        if taken and (len(bound) > taken or len(bound) + len(named) < _needed(rule)):
            raise lo.mistake(TypeError, node, _misfit(rule.name, taken, len(bound)), code="AD0203", name=rule.name)
    _refuse_arrays_for_numbers(lo, callee, args, node)
    uncovered = rule.unsupported(len(bound), tuple(named))
    if uncovered and any(may_carry(lo, value) for value in (*bound, *named.values())):
        _refuse_unknown_keyword(lo, callee, rule.name, uncovered[0], node)
        raise lo.problem("AD0204", node, f"{rule.name!r} has no derivative with the argument {uncovered[0]!r}")
    spread = registry.variadic(callee)
    if spread is not None and bound:
        items = _parts(lo, bound[0])
        if items is not None:
            later = list(bound[1:])
            names = [p.name for p in rule.parameters[1:]]
            named = {**dict(zip(names, later, strict=False)), **named}
            return call_rule(lo, spread, arrays(lo, items, node), named, node)
    observer = getattr(rule, "observes", False) or type(rule).__name__ in ("NoDerivative", "Observer")
    if isinstance(rule, (Elementwise, Linear, Bilinear, General)):
        refuse_objects(lo, rule, (*bound, *named.values()), node)
    names = [*(parameter.name for parameter in rule.parameters), *("" for _ in bound)]
    placed = [_axes(lo, name, value) for name, value in zip(names, bound, strict=False)]
    atoms = [materialize(lo, value, node, observer=observer) for value in placed]
    pairs = {name: materialize(lo, _axes(lo, name, each), node, observer=observer) for name, each in named.items()}
    return objects.call_any(lo, callee, atoms, node, **pairs)


def _axes(lo: Lowerer, name: str, value: Value) -> Value:
    """Axes that are a tuple at run time, which NumPy does not take as a list."""
    return lo.open.call(tuple, value) if name in ("axis", "axes") and making.is_tuple(value) else value  # type: ignore[arg-type]


def _with_out_named(
    callee: Any, rule: Rule, args: list[Value], kwargs: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, the array that its result goes to by its name."""
    place = place_of_out(callee)
    if place is None or len(args) <= place:
        return args, kwargs
    given = list(args[:place])
    while given and given[-1] == NONE and len(given) > len(rule.accepted):
        given.pop()
    later = [p.name for p in rule.parameters[place + 1 :]]
    return given, {"out": args[place], **dict(zip(later, args[place + 1 :], strict=False)), **kwargs}


@functools.lru_cache(maxsize=512)
def place_of_out(callee: Any) -> int | None:
    """Which positional argument of a function of NumPy is the array that the result goes to."""
    if isinstance(callee, np.ufunc):
        return callee.nin
    if not getattr(callee, "__module__", "").startswith("numpy"):
        return None
    try:
        parameters = inspect.signature(callee).parameters.values()
    except (TypeError, ValueError):
        return None
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return positional.index("out") if "out" in positional else None


def _needed(rule: Elementwise) -> int:
    return sum(parameter.default is parameter.empty for parameter in rule.parameters)


def _misfit(name: str, taken: int, given: int) -> str:
    return f"{name}() takes {taken} argument{'' if taken == 1 else 's'}, {given} {'is' if given == 1 else 'are'} given"


def _into(
    lo: Lowerer, callee: Any, args: list[Value], out: Value, kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    from adjoint.frontend.library.array_writers import into  # lazy

    where = kwargs.pop("where", Const(True)) if isinstance(callee, np.ufunc) else Const(True)
    return into(lo, lambda: call_rule(lo, callee, args, kwargs, node), callee, args, out, where, node)


def _parts(lo: Lowerer, value: Value) -> tuple[Value, ...] | None:
    if isinstance(value, (GeneratorValue, IteratorValue)):
        value = drawn(lo, value, None)
    return value.items if isinstance(value, TupleValue) else making.list_items(lo, value)


# -- functions whose body is not at hand ------------------------------------------------------------------------------


def _call_opaque(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    known = _text_of(lo, constant, args, kwargs, node)
    if known is not None:
        return known
    facts = effects(constant)
    for value in (*args, *kwargs.values()):
        refuse_made_here(lo, value, node)
        keep_track(lo, value)
        if not (facts.known and facts.pure):
            keep_identity(lo, value)
    atoms = [materialize(lo, value, node) for value in args]
    pairs = {name: materialize(lo, value, node) for name, value in kwargs.items()}
    lend(constant, atoms, pairs)
    result = objects.call_any(lo, constant, list(atoms), node, **pairs)
    _note_given(lo, result, (*atoms, *pairs.values()))
    if isinstance(result, Var) and type(result.type) is Opaque and getattr(constant, "__annotations__", None):
        from adjoint.frontend.calls.function_values import as_annotated, returned_by  # lazy

        return as_annotated(lo, result, returned_by(constant), node)
    return result


def _text_of(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """What a method of a text that is known gives: ``"a b".split()``."""
    if not isinstance(constant, types.BuiltinFunctionType) or not isinstance(constant.__self__, str):
        return None
    if not all(isinstance(value, Const) for value in (*args, *kwargs.values())):
        return None
    try:
        found = constant(*[arg.value for arg in args], **{name: value.value for name, value in kwargs.items()})  # type: ignore[union-attr]
    except Exception:  # raises at run time too
        return None
    return making.new_list(lo, [Const(item) for item in found], node) if isinstance(found, list) else Const(found)


def _call_opaque_variable(
    lo: Lowerer, function: Var, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    if isinstance(function.type, (Scalar, Array, Number)):
        raise lo.mistake(TypeError, node, f"{function.hint!r} is a number or an array, and cannot be called")
    for value in (*args, *kwargs.values()):
        refuse_made_here(lo, value, node)
        keep_track(lo, value)
    atoms: list[Atom] = [function, *(materialize(lo, value, node) for value in args)]
    named = {name: materialize(lo, value, node) for name, value in kwargs.items()}
    lend(display.call, atoms, named)
    pairs = tuple(named.items())
    target = Var("t", OPAQUE)
    lo.emit(Call((target,), display.call, tuple(atoms), pairs, lo.span(node)))
    _note_given(lo, target, (*atoms, *named.values()))
    known = next((item.read(lo.run_data.root) for item in lo.run_data.inputs if item.var is function), None)
    if getattr(known, "__annotations__", None):  # the very object is part of the key of the specialisation
        from adjoint.frontend.calls.function_values import as_annotated, returned_by  # lazy

        return as_annotated(lo, target, returned_by(known), node)
    return target


def _note_given(lo: Lowerer, result: Value, given: tuple[Atom, ...]) -> None:
    """Takes down what a function that nobody sees was given: what it returns may have captured that."""
    if isinstance(result, Var) and type(result.type) is Opaque:
        lo.run_data.made_with[result] = given


def _is_inlined(lo: Lowerer, function: types.FunctionType, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """A user's function always is; a library's only where it is handed something that may carry a derivative."""
    if is_stand_in(function) or not is_of_a_library(function.__code__.co_filename):
        return True
    return any(may_carry(lo, value) for value in (*args, *kwargs.values()))


# -- classes ----------------------------------------------------------------------------------------------------------


def call_class(lo: Lowerer, cls: type, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    if _is_users(cls) and node is not None:
        return objects.construct(lo, cls, args, kwargs, node)
    if node is not None and library_classes.is_looked_into(lo, cls, [*args, *kwargs.values()]):
        body = functools.partial(objects.construct, lo, cls, args, kwargs, node)
        return library_classes.followed(lo, cls, None, body)
    atoms = [materialize(lo, value, node, observer=True) for value in args]
    pairs = {name: materialize(lo, value, node, observer=True) for name, value in kwargs.items()}
    lend(cls, atoms, pairs)
    return objects.call_any(lo, cls, list(atoms), node, **pairs)


def _is_users(cls: type) -> bool:
    if issubclass(cls, BaseException) or hasattr(cls, "__members__"):
        return False
    if issubclass(cls, tuple):
        return hasattr(cls, "_fields")
    if local_mark(cls) is not None:
        return True
    # What runs a program, a profiler or a test runner, may pass for its main module.
    is_of_library = cls.__module__ != "__main__" and is_class_of_a_library(cls)
    return not is_of_library and not library_classes.is_native(cls)


def bind_dataclass(
    lo: Lowerer, cls: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Iterator[tuple[str, Value]]:
    """The values of a dataclass's fields, and of what only ``__post_init__`` gets, for a call of its ``__init__``."""
    remaining, named = list(args), dict(kwargs)
    for spec in cls.__dataclass_fields__.values():
        if spec._field_type is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            continue
        if spec.init and spec.name in named:
            yield spec.name, named.pop(spec.name)
        elif spec.init and remaining and not spec.kw_only:
            yield spec.name, remaining.pop(0)
        elif spec.default is not dataclasses.MISSING:
            yield spec.name, inputs.captured(lo, spec.default, ("default", cls, spec.name), spec.name, node)
        elif spec.default_factory is not dataclasses.MISSING:
            yield spec.name, call_value(lo, Const(spec.default_factory), [], {}, node)
        elif spec.init:
            raise lo.mistake(TypeError, node, f"the field {spec.name!r} of {cls.__name__!r} is missing", code="AD0203")
    if remaining or named:
        raise lo.mistake(TypeError, node, f"the call does not fit the fields of {cls.__name__!r}", code="AD0203")


# -- functions whose body is at hand ----------------------------------------------------------------------------------


def _defaults_of(function: types.FunctionType) -> list[tuple[str, Any]]:
    """The default values of parameters that may be given by position, with the names of these."""
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    return list(zip(names[len(names) - len(values) :], values, strict=True))


def closure_of(lo: Lowerer, function: types.FunctionType, node: ast.AST | None) -> Closure:
    """The closure of a function object."""
    known = lo.run_data.closures.get(function)
    if known is not None:
        return known
    if is_stand_in(function):
        raise lo.problem("AD0402", node, f"{function.__name__!r} belongs to a class of an earlier iteration or call")
    try:
        found = find(function)
    except DifferentiationError as error:
        raise Problem(error.diagnostics[0]) from None
    cells: dict[str, Cell] = {}
    owner = None
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name == "__class__":
            owner = cell.cell_contents
            continue
        cells[name] = inputs.cell_of(lo, cell, name)
    origin = ("own_default",) if function is lo.run_data.root else ("default", function)
    defaults = tuple(
        inputs.captured(lo, value, (*origin, i), name, node) for i, (name, value) in enumerate(_defaults_of(function))
    )
    kw_defaults = {
        name: inputs.captured(lo, value, (*origin, name), name, node)
        for name, value in (function.__kwdefaults__ or {}).items()
    }
    closure = Closure(found, cells, function.__globals__, defaults, kw_defaults, owner, function)
    lo.run_data.closures[function] = closure
    return closure


MANY_ACTIVATIONS = 4
"""A function that is inlined in itself more often than this may be too deep for it."""


def _call_closure(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    code = closure.source.node
    for name, cell in closure.cells.items():
        inputs.fill_cell(lo, cell, name, node)
    if own_yields(code):
        from adjoint.frontend.iterators.generators import made_by_call  # lazy

        return made_by_call(lo, closure, args, kwargs, node)
    return lowered_until_known(lo, lambda: _lowered_call(lo, closure, args, kwargs, node), code)


def _lowered_call(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of a function that is inlined, or lowered once for several calls."""
    code = closure.source.node
    form = functools.partial(form_of_call, lo, args, kwargs)
    if code in lo.settings.called or is_kept(lo, closure, form):
        from adjoint.frontend.control.recursion import call_definition  # lazy

        return call_definition(lo, closure, args, kwargs, node)
    active = activation(lo, closure)
    if active is not None and not is_structural(lo, active, args):
        lo.settings.called.add(code)
        if is_deep(lo):  # as where Python's stack comes to its end before
            lo.settings.called |= lo.settings.nested
        raise Restart(code)
    if active is not None and is_too_often(lo, code):
        lo.settings.called.add(code)
        lo.settings.often.add(code)
        raise Restart(code)
    if lo.depth > MAX_INLINE_DEPTH:
        lo.settings.called.add(code)
        raise Restart(code)
    before = lo.run_data.emitted
    result = run_closure(lo, closure, args, kwargs, node)
    note_inlined(lo, code, before, form)
    return result


def run_closure(
    lo: Lowerer,
    closure: Closure,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
    returned: Callable[[Value], Value] | None = None,
    *,
    stays_function: bool = False,
) -> Value:
    """Runs the body of a function in the open block; ``returned`` is applied where a value is returned."""
    from adjoint.frontend.syntax.expressions import evaluate  # lazy
    from adjoint.frontend.syntax.statements import run  # lazy

    outer_keys = set(lo.store)
    frame = activated(lo, closure, args, kwargs, node)
    frame.returned = returned
    if stays_function and frame.call_span is not None:
        frame.call_span = records.replace(frame.call_span, is_one_of_many=True)
    span = lo.open.span
    lo.frame, lo.depth = frame, lo.depth + 1
    recorded = (closure.source.node, tuple(args))
    if sum(active is closure.source.node for active, _ in lo.run_data.activations) >= MANY_ACTIVATIONS:
        lo.settings.nested.add(closure.source.node)
    lo.run_data.activations.append(recorded)
    body = closure.source.node.body

    def execute() -> Value:
        if isinstance(body, list):
            if lo.settings.adjoined and closure.source.node in lo.settings.adjoined:
                from adjoint.frontend.iterators.effect_watches import taken_down  # lazy

                with taken_down(lo, frame.log):
                    run(lo, body)
            else:
                run(lo, body)
            return NONE
        value = evaluate(lo, body)
        return value if returned is None else returned(value)

    try:
        result = lo.run_region(execute)
    finally:
        lo.frame, lo.depth = frame.caller, lo.depth - 1
        assert lo.run_data.activations.pop() is recorded
    if lo.block is not None:
        lo.block.span = span
    if not frame.makes_closures:
        for cell in frame.cells.values():
            if cell not in outer_keys:
                lo.store.pop(cell, None)
    return result


def activated(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Frame:
    """An activation of a function, its parameters bound."""
    scope = scope_of(closure.source.node)
    bound = bind(lo, closure, args, kwargs, node)
    cells = {name: Cell(name) for name in sorted(scope.local)}
    for name in scope.nonlocals:
        cells[name] = closure.cells[name]
    frame = Frame(closure, cells, lo.frame, lo.span(node))
    parameters = closure.source.node.args
    first = [*parameters.posonlyargs, *parameters.args][:1]
    if first and closure.owner is not None:
        frame.self_cell = cells[first[0].arg]
    if lo.settings.tracked:
        from adjoint.frontend.flow.derivatives import bound_parameters  # lazy

        bound = bound_parameters(lo, closure.source.node, bound)
        frame.given = bound
    for name, value in bound.items():
        lo.store[cells[name]] = value
    if any(map(_may_be_annotated, bound.values())):
        _as_annotated(lo, frame, bound, node)
    return frame


def _may_be_annotated(value: Value) -> bool:
    """Whether nothing is known of a value but what an annotation may say."""
    return isinstance(value, Var) and type(value.type) is Opaque and value.type.signature is None


def _as_annotated(lo: Lowerer, frame: Frame, bound: dict[str, Value], node: ast.AST | None) -> None:
    """Takes arguments of which nothing is known for the function values that the annotations of parameters say."""
    spec = frame.closure.source.node.args
    annotations = {p.arg: p.annotation for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if p.annotation}
    if not annotations:
        return
    from adjoint.frontend.calls.function_values import as_annotated, meaning  # lazy

    for name, value in bound.items():
        if name in annotations and _may_be_annotated(value):
            said = meaning(lo, annotations[name], frame.closure.globals)
            lo.store[frame.cells[name]] = as_annotated(lo, value, said, node)


def _signature(name: str, spec: ast.arguments) -> str:
    """A function with its parameters, as messages show it."""
    named = ["*", *(p.arg for p in spec.kwonlyargs)] if spec.kwonlyargs and spec.vararg is None else []
    return f"{name}({', '.join([*(p.arg for p in [*spec.posonlyargs, *spec.args]), *named])})"


def _rest(args: list[Value]) -> Value:
    """What a ``*`` parameter takes: a tuple, of a length that may be known at run time only."""
    match args:
        case [IteratorValue(kind="rest", parts=(left,))]:
            return left
        case _:
            return TupleValue(tuple(args))


def bind(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> dict[str, Value]:
    """Parameters of a function with the values of a call."""
    spec = closure.source.node.args
    positional = [*spec.posonlyargs, *spec.args]
    name = closure.source.name
    bound: dict[str, Value] = {}
    named = dict(kwargs)
    for parameter, value in zip(positional, args, strict=False):
        bound[parameter.arg] = value
    if spec.vararg is not None:
        bound[spec.vararg.arg] = _rest(args[len(positional) :])
    elif len(args) > len(positional):
        label, helps = _misfit(name, len(positional), len(args)), [f"it is {_signature(name, spec)}"]
        path = getattr(closure.source.code, "co_qualname", name).split(".")
        if len(path) > 1 and path[-2] != "<locals>" and len(args) == len(positional) + 1:
            helps.append(f"a method takes its object first: {name}(self, ...)")
        raise lo.mistake(TypeError, node, label, code="AD0203", helps=helps, name=name)
    only_positional = {parameter.arg for parameter in spec.posonlyargs}
    for parameter in [*positional, *spec.kwonlyargs]:
        if parameter.arg in named and parameter.arg not in only_positional:
            if parameter.arg in bound:
                raise lo.mistake(
                    TypeError, node, f"{name}() is given {parameter.arg!r} twice", code="AD0203", name=name
                )
            bound[parameter.arg] = named.pop(parameter.arg)
    for parameter, value in zip(positional[len(positional) - len(closure.defaults) :], closure.defaults, strict=True):
        bound.setdefault(parameter.arg, value)
    for parameter in spec.kwonlyargs:
        if parameter.arg not in bound and parameter.arg in closure.kw_defaults:
            bound[parameter.arg] = closure.kw_defaults[parameter.arg]
    parameters = [*positional, *spec.kwonlyargs]
    if named and spec.kwarg is None:
        unknown = next(iter(named))
        meant = did_you_mean(unknown, [p.arg for p in parameters])
        label = f"{name}() has no parameter {unknown!r}"
        raise lo.mistake(TypeError, node, label, code="AD0203", helps=meant, name=name)
    missing = [p.arg for p in parameters if p.arg not in bound]
    if missing:
        label = f"{name}() is not given {', '.join(map(repr, missing))}"
        helps = [f"it is {_signature(name, spec)}"]
        if len(args) == 1 and isinstance(args[0], TupleValue) and len(args[0].items) == len(positional) > 1:
            helps.append("its arguments are given one by one, not as a tuple")
        elif missing == [p.arg for p in parameters[1:]] and parameters[0].arg == "self":
            helps.append("hand over the method of an object, which is its first argument")
        raise lo.mistake(TypeError, node, label, code="AD0203", helps=helps, name=name)
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = making.new_dict(lo, list(named.items()), spec.kwarg)
    return bound
