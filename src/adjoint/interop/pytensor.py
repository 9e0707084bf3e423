"""Functions of NumPy in graphs of PyTensor, and so in models of PyMC: with derivatives, and as machine code."""

# mypy: disable-error-code="no-untyped-call, misc, untyped-decorator"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from numba import njit
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import register_funcify_and_cache_key

from adjoint.api.gradients import compile
from adjoint.interop.hosts import as_argument, pulled

Native = bool | str | None


def function(f: Callable[..., Any], *, dimensions: int = 0, native: Native = True) -> Callable[..., Any]:
    """An operation of PyTensor that runs a function of numbers and arrays, with its gradient.

    Parameters
    ----------
    f
        A function of numbers and arrays that returns a number or an array of floats. It must not write into its
        arguments.
    dimensions
        How many dimensions the result has: none is a number, as of a log density.
    native
        Whether Numba compiles it where PyTensor interprets its graphs. Where PyTensor compiles them (mode ``NUMBA``,
        which nutpie uses), the function and its gradient are compiled with them, and no Python runs.

    Returns
    -------
    callable
        Takes variables of PyTensor, or what they are made of; gives a variable. It has a gradient, but no second one.

    Raises
    ------
    DifferentiationError
        When the graph is run, if the function cannot be differentiated.

    Examples
    --------
    >>> import pytensor, pytensor.tensor as pt, numpy as np
    >>> from adjoint.interop.pytensor import function
    >>> def energy(x, k):
    ...     total = 0.0
    ...     for i in range(1, len(x)):
    ...         total += 0.5 * k * (x[i] - x[i - 1]) ** 2
    ...     return total
    >>> x = pt.dvector("x")
    >>> slope = pytensor.grad(function(energy)(x, 2.0), x)
    >>> slope.eval({x: np.array([0.0, 1.0, 3.0])})
    array([-2., -2.,  4.])
    """
    operation = Function(f, dimensions, native)
    return lambda *args: operation(*map(pt.as_tensor_variable, args))


class _Compiled(Op):
    """An operation that runs a function, by way of Python or inside of what Numba compiles."""

    __props__: tuple[str, ...] = ("function", "native")

    def __init__(self, f: Callable[..., Any], native: Native) -> None:
        self.function = f
        self.native = native
        self.runs = compile(self.runnable(), native=native)

    def runnable(self) -> Callable[..., Any]:
        """The function that is run."""
        return self.function

    def picked(self, node: Any) -> list[int | None]:
        """Which items of the result the outputs are; None is the result itself."""
        return [None]

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any, params: Any = None) -> None:
        found = self.runs(*[as_argument(np.asarray(x)) for x in inputs])
        for place, cell, output in zip(self.picked(node), output_storage, node.outputs, strict=True):
            value = found if place is None else found[place]
            cell[0] = np.array(value, output.dtype)


class Function(_Compiled):
    """The function itself."""

    __props__ = ("function", "dimensions", "native")

    def __init__(self, f: Callable[..., Any], dimensions: int, native: Native) -> None:
        self.dimensions = dimensions
        super().__init__(f, native)

    def make_node(self, *inputs: Any) -> Any:
        return Apply(self, list(inputs), [pt.tensor(dtype="float64", shape=(None,) * self.dimensions)])

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        found = iter(Pullback(self.function, self.native)(output_grads[0], *inputs, return_list=True))
        return [next(found) if _varies(x) else x.zeros_like(dtype="float64") for x in inputs]


class Pullback(_Compiled):
    """The function of a cotangent and of arguments, to the cotangents of those that are floats."""

    def runnable(self) -> Callable[..., Any]:
        return pulled(self.function)

    def picked(self, node: Any) -> list[int | None]:
        return [place for place, x in enumerate(node.inputs[1:]) if _varies(x)]

    def make_node(self, cotangent: Any, *inputs: Any) -> Any:
        return Apply(self, [cotangent, *inputs], [x.type() for x in inputs if _varies(x)])

    def infer_shape(self, fgraph: Any, node: Any, shapes: Sequence[Any]) -> list[Any]:
        return [shape for x, shape in zip(node.inputs[1:], shapes[1:], strict=True) if _varies(x)]


def _varies(x: Any) -> bool:
    return str(x.type.dtype).startswith("float")


@register_funcify_and_cache_key(_Compiled)
def _machine_code(op: _Compiled, node: Any, **options: Any) -> tuple[Callable[..., Any], None]:
    """The same inside of what Numba compiles."""
    names = [f"x{place}" for place in range(len(node.inputs))]
    given = [name if x.ndim else f"{name}.item()" for name, x in zip(names, node.inputs, strict=True)]
    found = ["found" if place is None else f"found[{place}]" for place in op.picked(node)]
    results = ", ".join(f"np.asarray({each})" for each in found)
    text = f"def run({', '.join(names)}):\n    found = runs({', '.join(given)})\n    return {results}\n"
    namespace = {"np": np, "runs": compile(op.runnable(), native="strict")}
    exec(text, namespace)
    return njit(namespace["run"]), None
