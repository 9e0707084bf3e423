"""What takes long is told on terminals and in notebooks, and nowhere else."""

from __future__ import annotations

import io
import sys
import time
from types import SimpleNamespace

import pytest

import adjoint as ad
from adjoint import progress
from adjoint.dispatch import compiling


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything takes long."""
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "STEP", 0.01)


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_compiling_that_takes_long_is_told_on_a_terminal(monkeypatch, hurried, stream):
    monkeypatch.setattr(sys, "stderr", stream())
    with progress.told_when_slow("compiling f_grad to machine code") as told:
        told.leaves([7, 3])
        time.sleep(0.2)
    shown = sys.stderr.getvalue().split("\r")
    if stream is not Terminal:
        assert shown == [""]
        return
    assert shown[0] == "adjoint: compiling f_grad to machine code (lines 3, 7 will run as Python), 0 s ..."
    assert len(shown) > 4 and shown[-2] == " " * len(shown[0]) and shown[-1] == ""


def test_compiling_that_takes_long_is_told_in_a_notebook(monkeypatch, hurried):
    shown = []

    def display(data, raw, display_id):
        assert raw and display_id
        shown.append(data["text/plain"])
        return SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))

    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=sys.modules["IPython.display"]))
    monkeypatch.setattr(progress, "STEP", 10.0)
    with progress.told_when_slow("compiling f_grad to machine code"):
        time.sleep(0.1)
    assert shown == ["adjoint: compiling f_grad to machine code, 0 s ...", ""] and not stream.getvalue()


def test_what_does_not_take_long_is_not_told(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.told_when_slow("compiling f_grad to machine code"):
        pass
    assert not sys.stderr.getvalue()


def test_what_is_done_inside_of_something_else_is_not_told(monkeypatch, hurried):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.told_when_slow("differentiating f"), progress.told_when_slow("differentiating g"):
        time.sleep(0.1)
    assert "differentiating f," in sys.stderr.getvalue() and "differentiating g," not in sys.stderr.getvalue()
    with progress.told_when_slow("differentiating h"):
        time.sleep(0.1)
    assert "differentiating h," in sys.stderr.getvalue()


def test_differentiating_that_takes_long_is_told_on_a_terminal(monkeypatch, hurried):
    usual = compiling.compiled

    def slow(*args, **options):
        time.sleep(0.1)
        return usual(*args, **options)

    def square(x):
        return x * x

    monkeypatch.setattr(compiling, "compiled", slow)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert ad.grad(square)(3.0) == 6.0
    shown = sys.stderr.getvalue().split("\r")
    assert shown[0] == "adjoint: differentiating square, 0 s ..." and shown[-1] == ""
