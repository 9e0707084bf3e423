"""A traceback names the user's lines and those of derivatives; none of the compiler's."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.dispatch import compiling

PACKAGE = str(Path(ad.__file__).parent)


def squares(x):
    return x * x


def opaque(x):
    return np.sum(np.trim_zeros(x))


def inverse(x):
    return 1.0 / (x - x)


def handled(x, n):
    try:
        return [x, x][n] * x
    except IndexError:
        return x


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
    "compile": lambda: ad.compile(handled)(3.0, 0),
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
