"""A method of many variables as a function of one vector, and its Jacobian in the parts that a component declares."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint.api.gradients import compile, jacobian
from adjoint.api.jvp_vjp import jvp, vjp
from adjoint.diagnostics import DifferentiationError, error
from adjoint.interop.methods import StandIn
from adjoint.interop.vectors import Numbers, Variable, joining, reading

Native = bool | str | None
Constants = tuple[tuple[Any, ...], tuple[Any, ...]]
"""What the method reads of its component, and the discrete inputs."""
Key = tuple[str, str]


def vector_function(stand: StandIn, wrt: tuple[Variable, ...], of: tuple[Variable, ...]) -> Callable[..., Any]:
    """A method as a function of the numbers of its variables, of what it reads besides, and of what is discrete."""
    method, cls = stand.method, stand.cls
    (readers, places), joined = reading(wrt), joining(of)

    def primal(vector: Numbers, reads: tuple[Any, ...], discrete: tuple[Any, ...]) -> Any:
        given = [read(vector, place) for read, place in zip(readers, places, strict=True)]
        return joined(method(cls(*reads), *given, *discrete))

    return primal


class Partials:
    """The partial derivatives of a component.

    Parameters
    ----------
    stand
        Its method.
    wrt, of
        The variables that vary, and those that the method computes.
    sparsity
        ``"auto"``, None for a dense Jacobian, or a pattern of shape ``(m, n)``.
    native
        Whether the method and its derivatives are machine code.
    """

    def __init__(
        self, stand: StandIn, wrt: tuple[Variable, ...], of: tuple[Variable, ...], sparsity: Any, native: Native
    ) -> None:
        self.stand = stand
        self.wrt = wrt
        self.of = of
        self.native = native
        self.function = vector_function(stand, wrt, of)
        self.run = compile(self.function, native=native) if native else self.function
        self.sparsity = sparsity
        self.at: Any = None
        self._derivative: Any = None
        self._plan: _Plan | None = None
        self._pulled: tuple[Any, Any] = (None, None)

    def find(self, vector: Numbers, constants: Constants) -> None:
        """Finds where entries are, for all numbers of the variables."""
        expected = self.of[-1].stop, self.wrt[-1].stop
        if self._derivative is None:
            pattern = np.ones(expected, bool) if self.sparsity is None else self.sparsity
            self._derivative = jacobian(self.function, sparsity=pattern, native=self.native)
        self.at = self._derivative.everywhere(vector, *constants)
        self._plan = None
        if self.at.shape != expected:
            names = ", ".join(variable.name for variable in self.of)
            said = f"the method returns {self.at.shape[0]} numbers, and {names} have {expected[0]}"
            raise error("AD0412", None, said, helps=("return arrays of the shapes that are declared",))

    def blocks(self) -> Iterator[tuple[Key, Numbers | None, Numbers | None]]:
        """The pairs that depend, each with the rows and columns of its entries: None if these are all."""
        for of in self.of:
            rows = slice(*np.searchsorted(self.at.rows, (of.start, of.stop)))
            for wrt in self.wrt:
                cols = self.at.cols[rows]
                chosen = np.flatnonzero((cols >= wrt.start) & (cols < wrt.stop))
                if len(chosen) == (of.stop - of.start) * (wrt.stop - wrt.start):
                    yield (of.name, wrt.name), None, None
                elif len(chosen):
                    yield (of.name, wrt.name), self.at.rows[rows][chosen] - of.start, cols[chosen] - wrt.start

    def write(self, partials: Any, vector: Numbers, constants: Constants, left_out: Callable[[Key], bool]) -> None:
        """Writes the partials that are declared.

        Raises
        ------
        DifferentiationError
            AD0412 if what is not declared is not zero.
        """
        values = self._values(vector, constants)
        if self._plan is None:
            self._plan = _Plan(self, partials, left_out)
        self._plan.write(partials, values)

    def _values(self, vector: Numbers, constants: Constants) -> Numbers:
        if self.at is None:
            self.find(vector, constants)
        try:
            return self.at.values(vector, *constants)  # type: ignore[no-any-return]
        except DifferentiationError as failure:
            if failure.diagnostics[0].code != "AD0412":
                raise
        self.find(vector, constants)  # for other whole numbers there may be others
        return self.at.values(vector, *constants)  # type: ignore[no-any-return]

    def pushed(self, vector: Numbers, constants: Constants, direction: Numbers) -> Numbers:
        """The Jacobian times a vector."""
        if np.iscomplexobj(direction):
            return _of_both(direction, lambda part: self.pushed(vector, constants, part))
        found = jvp(self.function, (vector, *constants), (direction, None, None), native=self.native)
        return np.ravel(found[1])

    def pulled(self, vector: Numbers, constants: Constants, seed: Numbers) -> Numbers:
        """The transpose of the Jacobian times a vector; the pullback is kept for the next one at this point."""
        if np.iscomplexobj(seed):
            return _of_both(seed, lambda part: self.pulled(vector, constants, part))
        key = _fingerprint(vector, constants)
        if key is None or key != self._pulled[0]:
            value, pullback = vjp(self.function, vector, *constants, native=self.native)
            self._pulled = key, (pullback, np.shape(value))
        pullback, shape = self._pulled[1]
        return np.ravel(pullback(seed.reshape(shape))[0])


def _of_both(numbers: Numbers, product: Callable[[Numbers], Numbers]) -> Numbers:
    """A real matrix times a complex vector."""
    return product(numbers.real.copy()) + 1j * product(numbers.imag.copy())


def _fingerprint(vector: Numbers, constants: Constants) -> bytes | None:
    """What tells a point from others; None if nothing does."""
    try:
        return pickle.dumps((vector, constants))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


class _Plan:
    """Which entries go where."""

    def __init__(self, found: Partials, partials: Any, left_out: Callable[[Key], bool]) -> None:
        at = found.at
        self.keys = at.rows * at.shape[1] + at.cols
        self.targets: list[tuple[Key, Numbers]] = []
        covered = np.zeros(len(self.keys) + 1, bool)
        for of in found.of:
            for wrt in found.wrt:
                key = of.name, wrt.name
                if key in partials:
                    rows, cols = _declared(partials.get_metadata(key), of, wrt)
                    places = self._places((of.start + rows) * at.shape[1] + wrt.start + cols)
                    self.targets.append((key, places))
                    covered[places] = True
                elif left_out(key):
                    grid = np.arange(of.start, of.stop)[:, None] * at.shape[1] + np.arange(wrt.start, wrt.stop)
                    covered[self._places(grid)] = True
        self.others = np.flatnonzero(~covered[1:]) + 1
        self.shape = at.shape
        self.variables = found.of, found.wrt

    def _places(self, wanted: Numbers) -> Numbers:
        """Where entries stand among the values, from one on; zero if they are not there."""
        places = np.searchsorted(self.keys, wanted)
        is_there = places < len(self.keys)
        is_there[is_there] = self.keys[places[is_there]] == wanted[is_there]
        return np.where(is_there, places + 1, 0)

    def write(self, partials: Any, values: Numbers) -> None:
        entries = np.concatenate([[0.0], values])
        missing = self.others[entries[self.others] != 0.0]
        if len(missing):
            raise self._refusal(int(self.keys[missing[0] - 1]))
        for key, places in self.targets:
            partials[key] = entries[places]

    def _refusal(self, key: int) -> Exception:
        place = divmod(key, self.shape[1])
        of, wrt = (
            next(each for each in own if each.start <= i < each.stop)
            for i, own in zip(place, self.variables, strict=True)
        )
        said = (
            f"number {place[0] - of.start} of {of.name!r} depends on number {place[1] - wrt.start} of {wrt.name!r},"
            " and that partial is not declared"
        )
        helps = (
            "declare it, with dependent=False if it is to count as zero",
            "where discrete inputs or options change what depends on what: sparsity=None declares all",
        )
        return error("AD0412", None, said, helps=helps)


def _declared(meta: Any, of: Variable, wrt: Variable) -> tuple[Numbers, Numbers]:
    """The rows and columns of the entries of a declared partial, in the shape in which it is set."""
    if meta["rows"] is not None:
        return np.asarray(meta["rows"]), np.asarray(meta["cols"])
    if meta.get("diagonal"):
        return np.arange(of.stop - of.start), np.arange(of.stop - of.start)
    rows, cols = np.indices((of.stop - of.start, wrt.stop - wrt.start))
    return rows, cols
