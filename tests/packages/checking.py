"""One function of a package: what its derivative is, beside differences."""

from __future__ import annotations

import copy
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad
from packages.functions import count_of_arguments, samples

STEPS = (1e-4, 1e-5, 1e-6)
NEARBY = (1e-13, 3e-14, 1e-14)
"""Steps at which staircases of fine steps show, and for the rest the rounding."""
AGREE = 1e-5
"""Up to which relative difference differences at several steps agree."""


LEAST, MOST = 1e-100, 1e100
"""Between which values intermediate results of derivatives can be told."""


class Outcome(NamedTuple):
    """What came of a function: ``right``, ``wrong``, ``nan``, ``refused``, ``failed``, or ``not called``."""

    kind: str
    reason: str = ""


class Sample(NamedTuple):
    """A call that counts: its arguments, its value, the derivatives of that, and how well these are known."""

    args: tuple[Any, ...]
    value: float
    slopes: list[np.ndarray]
    errors: list[np.ndarray]


def checked(name: str, function: Callable[..., Any], note: Callable[[str], None] = lambda _: None) -> Outcome:
    """Calls a function and its derivative; ``note`` is told what is being done."""
    sample = sampled(name, function)
    if sample is None:
        return Outcome("not called")
    note("differentiated")
    wrt = tuple(range(len(sample.args)))
    try:
        value, gradient = ad.value_and_grad(summed(function), wrt)(*copy.deepcopy(sample.args))
    except ad.DifferentiationError as refusal:
        return Outcome("refused", _said(refusal))
    except Exception as error:
        return Outcome("failed", f"{type(error).__name__}: {error}"[:300])
    if not math.isclose(value, sample.value, rel_tol=1e-9, abs_tol=1e-300):
        return Outcome("wrong", f"the value is {value}, not {sample.value}, at {sample.args}")
    for place, (found, slope, error) in enumerate(zip(gradient, sample.slopes, sample.errors, strict=True)):
        if np.any(np.isnan(found)):
            return Outcome("nan", f"the derivative {place} is {found}, not {slope}, at {sample.args}")
        if not np.all(np.abs(np.asarray(found, float) - slope) <= error):
            if _is_staircase(summed(function), sample, gradient):
                return Outcome("not called", "a staircase")
            return Outcome("wrong", f"the derivative {place} is {found}, not {slope}, at {sample.args}")
    return Outcome("right")


def _said(refusal: ad.DifferentiationError) -> str:
    first = refusal.diagnostics[0]
    text = first.labels[0].text if first.labels else " ".join(first.notes[:1])
    if not first.labels:
        return f"{first.code} {text or first.title}"
    span = first.labels[0].span
    place = f"{span.file.rpartition('site-packages/')[2]}:{span.line}"
    inside = next((note for note in first.notes if note.startswith("in ")), None)
    if inside is not None:
        place = inside.removeprefix("in ").partition(", ")[0].rpartition("site-packages/")[2]
    text = text.removeprefix("in what this calls, ")
    return f"{first.code} {text or first.title} ({place})"


def summed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with the sum of what it returns where that is an array or several numbers."""

    def sum_of_result(*args: Any) -> Any:
        result = function(*args)
        if isinstance(result, np.ndarray):
            return np.sum(result)
        if isinstance(result, (tuple, list)):
            total = 0.0
            for part in result:
                total = total + np.sum(part)
            return total
        return result

    return sum_of_result


def sampled(name: str, function: Callable[..., Any]) -> Sample | None:
    """The first arguments for which a function gives numbers whose differences agree; rather none that are all zero."""
    count = count_of_arguments(function)
    if count is None:
        return None
    constant = None
    for args in samples(name, count):
        found = _tried(summed(function), args) if _gives_numbers(function, args) else None
        if found is not None and any(map(np.any, found.slopes)):
            return found
        constant = constant or found
    return constant


def _gives_numbers(function: Callable[..., Any], args: Sequence[Any]) -> bool:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = function(*copy.deepcopy(args))
        except (Exception, SystemExit):
            return False
    return not isinstance(result, (tuple, list)) or not all(isinstance(part, int) for part in result)


def _number(function: Callable[..., Any], args: Sequence[Any]) -> float | None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = function(*copy.deepcopy(args))
        except (Exception, SystemExit):
            return None
    if type(value) is not float and not isinstance(value, np.floating):
        return None
    return float(value) if math.isfinite(value) else None


def _tried(function: Callable[..., Any], args: tuple[Any, ...]) -> Sample | None:
    value = _number(function, args)
    if value is None or value != _number(function, args) or (value and not LEAST < abs(value) < MOST):
        return None
    slopes, errors = [], []
    for place, arg in enumerate(args):
        slope, error = np.zeros(np.shape(arg)), np.zeros(np.shape(arg))
        for index in np.ndindex(slope.shape):
            found = _slope(function, args, place, index, value)
            if found is None:
                return None
            slope[index], error[index] = found
        slopes.append(slope)
        errors.append(error)
    return Sample(args, value, slopes, errors)


def _slope(
    function: Callable[..., Any], args: tuple[Any, ...], place: int, index: tuple[int, ...], value: float
) -> tuple[float, float] | None:
    """A partial derivative, and within how much it is known; None where differences do not agree."""
    x = float(np.asarray(args[place])[index])
    found = []
    for step in STEPS:
        ends = [_number(function, moved) for moved in _moved(args, place, index, step * x)]
        if None in ends:
            return None
        right, left = ends
        assert right is not None and left is not None
        one_sided = (right - value, value - left)
        found.append((right - left) / (2 * step * x))
        if abs(one_sided[0] - one_sided[1]) > 0.02 * max(map(abs, one_sided)) + 1e-10 * abs(value):
            return None  # a kink, a jump
    noise = 1e-9 * abs(value / x)
    spread = max(found) - min(found)
    if spread > AGREE * max(map(abs, found)) + noise:
        return None
    return found[1], 20 * AGREE * abs(found[1]) + 10 * noise + 4 * spread


def _is_staircase(function: Callable[..., Any], sample: Sample, gradient: Sequence[Any]) -> bool:
    """Whether, from nearby, the function has the derivatives found: it rounds, or ends an iteration at some time."""
    for place, (found, slope) in enumerate(zip(gradient, sample.slopes, strict=True)):
        for index in np.ndindex(slope.shape):
            far, near = slope[index], float(np.asarray(found, float)[index])
            if abs(far - near) <= 0.01 * abs(far):
                continue
            x = float(np.asarray(sample.args[place])[index])
            seen = []
            for step in NEARBY:
                ends = [_number(function, moved) for moved in _moved(sample.args, place, index, step * x)]
                if None not in ends:
                    seen.append((ends[0] - ends[1]) / (2 * step * x))  # type: ignore[operator]
            if not any(abs(each - near) < abs(each - far) for each in seen):
                return False
    return True


def _moved(args: tuple[Any, ...], place: int, index: tuple[int, ...], step: float) -> Iterator[tuple[Any, ...]]:
    for by in (step, -step):
        changed = np.array(args[place], float)
        changed[index] += by
        yield (*args[:place], changed if changed.ndim else float(changed), *args[place + 1 :])


def family(reason: str) -> str:
    """The code of a refusal, or the class of an exception."""
    found = re.match(r"\w+", reason)
    return found.group() if found else reason
