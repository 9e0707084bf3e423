"""Whether the derivative of a spelled call agrees with NumPy and with differences."""

from __future__ import annotations

import ast
import traceback
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import adjoint as ad
from fuzz.call_forms.spelling import Form, generate, parts_of
from fuzz.check import Failed, Outcome, Skipped, module_of

STEPS = (1e-3, 1e-4, 1e-5)
OF_DOUBLES = ("scipy.stats.", "np.linalg.lstsq")
"""Keep the precision that they are given where NumPy and SciPy go over to doubles."""

OF_FACTORS = ("scipy.linalg.qr_update", "scipy.linalg.qr_insert", "scipy.linalg.qr_delete")
"""Take factors: of what is none, SciPy makes what are factors of no matrix."""


def check(seed: int) -> Outcome:
    """Checks the call of a seed."""
    try:
        form = generate(seed)
    except Skipped as skipped:
        return Outcome("skipped", str(skipped))
    return check_form(form, seed)


def check_form(form: Form, seed: int = 0) -> Outcome:
    """Checks the text of a call."""
    outcome = Outcome()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with module_of(form.text) as module:
                single = "float32" in form.text
                if single and form.callee.startswith(OF_DOUBLES):
                    raise Skipped("of double precision")
                call = of_factors(module.call, form) if form.callee in OF_FACTORS else module.call
                _compare(call, module.arguments[0], np.random.default_rng(seed), single)
        except ad.DifferentiationError as refusal:
            codes = sorted({problem.code for problem in refusal.diagnostics})
            outcome.kind, outcome.key, outcome.message = "refused", f"{form.callee} {','.join(codes)}", str(refusal)
            if "AD0901" in codes:
                outcome.kind = "failed"
        except Skipped as skipped:
            outcome.kind, outcome.key = "skipped", str(skipped)
        except Failed as failed:
            outcome.kind, outcome.key, outcome.message = "failed", f"{form.callee} {failed.key}", str(failed)
        except Exception as error:
            outcome.kind, outcome.key = "failed", f"{form.callee} {type(error).__name__}"
            outcome.message = traceback.format_exc()
    return outcome


def of_factors(call: Callable[[Any], Any], form: Form) -> Callable[[Any], Any]:
    """The call as one of a factor, where it is of one: the columns of the first are normal, the second is upper."""
    found = next(node for node in ast.walk(ast.parse(form.text)) if isinstance(node, ast.Call) and _has_point(node))
    given = {**dict(enumerate(found.args)), **{word.arg: word.value for word in found.keywords}}
    names = {key for key, value in given.items() if _has_point(value)}
    if names & {0, 1, "Q", "R"} and "v * v" in form.text:
        raise Skipped("squares of factors")
    if names & {0, "Q"}:
        return lambda x: call(np.linalg.qr(x)[0])
    return (lambda x: call(np.triu(x))) if names & {1, "R"} else call


def _has_point(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "x" for part in ast.walk(node))


def _compare(call: Callable[[Any], Any], x: Any, rng: np.random.Generator, single: bool) -> None:
    """Values, forward mode, reverse mode and differences of a call, along a direction and for a cotangent."""
    expected = _copied(call(_copied(x)))
    seed = _noise(expected, rng)
    direction = _noise(x, rng)
    value, pullback = ad.vjp(call, _copied(x))
    _same("value of vjp", value, expected, single)
    (x_bar,) = pullback(seed)
    _alike("cotangent", x_bar, x)
    value, tangent = ad.jvp(call, (_copied(x),), (direction,))
    _same("value of jvp", value, expected, single)
    _alike("tangent", tangent, expected)
    if not all(np.isfinite(part).all() for part in parts_of(expected)):
        raise Skipped("no finite value")
    backward, forward = _paired(x_bar, direction), _paired(seed, tangent)
    scale = 1 + abs(forward)
    if not abs(backward - forward) <= (2e-3 if single else 1e-8) * scale:
        raise Failed("forward against reverse", f"{forward!r} against {backward!r}")
    if single:
        return
    quotients = [_quotient(call, x, direction, seed, step) for step in STEPS]
    if not any(abs(a - b) <= 1e-4 * scale for a, b in pairwise(quotients)):
        raise Skipped("a kink")
    if not any(abs(forward - quotient) <= 1e-4 * scale for quotient in quotients):
        raise Failed("differences", f"{forward!r} against {quotients!r}")


def _quotient(call: Callable[[Any], Any], x: Any, direction: Any, seed: Any, step: float) -> float:
    try:
        ahead, here, behind = (_paired(seed, call(_moved(x, direction, sign * step))) for sign in (1, 0, -1))
    except Exception:
        raise Skipped("the end of the domain") from None
    if step == STEPS[-1] and abs(ahead + behind - 2 * here) > 0.1 * step * (1 + abs(ahead - behind) / step):
        raise Skipped("a kink")  # eigenvectors change their signs
    return (ahead - behind) / (2 * step)


def _copied(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        parts = [_copied(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return np.copy(value, order="K") if isinstance(value, np.ndarray) else value


def _noise(value: Any, rng: np.random.Generator) -> Any:
    """Numbers in the structure of a value, None for what cannot vary."""
    if isinstance(value, (list, tuple)):
        parts = [_noise(part, rng) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if np.asarray(value).dtype.kind not in "fc":
        return None
    noise = rng.normal(size=np.shape(value))
    if np.iscomplexobj(value):
        noise = noise + 1j * rng.normal(size=np.shape(value))
    if isinstance(value, np.ndarray):
        return np.asarray(noise, value.dtype)
    return type(value)(noise)


def _moved(x: Any, direction: Any, step: float) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)([_moved(part, along, step) for part, along in zip(x, direction, strict=True)])
    if not isinstance(x, np.ndarray):
        return x + step * direction
    moved = np.copy(x, order="K")
    moved += step * direction
    return moved


def _paired(cotangent: Any, tangent: Any) -> float:
    if cotangent is None or tangent is None:
        return 0.0
    if isinstance(cotangent, (list, tuple)):
        return sum(_paired(a, b) for a, b in zip(cotangent, tangent, strict=True))
    return float(np.real(np.sum(np.multiply(cotangent, tangent))))


def _same(what: str, value: Any, expected: Any, single: bool) -> None:
    if isinstance(expected, (list, tuple)):
        if type(value) is not type(expected) or len(value) != len(expected):
            raise Failed(what, f"{value!r} for {expected!r}")
        for mine, theirs in zip(value, expected, strict=True):
            _same(what, mine, theirs, single)
        return
    mine, theirs = np.asarray(value), np.asarray(expected)
    if mine.shape != theirs.shape or (mine.dtype != theirs.dtype and theirs.dtype.kind in "fc"):
        raise Failed(what, f"{mine.dtype} {mine.shape} for {theirs.dtype} {theirs.shape}")
    if isinstance(value, np.ndarray) != isinstance(expected, np.ndarray):
        raise Failed(f"{what}, its class", f"{type(value)} for {type(expected)}")
    if theirs.dtype.kind in "fc" and not np.allclose(mine, theirs, 1e-5 if single else 1e-10, 1e-12, equal_nan=True):
        raise Failed(what, f"{value!r} for {expected!r}")


def _alike(what: str, given: Any, like: Any) -> None:
    """Checks that a tangent or a cotangent has the structure of what it belongs to."""
    if isinstance(like, (list, tuple)):
        if not isinstance(given, (list, tuple)) or len(given) != len(like):
            raise Failed(f"structure of the {what}", f"{given!r} for {like!r}")
        for mine, theirs in zip(given, like, strict=True):
            _alike(what, mine, theirs)
    elif np.asarray(like).dtype.kind in "fc" and given is not None and np.shape(given) != np.shape(like):
        raise Failed(f"shape of the {what}", f"{np.shape(given)} for {np.shape(like)}")
