"""Many steps of training as one compiled loop: the loss, its gradient and the update, without returning to Python."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import linecache
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.api.gradients import value_and_grad
from adjoint.dispatch.specialize import Specialization
from adjoint.native.backend import NativeFunction
from adjoint.native.compile.kernels import elementwise, machine_code
from adjoint.native.compile.not_native import NotNative
from adjoint.native.llvm.signatures import kinds_of
from adjoint.parameters.formula import Formula
from adjoint.parameters.layout import Layout, Leaves, is_parameter
from adjoint.parameters.unroll import Unrolled, flags_of
from adjoint.parameters.writing import Kernel, write_kernel
from adjoint.records import dataclass
from adjoint.types.marks import no_derivative_fields
from adjoint.types.structure import is_namedtuple, stored_fields


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The constants of a rule for some steps: those that stay the same, and for each of the others its values."""

    steps: int
    fixed: dict[str, Any]
    changing: dict[str, list[Any]]

    def at(self, step: int) -> dict[str, Any]:
        """All constants at a step, counted from 0."""
        return self.fixed | {name: values[step] for name, values in self.changing.items()}

    def stretches(self) -> list[tuple[int, int]]:
        """Runs of steps at which all constants that are True or False are the same."""
        if not self.steps:
            return []
        flags = list(zip(*[self.changing[name] for name in flags_of(self.at(0)) if name in self.changing], strict=True))
        starts = [0, *(step for step in range(1, len(flags)) if flags[step] != flags[step - 1])]
        return list(zip(starts, [*starts[1:], self.steps], strict=True))


class CompiledLoop:
    """Steps of training for one loss, model and rule.

    Parameters
    ----------
    loss
        A function of the model and other arguments that returns a number.
    model
        Its parameters are arrays of one dtype; it consists of containers and plain dataclasses.
    args
        The other arguments.

    Raises
    ------
    NotNative
        Where any of this is otherwise, or the derivative cannot be compiled.
    """

    def __init__(self, loss: Callable[..., Any], model: Any, args: Sequence[Any]) -> None:
        self.layout = Layout(model)
        self._check(model)
        self.source, self.flat = _flattened(loss, model, len(args))
        self.derivative = value_and_grad(self.flat, tuple(range(len(self.layout))), native=True)
        self.compiled = self._specialized(model, args)
        call = self.compiled.exact.call
        if self.compiled.written or not isinstance(call, NativeFunction):
            raise NotNative("the loss writes its arguments")
        self.gradient = call.form
        self.loops: dict[Any, tuple[Callable[..., Any], _Table]] = {}

    def _check(self, model: Any) -> None:
        layout = self.layout
        if layout.ties or layout.aliases or layout.points or not len(layout):
            raise NotNative("an array, or an object, is in the model twice, or moves by itself")
        for parameter, value in zip(layout.parameters, layout.leaves(model), strict=True):
            if not parameter.is_array or parameter.dtype != layout.parameters[0].dtype:
                raise NotNative(f"{parameter.path} is no array of the dtype of the other parameters")
            if not value.flags.c_contiguous or not value.flags.writeable:
                raise NotNative(f"the array at {parameter.path} is not contiguous, or read-only")

    def _specialized(self, model: Any, args: Sequence[Any]) -> Specialization:
        return self.derivative.specialized((*self.layout.leaves(model), *args), {})

    def fits(self, model: Any, args: Sequence[Any]) -> bool:
        """Whether this holds for a model and arguments: they may have other numbers and arrays, and nothing else."""
        if Layout(model) != self.layout:
            return False
        self._check(model)
        return _Source(model) == self.source and self._specialized(model, args) is self.compiled

    def run(
        self,
        model: Any,
        args: Sequence[Any],
        rule: Unrolled,
        parts: Sequence[Leaves],
        plan: StepPlan,
    ) -> np.ndarray[Any, Any]:
        """Takes the steps of a plan, and gives the losses before them."""
        dtype = self.layout.parameters[0].dtype
        losses = np.empty(plan.steps, dtype)
        inputs = [*args, *[item.read(self.flat) for item in self.compiled.exact.captured]]
        arrays = [array for leaves in (self.layout.leaves(model), *parts) for array in leaves]
        if plan.steps:
            rule.check_constants(plan.at(0))
        for first, last in plan.stretches():
            loop, table_of = self._loop(rule, arrays, inputs, flags_of(plan.at(first)))
            table = table_of(plan, first, last).astype(dtype, copy=False)
            loop(losses[first:last], table, *arrays, *inputs)
        return losses

    def _loop(self, rule: Unrolled, arrays: Sequence[Any], inputs: Sequence[Any], flags: dict[str, bool]) -> Any:
        kinds = kinds_of(inputs)
        key = (rule, kinds, *flags.items())
        if key not in self.loops:
            formula = rule.formula.specialized(flags)
            if not formula.is_elementwise:
                raise NotNative(f"'{formula.name}' does more than work element by element")
            constants = [name for name in formula.constants if name not in flags]
            kernel = write_kernel(formula, constants)
            dtype = self.layout.parameters[0].dtype
            update = elementwise(kernel.emitted, len(formula.values), len(kernel.constants), dtype)
            form = training(self.gradient, update, formula.values, len(self.layout), len(kernel.constants))
            example = (np.empty(1, dtype), np.empty((1, 1), dtype), *arrays, *inputs)
            self.loops[key] = machine_code(form, example), _Table(rule.formula, kernel)
        return self.loops[key]


def training(
    gradient: ir.Function, update: ir.Function, values: Sequence[str], count: int, constants: int
) -> ir.Function:
    """The function of all steps: it takes the losses, the table of constants, the arrays of parameters and the inputs.

    Parameters
    ----------
    gradient
        Gives the loss, and a tuple of gradients, for the parameters and the inputs.
    update
        Takes the arrays of a parameter, all of one axis, and the constants of a step.
    values
        The arrays of a parameter: itself, its gradient, and others.
    count
        The number of parameters.
    constants
        The number of constants.
    """
    losses, table = (_value(name) for name in ("losses", "table"))
    kept = [name for name in values if name != values[1]]
    arrays = {(name, place): _value(f"{name}_{place}") for name in kept for place in range(count)}
    inputs = [_value(param.hint) for param in gradient.params[count:]]
    flat = {key: _value(f"flat_{array.hint}") for key, array in arrays.items()}
    before: list[ir.Statement] = [_flattened_array(flat[key], array) for key, array in arrays.items()]
    shape, steps, step = _value("shape"), _value("steps"), _value("step")
    before += [ir.Call((shape,), np.shape, (losses,)), ir.Load(steps, shape, ir.Subscript((ir.Const(0),)))]
    loss, slopes = _value("loss"), _value("gradients")
    parameters = [arrays[values[0], place] for place in range(count)]
    body: list[ir.Statement] = [
        ir.Call((loss, slopes), gradient, (*parameters, *inputs)),
        ir.Store(losses, ir.Subscript((step,)), loss),
    ]
    numbers = [_value(f"c{index}") for index in range(constants)]
    body += [
        ir.Load(number, table, ir.Subscript((step, ir.Const(index)), True)) for index, number in enumerate(numbers)
    ]
    for place in range(count):
        slope, line = _value(f"gradient_{place}"), _value(f"flat_gradient_{place}")
        body += [ir.Load(slope, slopes, ir.Subscript((ir.Const(place),))), _flattened_array(line, slope)]
        given = [line if name == values[1] else flat[name, place] for name in values]
        body.append(ir.Call((), update, (*given, *numbers)))
    over = ir.Range(ir.Const(0), steps, ir.Const(1))
    loop = ir.Loop(over, step, (), (), ir.Block(tuple(body), ir.Continue(())), ())
    params = (losses, table, *arrays.values(), *inputs)
    return ir.Function("training", params, ir.Block((*before, loop), ir.Return(())), "")


def _value(name: str) -> ir.Var:
    return ir.Var(name, ir.OPAQUE)


def _flattened_array(line: ir.Var, array: ir.Var) -> ir.Call:
    return ir.Call((line,), np.reshape, (array, ir.Const(-1)))


class _Table:
    """Computes the numbers of steps, a row for each, from the constants of a rule."""

    def __init__(self, formula: Formula, kernel: Kernel) -> None:
        self._columns: list[tuple[str, list[str], Callable[..., float]]] = []
        for text in kernel.constants.values():
            used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
            names = [name for name in formula.constants if name in used]
            self._columns.append((text, names, eval(f"lambda {', '.join(names)}: {text}", dict(formula.globals))))

    def __call__(self, plan: StepPlan, first: int, last: int) -> np.ndarray[Any, Any]:
        table = np.empty((last - first, len(self._columns)))
        for place, (text, names, compute) in enumerate(self._columns):
            table[:, place] = self._column(plan, first, last, text, names, compute)
        return table

    def _column(
        self, plan: StepPlan, first: int, last: int, text: str, names: list[str], compute: Callable[..., float]
    ) -> float | list[float]:
        if text in plan.changing:
            return plan.changing[text][first:last]
        if plan.changing.keys().isdisjoint(names):
            return compute(*[plan.fixed[name] for name in names])
        values = [
            plan.changing[name][first:last] if name in plan.changing else repeat(plan.fixed[name]) for name in names
        ]
        return list(map(compute, *values))


# --- the loss as a function of arrays ---------------------------------------------------------------------------------


class _Source:
    """The expression that makes a model of its parameters, and what it refers to."""

    def __init__(self, model: Any) -> None:
        self.names: list[str] = []
        self.namespace: dict[str, Any] = {}
        self.text = self._of(model)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Source)
            and self.text == other.text
            and all(value is other.namespace[name] for name, value in self.namespace.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def _of(self, x: Any, counts: bool = False) -> str:
        if is_parameter(x, counts):
            self.names.append(f"p{len(self.names)}")
            return self.names[-1]
        if is_namedtuple(x):
            return f"{self._named(type(x))}({', '.join(map(self._of, x))})"
        if isinstance(x, tuple):
            return f"({''.join(f'{self._of(item)}, ' for item in x)})"
        if isinstance(x, list):
            return f"[{', '.join(map(self._of, x))}]"
        if isinstance(x, dict):
            return f"{{{', '.join(f'{key!r}: {self._of(item)}' for key, item in x.items())}}}"
        if dataclasses.is_dataclass(x) and not isinstance(x, type):
            return self._of_dataclass(x)
        return repr(x) if type(x) in (int, bool, str, type(None)) else self._named(x)

    def _of_dataclass(self, x: Any) -> str:
        fields = [field.name for field in dataclasses.fields(x) if field.init]
        init = getattr(vars(type(x)).get("__init__"), "__code__", None)
        is_plain = init is not None and init.co_filename.startswith("<") and not hasattr(x, "__post_init__")
        if not is_plain or fields != stored_fields(x):
            raise NotNative(f"an object of the class '{type(x).__qualname__}' is not made of its fields alone")
        excluded = no_derivative_fields(type(x))
        if any(is_parameter(getattr(x, name), False) for name in excluded):
            raise NotNative(f"numbers in '{type(x).__qualname__}' that carry no derivative are not compiled")
        parts = ", ".join(f"{name}={self._of(getattr(x, name))}" for name in fields)
        return f"{self._named(type(x))}({parts})"

    def _named(self, value: Any) -> str:
        for name, known in self.namespace.items():
            if known is value:
                return name
        name = f"constant_{len(self.namespace)}"
        self.namespace[name] = value
        return name


def _flattened(loss: Callable[..., Any], model: Any, count: int) -> tuple[_Source, Callable[..., Any]]:
    """The loss as a function of the parameters and the other arguments."""
    source = _Source(model)
    others = [f"x{place}" for place in range(count)]
    made = f"loss({', '.join([source.text, *others])})"
    text = f"def flat_loss({', '.join([*source.names, *others])}):\n    return {made}\n"
    filename = f"<adjoint flat loss #{hashlib.sha256(text.encode()).hexdigest()[:10]}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {**source.namespace, "loss": loss, "__name__": __name__}
    exec(compile(text, filename, "exec"), namespace)
    return source, namespace["flat_loss"]
