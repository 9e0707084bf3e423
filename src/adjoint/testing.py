"""Are the derivatives of a function right? Forward mode, reverse mode and differences are held against each other.

The one idea: flatten arguments and results to their float leaves. Then a derivative is a linear map between vectors,
whatever the structures, and a random direction ``v`` and a random weight ``w`` test it with two numbers:
``w . (J v)`` and ``(J' w) . v``.
"""

from __future__ import annotations

import functools
import linecache
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from adjoint.api import gradients, jvp_vjp
from adjoint.api.tools.float_leaves import Path as Path
from adjoint.api.tools.float_leaves import (
    Vector,
    children,
    clone,
    flatten,
    leaves,
    moved,
    read_tangent,
    show_path,
    tangent_of,
)
from adjoint.api.tools.laws import check_type as check_type
from adjoint.diagnostics import DifferentiationWarning
from adjoint.rules.declarations import declaration_for, name_of

Mode = Literal["fwd", "rev"]

_STEPS = (1e-3, 1e-4, 1e-5, 1e-6)
_SINGLE_STEPS = (1e-1, 3e-2, 1e-2, 3e-3)
_COMPLEX_STEP = 1e-40
_RESEMBLANCE = 1e-3
"""How near to a difference a complex step must be; what drops imaginary parts on its way gives too little."""


# --- the checks ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Options:
    modes: tuple[Mode, ...]
    tol: float
    analytic: bool | Literal["auto"]
    nan_expected: bool
    steps: tuple[float, ...]
    directions: int = 2


class _Problem:
    """A function at a point: its value, what it leaves of its arguments, and the part that is differentiated."""

    def __init__(self, f: Callable[..., Any], args: Sequence[Any], wrt: tuple[int, ...], label: str) -> None:
        self.f, self.args, self.wrt, self.label = f, tuple(args), wrt, label
        self.value, self.args_after = self.run(self.args)
        self.value = clone(self.value)
        self.output = flatten(self.value)

    def run(self, args: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        fresh = tuple(clone(tuple(args)))
        return self.f(*fresh), fresh

    @property
    def point(self) -> tuple[Any, ...]:
        return tuple(self.args[i] for i in self.wrt)

    @property
    def size(self) -> int:
        return len(flatten(self.point))

    def at(self, direction: Vector, step: complex) -> tuple[Any, ...]:
        """The arguments moved along ``direction``, which has the components of the differentiated ones only."""
        everything, position = [], 0
        for index, arg in enumerate(self.args):
            size = len(flatten(arg))
            if index in self.wrt:
                everything.append(direction[position : position + size])
                position += size
            else:
                everything.append(np.zeros(size))
        moved_args: tuple[Any, ...] = moved(self.args, np.concatenate([np.zeros(0), *everything]), step)
        return moved_args

    def tangents(self, direction: Vector) -> tuple[Any, ...]:
        result, position = [], 0
        for index, arg in enumerate(self.args):
            size = len(flatten(arg)) if index in self.wrt else 0
            result.append(tangent_of(arg, direction[position : position + size]) if index in self.wrt else None)
            position += size
        return tuple(result)


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    *,
    order: int = 2,
    modes: Sequence[Mode] = ("fwd", "rev"),
    wrt: Sequence[int] | int | None = None,
    tol: float | None = None,
    analytic: bool | Literal["auto"] = "auto",
    nan_expected: bool = False,
    kwargs: Mapping[str, Any] | None = None,
) -> None:
    """Checks the derivatives of ``f`` at ``args``: both modes against each other and against differences.

    Parameters
    ----------
    f, args, kwargs
        The function and the point. Arguments may be floats, arrays and structures of them.
    order
        2 also checks the derivatives of the gradient and of the directional derivative.
    modes
        ``"fwd"`` checks `ad.jvp`, ``"rev"`` checks `ad.vjp`.
    wrt
        Indices of the arguments that are varied; all that hold floats where it is absent.
    tol
        Tolerance, relative where the numbers exceed 1; by default 1e-6, and 1e-2 in single precision. Second order
        allows ten times as much.
    analytic
        With ``"auto"`` the complex step counts as a further difference where ``f`` runs on complex numbers; with True
        it must agree; with False it is not tried.
    nan_expected
        NaN is a failure unless this is True.

    Raises
    ------
    AssertionError
        Says which comparison failed, the numbers, the direction and the steps.

    Notes
    -----
    Checked besides: the value is that of ``f``; arguments are left as ``f`` leaves them; a second call and a second
    use of the pullback give the same; gradients share no memory with arguments, seed or each other.

    What it cannot see:

    * errors at other points than this one, and at a kink whose one-sided derivatives average to the answer;
    * errors smaller than the tolerance beside large components, because a direction mixes all of them;
    * a function that is itself wrong, with derivatives that agree with it;
    * functions that are none: random numbers, clocks, files;
    * complex arguments, and integers in fields that are annotated as floats: both are held constant;
    * objects that occur twice among the arguments: differences move them apart.
    """
    problem, options = _posed(f, args, modes, wrt, tol, analytic, nan_expected, kwargs)
    _check_first_order(problem, options)
    if order >= 2:
        _check_second_order(problem, options, options.modes)


def _posed(
    f: Callable[..., Any],
    args: Sequence[Any],
    modes: Sequence[Mode] = ("fwd", "rev"),
    wrt: Sequence[int] | int | None = None,
    tol: float | None = None,
    analytic: bool | Literal["auto"] = "auto",
    nan_expected: bool = False,
    kwargs: Mapping[str, Any] | None = None,
) -> tuple[_Problem, _Options]:
    """What is checked, and how."""
    if kwargs:
        f = functools.partial(f, **kwargs)
    options = _options(args, modes, tol, analytic, nan_expected)
    return _Problem(f, args, _indices(args, wrt), getattr(f, "__name__", repr(f))), options


def _options(
    args: Sequence[Any],
    modes: Sequence[Mode],
    tol: float | None,
    analytic: bool | Literal["auto"] = "auto",
    nan_expected: bool = False,
) -> _Options:
    single = any(np.asarray(leaf).dtype == np.float32 for _, leaf in leaves(tuple(args)))
    return _Options(
        modes=tuple(modes),
        tol=tol if tol is not None else (1e-2 if single else 1e-6),
        analytic=analytic,
        nan_expected=nan_expected,
        steps=_SINGLE_STEPS if single else _STEPS,
    )


def check_derivative(f: Any, *args: Any, tol: float | None = None, kwargs: Mapping[str, Any] | None = None) -> None:
    """Checks what is declared as the derivative of ``f`` against differences of ``f`` itself, at one point.

    Parameters
    ----------
    f
        A function of which a derivative is declared, by :func:`adjoint.derivative_of` and its kin; a property is meant
        by its getter.
    *args, kwargs
        The point. The function is called with copies, as it stands.
    tol
        Tolerance, as that of :func:`check_grads`.

    Raises
    ------
    AssertionError
        Says what is wrong: the declared value, or the derivative in one mode with respect to one argument, with the
        numbers. A function with a transpose is checked to be linear, too.
    ValueError
        If nothing is declared of ``f``.

    Notes
    -----
    Each mode is checked for which there is a declaration. :func:`check_grads` checks second derivatives, too, and what
    is transposed.

    Examples
    --------
    >>> import math
    >>> import adjoint as ad
    >>> def area(r):
    ...     return math.pi * r * r
    >>> @ad.derivative_of(area)
    ... def area_derivative(r):
    ...     return math.pi * r * r, lambda ct: math.pi * r * ct
    >>> ad.testing.check_derivative(area, 2.0)
    Traceback (most recent call last):
        ...
    AssertionError: area, with respect to 'r': reverse mode (vjp) disagrees with differences
      ...
    """
    from adjoint.frontend.declared.declarations import target_of  # lazy
    from adjoint.frontend.declared.parameters import name_of_place  # lazy

    target = target_of(f)
    declared = declaration_for(target)
    if declared is None:
        raise ValueError(f"no derivative is declared for {name_of(f)}")
    named = dict(kwargs or {})
    places = range(len(args)) if declared.wrt is None else declared.wrt
    point: dict[int | str, Any] = dict(enumerate(args))
    point.update(named)
    modes: list[Mode] = ["fwd"] if declared.differential is not None else []
    modes += ["rev"] if declared.reverse is not None else []
    for place in places:
        if place in point and leaves(point[place]):
            label = f"{declared.name}, with respect to {name_of_place(target, place)}"
            problem = _Problem(_of_one(target, point, place), (point[place],), (0,), label)
            _check_first_order(problem, _options(tuple(point.values()), modes, tol))
            if declared.transpose is not None:
                _check_linear(problem, tol)


def _of_one(f: Callable[..., Any], point: Mapping[int | str, Any], place: int | str) -> Callable[..., Any]:
    """The function of one of its arguments, the others as they are at a point."""
    names = {key: "x" if key == place else f"arg_{key}" for key in point}
    given = ", ".join(name if isinstance(key, int) else f"{key}={name}" for key, name in names.items())
    others = {name: clone(point[key]) for key, name in names.items() if key != place}
    return _define(f"def called(x):\n    return f({given})\n", "called", {"f": f, **others})


def _check_linear(problem: _Problem, tol: float | None) -> None:
    """Checks that the value at a sum is the sum of values."""
    v = np.random.default_rng(20201231).normal(size=problem.size)
    here = flatten(problem.point)
    alone = flatten(problem.run(problem.at(v - here, 1.0))[0])
    both = flatten(problem.run(problem.at(v, 1.0))[0])
    message = f"{problem.label}: it has a transpose, and is not linear"
    _close(message, both, problem.output + alone, tol or 1e-6, True)


def _indices(args: Sequence[Any], wrt: Sequence[int] | int | None) -> tuple[int, ...]:
    if wrt is None:
        return tuple(i for i, arg in enumerate(args) if leaves(arg))
    return (wrt,) if isinstance(wrt, int) else tuple(wrt)


def _check_first_order(problem: _Problem, options: _Options) -> None:
    if not options.nan_expected and np.isnan(problem.output).any():
        raise AssertionError(f"{problem.label}: the value itself has NaN: {problem.value!r}")
    rng = np.random.default_rng(20200229)
    for _ in range(options.directions):
        v = rng.normal(size=problem.size)
        w = rng.normal(size=len(problem.output))
        along = _forward(problem, v) if "fwd" in options.modes else None
        back = _reverse(problem, w) if "rev" in options.modes else None
        if along is not None:
            _compare_with_differences(problem, options, "forward mode (jvp)", along, lambda d: d, v)
        if back is not None:
            product = np.array([back @ v])
            _compare_with_differences(problem, options, "reverse mode (vjp)", product, _weighted(w), v)
        if along is not None and back is not None:
            _close(
                f"{problem.label}: forward and reverse mode differ in the direction {v}",
                np.array([w @ along]),
                np.array([back @ v]),
                options.tol,
                options.nan_expected,
            )


def _weighted(w: Vector) -> Callable[[Vector], Vector]:
    return lambda output: np.array([w @ output])


def _forward(problem: _Problem, v: Vector) -> Vector:
    what = f"{problem.label}: forward mode (jvp)"
    results = []
    for _ in range(2):
        args = clone(problem.args)
        tangents = problem.tangents(v)
        value, tangent = jvp_vjp.jvp(problem.f, args, tangents)
        _check_value(problem, value, args, what)
        results.append(read_tangent(problem.value, tangent, f"{what}: tangent"))
    _close(f"{what}: a second call gives another tangent", results[0], results[1], 0.0, True)
    return results[0]


def _reverse(problem: _Problem, w: Vector) -> Vector:
    what = f"{problem.label}: reverse mode (vjp)"
    results = []
    for _ in range(2):
        args = clone(problem.args)
        value, pullback = jvp_vjp.vjp(problem.f, *args)
        _check_value(problem, value, args, what)
        seed = tangent_of(problem.value, w)
        gradients = [pullback(seed), pullback(seed)]
        _check_fresh(gradients, (args, seed), what)
        for gradient in gradients:
            if not isinstance(gradient, tuple) or len(gradient) != len(problem.args):
                raise AssertionError(f"{what}: the pullback gives {gradient!r}, expected one entry per argument")
            part = tuple(gradient[i] for i in problem.wrt)
            results.append(read_tangent(problem.point, part, f"{what}: gradient"))
        _close(f"{what}: the seed was changed", flatten(seed), w, _single_rounding(seed), True)
    for other in results[1:]:
        _close(f"{what}: a second call gives another gradient", results[0], other, 0.0, True)
    return results[0]


def _single_rounding(value: Any) -> float:
    return 1e-6 if any(np.asarray(leaf).dtype != np.float64 for _, leaf in leaves(value)) else 0.0


def _check_value(problem: _Problem, value: Any, args: Sequence[Any], what: str) -> None:
    if [path for path, _ in leaves(value)] != [path for path, _ in leaves(problem.value)]:
        raise AssertionError(f"{what}: the value is {value!r}, expected {problem.value!r}")
    tol = 1e-5 if _single_rounding(value) else 1e-10
    _close(f"{what}: the value differs from the function's", problem.output, flatten(value), tol, True)
    message = f"{what}: the arguments are not left as the function leaves them"
    _close(message, flatten(problem.args_after), flatten(args), tol, True)


def _check_fresh(gradients: Sequence[Any], inputs: Any, what: str) -> None:
    arrays = [(i, leaf) for i, g in enumerate(gradients) for _, leaf in leaves(g) if isinstance(leaf, np.ndarray)]
    others = [leaf for _, leaf in leaves(inputs) if isinstance(leaf, np.ndarray)]
    for position, (_, array) in enumerate(arrays):
        if not array.flags.writeable:
            raise AssertionError(f"{what}: an array of the gradient is not writable")
        if any(np.may_share_memory(array, other) for other in others):
            raise AssertionError(f"{what}: the gradient shares memory with an argument or with the seed")
        if any(np.may_share_memory(array, other) for _, other in arrays[position + 1 :]):
            raise AssertionError(f"{what}: two parts of the gradients share memory")


# --- references ------------------------------------------------------------------------------------------------------


def central_difference(f: Callable[[float], Vector], step: float) -> Vector:
    """The derivative at 0 of a function of one number, by the central difference."""
    return np.asarray((f(step) - f(-step)) / (2 * step))


def complex_step(problem: _Problem, v: Vector) -> Vector | None:
    """The derivative by a complex step; None where the function does not run on complex numbers."""
    try:
        with np.errstate(all="ignore"):
            value, _ = problem.run(problem.at(v, complex(0, _COMPLEX_STEP)))
        parts = [np.ravel(part) for _, part in _complex_leaves(value)]
        result = np.concatenate(parts).imag / _COMPLEX_STEP if parts else np.zeros(0)
    except Exception:
        return None
    return result if len(result) == len(problem.output) else None


def _complex_leaves(value: Any) -> list[tuple[Path, Any]]:
    if isinstance(value, (float, complex, np.inexact)) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        return [((), value)]
    return [leaf for _, item in children(value) for leaf in _complex_leaves(item)]


def _compare_with_differences(
    problem: _Problem,
    options: _Options,
    mode: str,
    result: Vector,
    contract: Callable[[Vector], Vector],
    v: Vector,
) -> None:
    def displaced(step: float) -> Vector:
        output = flatten(problem.run(problem.at(v, step))[0])
        return output if len(output) == len(problem.output) else np.full(len(problem.output), np.nan)

    references = [(f"step {step:g}", contract(central_difference(displaced, step))) for step in options.steps]
    exact = complex_step(problem, v) if options.analytic else None
    if exact is not None:
        stepped = contract(exact)
        if options.analytic is True or min(_error(stepped, coarse) for _, coarse in references) < max(
            _RESEMBLANCE, options.tol
        ):
            references.append(("complex step", stepped))
    if options.analytic is True:
        if exact is None:
            raise AssertionError(f"{problem.label}: does not run on complex numbers, but analytic=True")
        references = references[-1:]
    if options.nan_expected and np.isnan(result).any():
        return
    errors = [_error(result, reference) for _, reference in references]
    best = int(np.argmin(errors))
    if errors[best] <= options.tol:
        return
    table = "\n".join(f"    {n}: {r}  error {e:.3g}" for (n, r), e in zip(references, errors, strict=True))
    raise AssertionError(
        f"{problem.label}: {mode} disagrees with differences\n  derivative: {result}\n  differences:\n{table}\n"
        f"  best: {references[best][0]}, tolerance {options.tol:g}\n  direction: {v}\n  arguments: {problem.args!r}"
    )


def _error(result: Vector, reference: Vector) -> float:
    if result.shape != reference.shape or not np.isfinite(result).all() or not np.isfinite(reference).all():
        return float("inf")
    if not len(result):
        return 0.0
    return float(np.max(np.abs(result - reference)) / max(1.0, float(np.max(np.abs(reference)))))


def _close(message: str, a: Vector, b: Vector, tol: float, equal_nan: bool) -> None:
    scale = max([1.0, *np.abs(a[np.isfinite(a)])]) if a.shape == b.shape else 1.0
    if a.shape != b.shape or not np.allclose(a, b, rtol=0.0, atol=tol * scale, equal_nan=equal_nan):
        raise AssertionError(f"{message}: {a} and {b}")


# --- second order ----------------------------------------------------------------------------------------------------


def _check_second_order(problem: _Problem, options: _Options, of: Sequence[Mode]) -> None:
    """Checks the derivatives of those in some modes."""
    if not problem.size or not len(problem.output):
        return
    second = replace(options, tol=10 * options.tol, analytic=False, directions=1)
    with warnings.catch_warnings():  # the user has not written these functions
        warnings.simplefilter("ignore", DifferentiationWarning)
        for derivative, label in _derivatives(problem, of):
            _check_first_order(_Problem(derivative, problem.args, problem.wrt, f"{label} of {problem.label}"), second)


def _derivatives(problem: _Problem, modes: Sequence[Mode]) -> Iterator[tuple[Callable[..., Any], str]]:
    """The functions whose derivatives are the second order: the gradient, and a directional derivative."""
    if "rev" in modes:
        yield gradients.grad(_scalar_valued(problem), wrt=problem.wrt), "grad"
    if "fwd" in modes:
        v = np.random.default_rng(19770404).normal(size=problem.size)
        names = ", ".join(f"x{i}" for i in range(len(problem.args)))
        body = f"    return jvp(f, ({names},), tangents)[1]"
        namespace = {"f": problem.f, "jvp": jvp_vjp.jvp, "tangents": problem.tangents(v)}
        yield _define(f"def directional({names}):\n{body}\n", "directional", namespace), "jvp"


def _scalar_valued(problem: _Problem) -> Callable[..., Any]:
    """The function itself where its result is one float, else its result contracted with fixed random weights."""
    if isinstance(problem.value, float):
        return problem.f
    rng = np.random.default_rng(19860405)
    namespace: dict[str, Any] = {"f": problem.f, "np": np}
    terms = []
    for index, (path, leaf) in enumerate(leaves(problem.value)):
        place = f"y{show_path(path)}" if path else "y"
        if isinstance(leaf, np.ndarray):
            namespace[f"w{index}"] = np.asarray(rng.normal(size=leaf.shape), dtype=leaf.dtype)
            terms.append(f"np.sum(w{index} * {place})")
        else:
            terms.append(f"{rng.normal():.6f} * {place}")
    names = ", ".join(f"x{i}" for i in range(len(problem.args)))
    text = f"def contracted({names}):\n    y = f({names})\n    return {' + '.join(terms)}\n"
    return _define(text, "contracted", namespace)


def _define(text: str, name: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """The function ``name`` of ``text``, whose source can be found again."""
    filename = f"<adjoint.testing {name} {zlib.crc32(text.encode()):08x}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function
