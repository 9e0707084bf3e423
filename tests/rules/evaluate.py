"""Derivatives of a rule as numbers, without the compiler: the declared functions are called as Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft
import scipy.fftpack
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats

from adjoint.rules.kinds import Bilinear, Case, Elementwise, General, Linear, Rule, Sample
from adjoint.runtime.array_functions.arrays import unbroadcast, zeros_like

Derivative = Callable[..., Any]
WITH_RULES = (
    np,
    scipy.fft,
    scipy.fftpack,
    scipy.ndimage,
    scipy.special,
    scipy.linalg,
    scipy.stats,
    scipy.signal,
    scipy.optimize,
    scipy.integrate,
)
"""The libraries whose rules are tried: those of a library that nobody has imported are not read."""


def realise(spec: Any, rng: np.random.Generator) -> Any:
    """What a sample stands for, also inside lists and tuples."""
    if isinstance(spec, Sample):
        return _array(spec, rng)
    if isinstance(spec, list):
        return [realise(part, rng) for part in spec]
    if type(spec) is tuple:
        return tuple(realise(part, rng) for part in spec)
    return spec


def _array(spec: Sample, rng: np.random.Generator) -> Any:
    if spec.shape is None:
        return float(rng.uniform(0.5, 2.0))
    x = rng.uniform(0.5, 2.0, spec.shape) * (1 if spec.kind == "positive" else rng.choice([-1.0, 1.0], spec.shape))
    match spec.kind:
        case "definite":
            return x @ np.swapaxes(x, -1, -2) + 2 * np.eye(spec.shape[-1])
        case "regular":
            return x + 3 * np.eye(spec.shape[-1])
        case "complex":
            return x + 1j * rng.uniform(0.5, 2.0, spec.shape)
        case _:
            return x


_ORTHANTS = "adjoint.runtime.numerical_methods.special.orthants"
TO_FEW_DIGITS = {
    **{"ncfdtridfd": 1e-3, "ncfdtridfn": 1e-3, "ncfdtrinc": 1e-3},
    **{f"{_ORTHANTS}.normal_orthant": 1e-3, f"{_ORTHANTS}.student_orthant": 1e-3},
}
"""SciPy's values are off by as much: what differences may differ by. `test_special_functions.py` and
`test_distributions.py` compare exactly."""


def cases_of(rule: Rule, rng: np.random.Generator) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Example calls: those that are declared, and for element-wise rules numbers and arrays of the domain."""
    cases = [_call(case, rng) for case in rule.cases]
    if isinstance(rule, Elementwise) and not rule.cases:
        cases += _elementwise_calls(rule, rng)
    return cases


def _call(case: Case, rng: np.random.Generator) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return tuple(realise(arg, rng) for arg in case.args), {name: realise(arg, rng) for name, arg in case.kwargs.items()}


def _elementwise_calls(rule: Elementwise, rng: np.random.Generator) -> list[Any]:
    def draw(shapes: list[Any]) -> Any:
        args = []
        for place, shape in enumerate(shapes):
            low, high = rule.domain[min(place, len(rule.domain) - 1)]
            x = rng.uniform(low, high, shape)
            args.append(float(x) if shape is None else x)
        return tuple(args), {}

    n = rule.arity
    calls = [draw([None] * n)]
    if takes_arrays(rule, calls[0][0]):
        calls += [draw([(3,)] * n)]
        if n > 1:
            calls += [draw((list(shapes) * n)[:n]) for shapes in ([(4, 3), (3,)], [None, (3,)], [(4, 1), (1, 3)])]
    return calls


def takes_arrays(rule: Rule, args: tuple[Any, ...]) -> bool:
    try:
        with np.errstate(all="ignore"):
            rule.fn(*[np.full(3, arg) for arg in args])
    except (TypeError, ValueError):
        return False
    return True


def ranks_of(args: tuple[Any, ...]) -> list[int | None]:
    return [np.ndim(arg) if isinstance(arg, (int, float, np.ndarray, np.generic)) else None for arg in args]


def pullback(rule: Rule, form: Derivative, ct: Any, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """One cotangent for each positional argument, None where there is none."""
    result: list[Any] = [None] * len(args)
    match rule:
        case Elementwise():
            products = _products(rule, form, ct, args, y, kwargs)
            for place, product in enumerate(products):
                result[place] = None if product is None else unbroadcast(product, args[place])
        case Linear(wrt=wrt):
            out = form(ct, *args, **kwargs)
            places = range(len(args)) if wrt is None else wrt
            parts = out if wrt is None or len(wrt) > 1 else (out,)
            for place, part in zip(places, parts, strict=False):
                if place < len(args):
                    result[place] = part
        case Bilinear():
            result[:2] = form(ct, *args, **kwargs)
        case General():
            out = form(ct, y, *args, **kwargs)
            assert isinstance(out, tuple)
            result[: len(out)] = out
    return result[: len(args)]


def _products(rule: Elementwise, form: Derivative, seed: Any, args: Any, y: Any, kwargs: Any) -> list[Any]:
    out = form(seed, *args, y, **kwargs) if rule.scaled else form(*args, y, **kwargs)
    parts = list(out) if isinstance(out, tuple) else [out]
    return parts if rule.scaled else [None if part is None else seed * part for part in parts]


def pushforward(rule: Rule, dots: list[Any], y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The tangent of the result; ``dots`` has one for each positional argument, None for those that do not vary."""
    match rule:
        case Elementwise():
            total: Any = 0.0
            for place, dot in enumerate(dots):
                if dot is not None:
                    total = total + _products(rule, rule.derivative, dot, args, y, kwargs)[place]
            return total
        case Linear():
            return rule.fn(*[arg if dot is None else dot for arg, dot in zip(args, dots, strict=True)], **kwargs)
        case Bilinear():
            a, b, *rest = args
            return rule.fn(dots[0], b, *rest, **kwargs) + rule.fn(a, dots[1], *rest, **kwargs)
        case General():
            filled = tuple(
                zeros_like(arg) if dot is None and is_smooth(arg) else dot for arg, dot in zip(args, dots, strict=True)
            )
            return rule.jvp(filled, y, *args, **kwargs)
    raise TypeError(rule)


def is_smooth(x: Any) -> bool:
    return isinstance(x, (float, complex)) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc")


def direction(x: Any, ct: Any, rng: np.random.Generator) -> Any:
    """A tangent for an argument with a cotangent; None for one that has none, or is None."""
    if ct is None or x is None:
        return None
    if isinstance(x, (list, tuple)):
        return type(x)([direction(part, 0.0, rng) for part in x])
    dot = rng.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        dot = dot + 1j * rng.normal(size=np.shape(x))
    if isinstance(x, np.ndarray):
        return dot
    return type(x)(dot)


def moved(x: Any, dot: Any, step: float) -> Any:
    if dot is None:
        return x
    if isinstance(x, (list, tuple)):
        return type(x)([moved(part, change, step) for part, change in zip(x, dot, strict=True)])
    return x + step * dot


def pairing(a: Any, b: Any) -> float:
    """The real part of the sum of products."""
    if a is None or b is None:
        return 0.0
    if isinstance(a, (list, tuple)):
        return sum(pairing(x, y) for x, y in zip(a, b, strict=True))
    return float(np.sum(np.multiply(a, b)).real)


def seed_like(y: Any, rng: np.random.Generator) -> Any:
    """A cotangent for a result, a tuple for several."""
    if isinstance(y, tuple):
        return tuple(seed_like(part, rng) for part in y)
    if isinstance(y, list):
        return [seed_like(part, rng) for part in y]
    seed = rng.normal(size=np.shape(y))
    if np.iscomplexobj(y):
        seed = seed + 1j * rng.normal(size=np.shape(y))
    return seed if isinstance(y, np.ndarray) else type(y)(seed)


def is_of_messages(fn: Any) -> bool:
    """Whether a function takes several processes: tests of MPI run it on some."""
    return (getattr(fn, "__module__", None) or "").startswith(("adjoint.runtime.messages", "adjoint.rules.mpi"))
