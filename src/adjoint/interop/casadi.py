"""Functions of NumPy in expressions of CasADi, with derivatives of any order, and with their patterns of zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi
import numpy as np

from adjoint.api.gradients import compile, jacobian
from adjoint.api.jvp_vjp import jvp, vjp
from adjoint.interop.vectors import Numbers, Variable, joining, laid_out, reading
from adjoint.optim.vector_functions import as_native

__all__ = ["function"]

Native = bool | str | None
Variables = tuple[Variable, ...]


def function(
    f: Callable[..., Any], *like: Any, args: tuple[Any, ...] = (), name: str = "", native: Native = None
) -> Any:
    """A function of CasADi that runs a function of numbers and arrays.

    Parameters
    ----------
    f
        A function that returns a number, an array of up to two dimensions, or a tuple of them.
    *like
        Its arguments at some place: numbers, and arrays of up to two dimensions. Those of CasADi have their shapes;
        vectors are columns.
    args
        More arguments of ``f``, which do not vary.
    name
        What CasADi calls it: letters and digits. By default the name of ``f``.
    native
        Whether the function and its derivatives are machine code.

    Returns
    -------
    casadi.Callback
        It has forward and reverse derivatives, which have them again, and says where Jacobians may be other than zero:
        solvers get exact and sparse Jacobians and Hessians. As all callbacks, it is to be kept as long as what uses it.

    Examples
    --------
    >>> import casadi, numpy as np
    >>> from adjoint.interop.casadi import function
    >>> def differences(x):
    ...     return x[1:] ** 2 - x[:-1]
    >>> g = function(differences, np.ones(3))
    >>> x = casadi.MX.sym("x", 3)
    >>> casadi.Function("jacobian", [x], [casadi.jacobian(g(x), x)])([1.0, 2.0, 3.0])
    DM(
    [[-1, 4, 00],
     [00, -1, 6]])
    """
    start = [np.asarray(each, float) for each in like]
    shapes = [each.shape for each in start]
    if any(len(shape) > 2 for shape in shapes):
        raise TypeError("CasADi has numbers, vectors and matrices")
    given = [float(each) if each.ndim == 0 else each.copy() for each in start]
    found = f(*given, *args)
    parts = found if isinstance(found, tuple) else (found,)
    ins = _laid_out(shapes)
    outs = _laid_out([np.shape(part) for part in parts])
    point = np.concatenate([np.ravel(each, order="F") for each in start])
    called = name or getattr(f, "__name__", "f").replace("<lambda>", "f")
    return _Callback(called, _flat(f, args, ins, outs), ins, outs, point, as_native(f, native))


def _laid_out(shapes: Sequence[tuple[int, ...]]) -> Variables:
    return laid_out({str(number): shape for number, shape in enumerate(shapes)})


def _flat(f: Callable[..., Any], args: tuple[Any, ...], ins: Variables, outs: Variables) -> Callable[[Numbers], Any]:
    """The function from a vector of all that varies to a vector of all results: matrices column by column."""
    (readers, places), joined = reading(ins, by_columns=True), joining(outs, by_columns=True)

    def flat(vector: Numbers) -> Any:
        return joined(f(*[read(vector, place) for read, place in zip(readers, places, strict=True)], *args))

    return flat


class _Callback(casadi.Callback):  # type: ignore[misc]
    """A function of vectors as one of CasADi; its derivatives are of the same kind."""

    def __init__(
        self,
        name: str,
        flat: Callable[[Numbers], Any],
        ins: Variables,
        outs: Variables,
        point: Numbers,
        native: Native,
    ) -> None:
        casadi.Callback.__init__(self)
        self.flat = flat
        self.ins = ins
        self.outs = outs
        self.point = point
        self.native = native
        self.run = compile(flat, native=native) if native else flat
        self.derived: list[_Callback] = []  # which CasADi does not keep
        self.entries: Any = None
        self.construct(name, {"enable_fd": False})

    def get_n_in(self) -> int:
        return len(self.ins)

    def get_n_out(self) -> int:
        return len(self.outs)

    def get_sparsity_in(self, i: int) -> Any:
        return casadi.Sparsity.dense(*_extents(self.ins[i]))

    def get_sparsity_out(self, i: int) -> Any:
        return casadi.Sparsity.dense(*_extents(self.outs[i]))

    def eval(self, arg: Sequence[Any]) -> list[Any]:
        vector = np.concatenate([np.ravel(each.full(), order="F") for each in arg])
        found = np.asarray(self.run(vector), float)
        return [casadi.DM(np.reshape(found[each.start : each.stop], _extents(each), order="F")) for each in self.outs]

    def has_forward(self, count: int) -> bool:
        return count == 1

    def has_reverse(self, count: int) -> bool:
        return count == 1

    def get_forward(self, count: int, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
        flat, (n, m) = self.flat, self.counts

        def pushed(vector: Numbers) -> Any:
            return jvp(flat, (vector[:n],), (vector[n + m :],))[1]

        return self.derivative(name, pushed, self.ins, self.outs)

    def get_reverse(self, count: int, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
        flat, (n, m) = self.flat, self.counts

        def pulled(vector: Numbers) -> Any:
            return vjp(flat, vector[:n])[1](vector[n + m :])[0]

        return self.derivative(name, pulled, self.outs, self.ins)

    def derivative(self, name: str, flat: Callable[[Numbers], Any], seeds: Variables, outs: Variables) -> Any:
        """A function of the arguments, the results, and seeds."""
        ins = _laid_out([each.shape for each in (*self.ins, *self.outs, *seeds)])
        point = np.concatenate([self.point, np.ones(ins[-1].stop - len(self.point))])
        made = _Callback(name, flat, ins, _laid_out([each.shape for each in outs]), point, self.native)
        self.derived.append(made)
        return made

    @property
    def counts(self) -> tuple[int, int]:
        """How many numbers the arguments have, and the results."""
        return self.ins[-1].stop, self.outs[-1].stop

    def has_jac_sparsity(self, result: int, argument: int) -> bool:
        return True

    def get_jac_sparsity(self, result: int, argument: int, symmetric: bool) -> Any:
        """Where the Jacobian may be other than zero, for all numbers."""
        if self.entries is None:
            derivative: Any = jacobian(self.flat, sparsity="auto", native=False)
            self.entries = derivative.everywhere(self.point)
        of, wrt = self.outs[result], self.ins[argument]
        rows, cols = self.entries.rows - of.start, self.entries.cols - wrt.start
        shape = of.stop - of.start, wrt.stop - wrt.start
        inside = (rows >= 0) & (rows < shape[0]) & (cols >= 0) & (cols < shape[1])
        return casadi.Sparsity.triplet(*shape, rows[inside].tolist(), cols[inside].tolist())


def _extents(variable: Variable) -> tuple[int, int]:
    """Rows and columns in CasADi."""
    shape = variable.shape
    return (shape[0], shape[1]) if len(shape) == 2 else (variable.stop - variable.start, 1)
