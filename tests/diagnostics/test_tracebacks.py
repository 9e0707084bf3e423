"""A traceback names the user's lines and those of derivatives; none of the compiler's."""

from __future__ import annotations

import math
import pickle
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

import adjoint as ad
from adjoint.diagnostics.spans import shown_path
from adjoint.dispatch import compiling

PACKAGE = str(Path(ad.__file__).parent)


def squares(x):
    return x * x


def opaque(x):
    return np.sum(special.kolmogi(x))


def inverse(x):
    return 1.0 / (x - x)


def is_the_other(x, y):
    return np.sum(x) if x is y else np.sum(y)


CALLS: dict[str, Callable[[], Any]] = {
    "grad": lambda: ad.grad(opaque)(np.ones(3)),
    "value_and_grad": lambda: ad.value_and_grad(opaque)(np.ones(3)),
    "vjp": lambda: ad.vjp(opaque, np.ones(3)),
    "jvp": lambda: ad.jvp(opaque, (np.ones(3),), (np.ones(3),)),
    "hvp": lambda: ad.hvp(opaque, (np.ones(3),), (np.ones(3),)),
    "jvps": lambda: ad.jvps(opaque, (np.ones(3),), [(np.ones(3),)]),
    "jet": lambda: ad.jet(opaque, (np.ones(3),), (np.ones(3),), order=2),
    "linearize": lambda: ad.linearize(opaque, np.ones(3)),
    "transpose": lambda: ad.transpose(opaque, np.ones(3)),
    "jacobian": lambda: ad.jacobian(opaque)(np.ones(3)),
    "hessian": lambda: ad.hessian(opaque)(np.ones(3)),
    "sparse": lambda: ad.jacobian(squares, sparsity=np.eye(2))(np.ones(3)),
    "pullback": lambda: ad.vjp(squares, np.ones(3))[1](1.0),
    "adjoint": lambda: ad.grad(squares).adjoint(None, None),
    "canonical": lambda: ad.grad(opaque).canonical(np.ones(3)),
    "compile": lambda: ad.compile(is_the_other)(np.ones(3), np.ones(3)),
    "source": lambda: ad.source(ad.grad(squares)),
    "export": lambda: ad.export("nowhere.py", squares),
    "tape_report": lambda: ad.tape_report(squares),
    "derivative_of": lambda: ad.derivative_of(inverse)(lambda x, y, z: x),
    "debug": lambda: ad.grad(opaque, debug=True)(np.ones(3)),
    "no function": lambda: ad.grad(3.0),
    "option": lambda: ad.grad(squares, native="yes"),
    "the user's error": lambda: ad.value_and_grad(inverse)(2.0),
    "in forward mode": lambda: ad.jvp(inverse, (2.0,), (1.0,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_frame_of_the_compiler(name: str) -> None:
    with pytest.raises(Exception) as found:
        CALLS[name]()
    files = [frame.filename for frame in traceback.extract_tb(found.value.__traceback__)]
    assert not [file for file in files if file.startswith(PACKAGE)]
    assert files[1] == __file__


def test_generated_lines_are_there() -> None:
    with pytest.raises(ZeroDivisionError) as found:
        ad.value_and_grad(inverse)(2.0)
    assert traceback.extract_tb(found.value.__traceback__)[-1].filename.startswith("<adjoint ")


def guarded(x):
    return math.sin(x)


@ad.derivative_of(guarded)
def guarded_vjp(x):
    def pullback(ct):
        if x > 1.0:
            raise ValueError("no slope here")
        return ct * math.cos(x)

    return math.sin(x), pullback


def logarithm(x):
    return math.log(x)


def slope(x, a):
    """Long enough to stay a function: two calls of it, inlined, are more than the budget."""
    p = x * a + math.sin(x) * a
    q = p * p - math.cos(p) * x
    r = q * x + p / (1.0 + a * a)
    s = math.exp(-r * r) * q + x
    t = s * r + p * q - r / (2.0 + s * s)
    return t + guarded(a) + (logarithm(x) if a < 1.0 else x)


def three_slopes(x, a):
    y = x + slope(x, 0.5)
    y = 0.1 * slope(y, 0.5)
    return slope(y, a) * slope(x, a)


def shown(run: Callable[[], Any]) -> str:
    """The traceback below the lines of the test, and what stands for the places of this file."""
    with pytest.raises(ValueError) as found:
        run()
    text = "".join(traceback.format_exception(found.value))
    text = re.sub(r" #\w+>", ">", text[text.index('  File "<adjoint') :])
    text = re.sub(r"line \d+, in (\w+)", r"in \1", re.sub(r"\n *[~^]+(?=\n)", "", text))
    text = re.sub(rf"{re.escape(shown_path(__file__))}:\d+", "here", text)
    return re.sub(r"(\w+_(?:primal|pullback)\w*\().*?\)  #", r"\1...)  #", text)


try:
    math.log(-0.5)
except ValueError as failure:
    OUTSIDE = str(failure)  # from Python 3.14 on it tells the number

OF_CALLS = f"""\
  File "<adjoint three_slopes_grad>", in three_slopes_grad
    y = x + slope(x, 0.5)  # here:13, slope(x, 0.5)
  File "<adjoint three_slopes_grad>", in slope
    return t + math.sin(a) + (math.log(x) if a < 1.0 else x)  # here:12, math.log(x)
ValueError: {OUTSIDE}
in the derivative of here:12, math.log(x)
called from here:30, logarithm(x)
called from here:13, slope(x, 0.5)
"""

OF_PULLBACKS = """\
  File "<adjoint three_slopes_adjoint>", in three_slopes_adjoint
    x_bar, a_bar = slope_pullback(...)  # here:26, slope(x, a)
  File "<adjoint three_slopes_adjoint>", in slope_pullback
    raise ValueError('no slope here')  # here:13, raise ValueError("no slope here")
ValueError: no slope here
in the derivative of here:13, raise ValueError("no slope here")
called from here:16, guarded(a)
called from here:26, slope(x, a)
"""


def test_each_generated_line_shows_that_of_the_user() -> None:
    assert shown(lambda: ad.grad(three_slopes)(-0.5, 0.5)) == OF_CALLS


def test_lines_of_pullbacks_show_that_of_the_user() -> None:
    pullback = ad.vjp(three_slopes, 0.5, 2.0)[1]
    assert shown(lambda: pullback(1.0)) == OF_PULLBACKS


def test_recursive_calls_are_told_once() -> None:
    def power(x: float, n: int) -> float:
        return x * power(x, n - 1) if n > 0 else math.log(x)

    with pytest.raises(ValueError) as found:
        ad.value_and_grad(power)(-1.0, 5)
    (note,) = found.value.__notes__
    assert note.endswith("power(x, n - 1) (5 times)") and note.count("power") == 1


def test_an_exception_that_passes_two_derivatives_tells_all_calls() -> None:
    inner = ad.value_and_grad(lambda x: math.log(x))
    outer = ad.value_and_grad(lambda x: x * ad.stop_gradient(failing(x)))

    def failing(x: float) -> float:
        return inner(x)[0]

    with pytest.raises(ValueError) as found:
        outer(-1.0)
    (note,) = found.value.__notes__
    assert note.startswith("in the derivative of ") and "math.log(x)" in note and "failing(x)" in note


def test_all_frames_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJOINT_TRACEBACK", "full")
    with pytest.raises(ad.DifferentiationError) as found:
        ad.grad(opaque)(np.ones(3))
    assert any(frame.filename.startswith(PACKAGE) for frame in traceback.extract_tb(found.value.__traceback__))


def test_faults_keep_their_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*given: Any, **named: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(compiling, "emit", fault)
    with pytest.raises(ad.DifferentiationError, match="AD0901") as found:
        ad.grad(lambda x: x * x * x)(2.0)
    cause = found.value.__cause__
    assert cause is not None
    assert any(frame.filename.startswith(PACKAGE) for frame in traceback.extract_tb(cause.__traceback__))


def test_the_exception_has_its_public_name() -> None:
    with pytest.raises(ad.DifferentiationError) as found:
        ad.grad(3.0)
    assert traceback.format_exception_only(found.value)[0].startswith("adjoint.DifferentiationError: error[AD0103]")
    assert type(pickle.loads(pickle.dumps(found.value))) is ad.DifferentiationError
