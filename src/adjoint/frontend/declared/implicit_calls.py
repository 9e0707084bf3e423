"""Solvers: what they are handed becomes a function of a point and of everything that it captures."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import written_places
from adjoint.declarations.implicit import answer, arity, machine_code, marks, moves, refused, solved
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.declared import implicit_definitions
from adjoint.frontend.differentiation.components import describe
from adjoint.frontend.differentiation.inner_functions import Inner, lower_inner
from adjoint.frontend.differentiation.wrt import parameter_names
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Closure, Method, TupleValue, Value
from adjoint.frontend.library import python_functions
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import inline
from adjoint.records import replace
from adjoint.rules.typing import type_of_call
from adjoint.runtime.numerical_methods import implicit
from adjoint.types.classes.annotations import annotations_of

_ROOTS = (
    implicit.root,
    implicit.root_of_part,
    implicit.roots,
    implicit.system,
    implicit.minimum,
    implicit.minimum_of_part,
)
_OF_PARTS = (implicit.root_of_part, implicit.system, implicit.minimum_of_part, implicit.happenings)


def call_function(lo: Lowerer, function: ir.Function, args: list[Value], node: ast.AST | None) -> Value:
    """A call of a function of the IR that is a value."""
    atoms = inline(lo.open, function, tuple(materialize(lo, arg, node) for arg in args))
    return atoms[0] if len(atoms) == 1 else TupleValue(tuple(atoms))


@handles(solved)
def _solved(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    primitive, function, point, *settings = args
    assert isinstance(primitive, ir.Const)
    assert isinstance(point, TupleValue)
    if primitive.value in _ROOTS and any(map(_is_complex, point.items)):
        label = "derivatives are known of real roots, and this starts from a complex number"
        helps = ("solve for the real and the imaginary part: two equations",)
        raise lo.problem("AD0204", node, label, helps=helps)
    what = "the function that a solver is handed"
    inner = lower_inner(lo, function, list(point.items), {}, range(len(point.items)), node, what=what)
    result = ir.FLOAT if primitive.value in _OF_PARTS else _result_of(lo, inner, node)
    inner = _with_flat_containers(lo, inner, node)
    callee, leaves, varying = _with_varying_first(inner)
    for param in callee.params[inner.count :]:
        if _varies(param.type) and not isinstance(param.type, (ir.Scalar, ir.Number, ir.Array)):
            label = f"{what} captures {param.hint!r}, a list, dict or object whose parts are not known here"
            raise lo.problem("AD0301", node, label, helps=("hand over the numbers and arrays in it",))
    if any(place >= inner.count for place in written_places(callee)):
        raise lo.problem("AD0303", node, f"{what} writes an array that it captures")
    atoms = [materialize(lo, value, node) for value in settings]
    target = ir.Var(*_kind_of(primitive.value, point, result))
    operands: tuple[ir.Atom, ...] = (ir.Const(callee), *atoms, ir.Const(varying), *leaves)
    lo.emit(ir.Call((target,), primitive.value, operands, (), lo.span(node)))
    return target


@handles(implicit_definitions.inside)
def _inside(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    with lo.one_of(0):
        return lo.call(args[0], args[1:], kwargs, node)


@handles(refused)
def _refused(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    name = args[0].value if isinstance(args[0], ir.Const) else "this"
    if len(args) > 1 and isinstance(args[1], ir.Const):
        raise lo.problem("AD0204", node, f"derivatives know {args[1].value}, not its {name!r}")
    label = f"derivatives know the solution that a solver returns, not its {name!r}"
    raise lo.problem("AD0204", node, label, helps=("call the solver once more, outside of what is differentiated",))


@handles(machine_code)
def _machine_code(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    name = args[0].value if isinstance(args[0], ir.Const) else "a library"
    raise lo.problem("AD0201", node, f"this asks for functions of {name}, of which there is machine code only")


@handles(moves)
def _moves(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    tangent = args[0]
    return ir.Const(not (isinstance(tangent, ir.Const) and (tangent == ir.Const(None) or tangent.value == 0.0)))


@handles(arity)
def _arity(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return ir.Const(len(parameter_names(lo, args[0], node)))


@handles(marks)
def _marks(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Of a function that exists its attributes count when the derivative runs."""
    match args[0]:
        case Closure(function=None, attributes=attributes):
            given = [
                lo.store[attributes[name]] if name in attributes else default
                for name, default in (("terminal", ir.Const(False)), ("direction", ir.Const(0)))
            ]
            if not all(isinstance(value, ir.Const) for value in given):
                label = "what 'terminal' or 'direction' of this event is depends on numbers"
                raise lo.problem("AD0204", node, label, helps=("assign a constant",), name="solve_ivp")
            return ir.Const(tuple(value.value for value in given if isinstance(value, ir.Const)))
        case Closure(function=function) | Method(function=ir.Const(value=function)) | ir.Const(value=function):
            return ir.Const(function)
    label = "it is not known here which function this event is"
    raise lo.problem("AD0204", node, label, helps=("hand over the function itself",), name="solve_ivp")


@handles(answer)
def _answer(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    like = _annotated(args[0])
    if like is not None:
        return python_functions.call(lo, implicit_definitions.of_opaque_solver, [*args, like], node)
    return python_functions.call(lo, implicit_definitions.of_solver, args, node)


def _annotated(solve: Value) -> ir.Var | None:
    """Something of the kind that a function says that it returns."""
    if not isinstance(solve, ir.Const):
        return None
    annotation = annotations_of(solve.value).get("return")
    if annotation in (float, "float"):
        return ir.Var("x", ir.FLOAT)
    if annotation in (np.ndarray, "np.ndarray", "numpy.ndarray"):
        return ir.Var("x", ir.Array(np.dtype(float), None))
    return None


def _result_of(lo: Lowerer, inner: Inner, node: ast.AST | None) -> ir.Type:
    match inner.shape:
        case joins.Leaf(type=ir.Scalar() | ir.Number() | ir.Array() as type_) if len(inner.results) == 1:
            return type_
    label = f"the function that a solver is handed returns {describe(inner.shape)}, not a number or an array"
    raise lo.problem("AD0407", node, label, helps=("return a number or an array: np.array([...])",))


def _with_flat_containers(lo: Lowerer, inner: Inner, node: ast.AST | None) -> Inner:
    """The function of the numbers in the lists and dicts that it captures, as vectors, and of their structures."""
    function = inner.function
    captured = list(zip(function.params[inner.count :], inner.atoms[inner.count :], strict=True))
    if not any(_is_container(param.type) for param, _ in captured):
        return inner
    builder = Builder(type_of_call)
    params, atoms = list(function.params[: inner.count]), list(inner.atoms[: inner.count])
    args: list[ir.Atom] = list(params)
    for param, atom in captured:
        if not _is_container(param.type):
            params.append(param)
            atoms.append(atom)
            args.append(param)
            continue
        flat, like = (
            python_functions.call(lo, definition, [atom], node)
            for definition in (implicit_definitions.flattened, implicit_definitions.outline)
        )
        refilled = lower_inner(lo, ir.Const(implicit_definitions.refilled), [like, flat], {}, (1,), node)
        params += refilled.function.params
        atoms += refilled.atoms
        args += inline(builder, refilled.function, refilled.function.params)
    results = inline(builder, function, args)
    flat_function = ir.Function(function.name, tuple(params), builder.block(ir.Return(results)), function.doc)
    return replace(inner, function=flat_function, atoms=tuple(atoms))


def _is_container(type_: ir.Type) -> bool:
    """Whether a list or dict holds numbers that vary, and nothing but numbers, arrays and structures of these.

    Lists may hold lists, and dicts dicts, but these not such once more.
    """
    return isinstance(type_, (ir.List, ir.Dict)) and _varies(type_) and _holds_numbers(type_)


def _holds_numbers(type_: ir.Type | None, around: tuple[type, ...] = ()) -> bool:
    match type_:
        case ir.List(element=part) | ir.Dict(value=part):
            return around.count(type(type_)) < 2 and _holds_numbers(part, (*around, type(type_)))
        case ir.Tuple(items=items, cls=cls):
            return cls is tuple and all(_holds_numbers(item, around) for item in items)
        case ir.Array(dtype=dtype, dims=dims):
            return dtype is not None and ir.same_dtype(dtype, np.dtype(float)) and dims is not None
        case _:
            return type_ == ir.FLOAT


def _with_varying_first(inner: Inner) -> tuple[ir.Function, tuple[ir.Atom, ...], int]:
    """The function with those of its leaves first that may vary; the leaves; how many may vary."""
    params, atoms = inner.function.params[inner.count :], inner.atoms[inner.count :]
    pairs = sorted(zip(params, atoms, strict=True), key=lambda pair: not _varies(pair[0].type))
    varying = sum(_varies(param.type) for param in params)
    function = inner.function
    ordered = ir.Function(function.name, (*function.params[: inner.count], *(p for p, _ in pairs)), function.body)
    return ordered, tuple(atom for _, atom in pairs), varying


def _is_complex(value: Value) -> bool:
    match value:
        case ir.Var(type=ir.Scalar(kind="complex")) | ir.Const(value=complex()):
            return True
        case ir.Var(type=ir.Array(dtype=np.dtype(kind="c"))):
            return True
        case _:
            return False


def _varies(type_: ir.Type) -> bool:
    return ir.carries_derivative(type_)


def _kind_of(primitive: Any, point: TupleValue, result: ir.Type) -> tuple[str, ir.Type]:
    """The name and the type of what a primitive gives."""
    if primitive in _ROOTS:
        (x,) = point.items
        return ("x", ir.fresh(x.type) if isinstance(x, ir.Var) else ir.FLOAT)
    if primitive is implicit.outcome:
        return ("x", ir.fresh(result))
    if primitive is implicit.integral:
        return ("area", ir.fresh(result))
    if primitive is implicit.integral_error:
        return ("error", ir.FLOAT)
    if primitive is implicit.happenings:
        return ("moments", ir.Array(np.dtype(float), ("any",)))
    dtype = result.dtype if isinstance(result, ir.Array) else None
    return (
        ("times", ir.Array(dtype, ("any",)))
        if primitive is implicit.stops
        else ("states", ir.Array(dtype, ("any", "any")))
    )
