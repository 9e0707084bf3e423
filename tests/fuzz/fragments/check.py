"""The checks of :mod:`fuzz.check`, made cheap: each derivative is compiled once, each neighbour computed once.

Values, arguments afterwards, the pullback twice, forward against reverse and both against differences are checked for
every program; products with the Hessian, machine code, the differential as a linear map, Taylor series and single
components of the result for some. The differences of a program that computes in single
precision are those of the same program in double.
"""

from __future__ import annotations

import linecache
import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.testing import clone, flatten, leaves, moved, tangent_of
from fuzz.check import PRIMAL_SECONDS, STEPS, Check, Failed, Outcome, Skipped, agree, components, numbers, outcome_of

SECOND_EVERY = 6
"""Of how many programs one has its second order checked."""
NATIVE_EVERY = 1000
"""Of how many programs one is compiled to machine code."""
FURTHER_EVERY = 5
"""Of how many programs one is linearized, and another one expanded along a direction."""
SECONDS = 30
SINGLE = "np.float32"
LARGEST = 1e6
"""Of what size numbers may be, for differences to tell anything."""


def check(text: str, seed: int, second: bool | None = None, native: bool | None = None) -> Outcome:
    """Checks the program of a module's text."""

    def run(outcome: Outcome) -> None:
        with module_of(text, seed) as module:
            fuzzed = FragmentCheck(module, text, seed, outcome, SECONDS)
            fuzzed.first_order()
            fuzzed.component()
            if seed % FURTHER_EVERY == 1:
                fuzzed.linear_map()
            elif seed % FURTHER_EVERY == 2:
                fuzzed.series()
            if second if second is not None else seed % SECOND_EVERY == 0:
                fuzzed.hessian_product()
            if native if native is not None else seed % NATIVE_EVERY == 0:
                fuzzed.machine_code()

    return outcome_of(run, SECONDS)


@contextmanager
def module_of(text: str, seed: int) -> Iterator[ModuleType]:
    """The module of a text, whose source is found in ``linecache``: a file for each would cost more than the rest."""
    name = f"fuzzed_{seed}"
    path = f"/fuzzed/{name}.py"
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    try:
        exec(compile(text, path, "exec"), module.__dict__)
        yield module
    except SyntaxError as error:
        raise Skipped(f"no program: {error}") from None
    finally:
        del sys.modules[name]
        linecache.cache.pop(path, None)


class FragmentCheck(Check):
    """A program at its arguments, with the results at the neighbours along one direction."""

    def __init__(self, module: ModuleType, text: str, seed: int, outcome: Outcome, seconds: int) -> None:
        super().__init__(module, text, seed, outcome, seconds)
        self.precise = self.f
        self.table: dict[float, Any] | None = None
        """The results along the direction, by step, where they tell anything."""
        if SINGLE in text:
            self.agreement, self.tolerance, self.same = 1e-4, 2e-3, 1e-5
            namespace: dict[str, Any] = {"__name__": module.__name__}
            exec(compile(text.replace(SINGLE, "np.float64"), module.__file__ or "", "exec"), namespace)
            self.precise = namespace["f"]

    def outputs(self, args: Any) -> Any:
        if self.precise is self.f:
            return super().outputs(args)
        try:
            return flatten(self.precise(*clone(args)))
        except Exception as error:
            raise Skipped(f"the program raises {type(error).__name__}") from None

    def first_order(self) -> None:
        self.limit(PRIMAL_SECONDS)
        self.value, self.after = self.primal(self.args)
        self.limit(self.seconds)
        self.outcome.ends = True
        found = numbers(self.value)
        if not all(map(math.isfinite, found)) or max(map(abs, [0.0, *found])) > LARGEST:
            raise Skipped("the value is too large")
        output = flatten(self.value)
        if not len(output):
            raise Skipped("no floats")
        v, w = self.random.normal(size=self.size), self.random.normal(size=len(output))
        if isinstance(self.value, float):
            w[:] = 1.0
        self.v, self.w, self.back = v, w, self.stage("vjp", lambda: self.reverse(w))
        self.along = along = self.stage("jvp", lambda: self.forward(v))
        if self.back is None and along is None:
            return
        if self.back is not None and along is not None:
            agree("forward and reverse differ", w @ along, self.back @ v, self.back, self.agreement)
        self.beside(w, along)

    def beside(self, w: Any, along: Any) -> None:
        """Compares the first order with differences."""
        steps = (0.0, *(k * h for h in STEPS for k in (-2, -1, 1, 2)))
        try:
            table = {step: self.outputs(moved(self.args, self.v, step)) for step in steps}
        except Skipped:
            self.outcome.notes.append("a neighbour raises")
            return
        if any(row.shape != w.shape for row in table.values()):
            self.outcome.notes.append("another branch nearby")
            return
        self.table = table
        if along is not None:
            self.compare("jvp", table, along, self.v)
        if self.back is not None:
            weighted = {step: np.array([w @ row]) for step, row in table.items()}
            self.compare("vjp", weighted, np.array([self.back @ self.v]), self.v)

    def linear_map(self) -> None:
        """Compares the differential with ``jvp``, and its transpose with ``vjp``; each is called twice."""
        given = clone(self.args)
        made = self.stage("linearize", lambda: ad.linearize(self.f, *given))
        if made is None:
            return
        value, differential = made
        self.same_value("linearize", value, given)
        tangents, seed = tangent_of(self.args, self.v), tangent_of(self.value, self.w)
        for _ in range(2):
            along = self.stage("linearize", lambda: components("linearize", self.value, differential(*tangents)))
            back = self.stage("transpose", lambda: components("transpose", self.args, ad.transpose(differential)(seed)))
            if along is not None and self.along is not None:
                agree("linearize and jvp differ", along, self.along, self.along, self.agreement)
            if back is not None and self.back is not None:
                agree("transpose and vjp differ", back, self.back, self.back, self.agreement)

    def series(self) -> None:
        """Compares the first derivative of a Taylor series with ``jvp``, and the second with differences."""
        tangents = tangent_of(self.args, self.v)
        found = self.stage("jet", lambda: ad.jet(self.f, clone(self.args), tangents, 2))
        if found is None:
            return
        value, first, second = found
        self.same_value("jet", value, self.after)
        first = components("jet", self.value, first)
        if self.along is not None:
            agree("jet and jvp differ", first, self.along, self.along, self.agreement)
        if isinstance(self.value, float) and self.precise is self.f and self.table is not None:
            self.curvature(second)

    def curvature(self, claimed: float) -> None:
        """Compares a second derivative along the direction with differences of fourth order at two steps."""
        assert self.table is not None
        f = {step: float(row[0]) for step, row in self.table.items()}
        one, two = (
            (16 * (f[h] + f[-h]) - f[2 * h] - f[-2 * h] - 30 * f[0.0]) / (12 * h * h)
            for h in sorted(STEPS, reverse=True)
        )
        scale = max(1.0, abs(one), abs(claimed), abs(f[0.0]))
        if not abs(one - two) <= 1e-5 * scale:
            self.outcome.notes.append("jet: the function is not smooth nearby")
        elif abs(claimed - one) > 1e-4 * scale:
            raise Failed("jet: not the second derivative", f"{claimed} where differences give {one}")

    def component(self) -> None:
        """Compares the gradient of one component of the result with what the pullback says of it."""
        if self.back is None or not isinstance(self.value, (tuple, dict)):
            return
        key = 0 if isinstance(self.value, tuple) else "total"
        if not isinstance(self.value[key], float):
            return
        wrt = tuple(i for i, arg in enumerate(self.args) if leaves(arg))
        point = tuple(self.args[i] for i in wrt)
        gradient = ad.grad(self.f, wrt=wrt, result=key)
        found = self.stage("result", lambda: components("result", point, gradient(*clone(self.args))))
        expected = self.stage("vjp", lambda: self.reverse(np.eye(len(self.w))[0]))
        if found is not None and expected is not None:
            agree("result and vjp differ", found, expected, expected, self.agreement)

    def hessian_product(self) -> None:
        """Checks ``grad`` against ``vjp``, and ``hvp`` against differences of ``grad``."""
        if not isinstance(self.value, float) or self.back is None:
            return
        wrt = tuple(i for i, arg in enumerate(self.args) if leaves(arg))
        gradient = ad.grad(self.f, wrt=wrt)
        point = tuple(self.args[i] for i in wrt)

        def of_gradient(args: Any) -> Any:
            return components("grad", point, gradient(*clone(args)))

        found = self.stage("grad", lambda: of_gradient(self.args))
        if found is None:
            return
        agree("grad and vjp differ", found, self.back, found, self.agreement)
        tangents = tangent_of(self.args, self.v)
        product = self.stage("hvp", lambda: components("hvp", self.args, ad.hvp(self.f, clone(self.args), tangents)))
        if product is not None and self.precise is self.f:
            self.differences("hvp", of_gradient, product, self.v)

    def machine_code(self) -> None:
        """Compares compiled derivatives with interpreted ones; half of them run in threads."""
        if not isinstance(self.value, float) or self.back is None:
            return
        wrt = tuple(i for i, arg in enumerate(self.args) if leaves(arg))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = self.stage("native", lambda: self._native(wrt))
        if any("native" in str(warning.message) or "compile" in str(warning.message) for warning in told):
            self.outcome.notes.append("native: runs as Python")
        if result is not None:
            self.outcome.notes.append("native: compared")
            agree("native and interpreted differ", result, self.back, result, self.agreement)

    def _native(self, wrt: tuple[int, ...]) -> Any:
        given = clone(self.args)
        threads = 1 + int(self.random.integers(2))
        self.outcome.notes.append(f"native: threads={threads}")
        value, gradient = ad.value_and_grad(self.f, wrt=wrt, native=True, threads=threads)(*given)
        self.same_value("native", value, given)
        return components("native", tuple(self.args[i] for i in wrt), gradient)
