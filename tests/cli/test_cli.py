"""The commands, over a library that is stood in for where it is not their business."""

import sys

import pytest

import adjoint
from adjoint.cli import main
from adjoint.diagnostics import error

TRAINING = """
def loss(x: float) -> float:
    return x * x

class Model:
    def run(self, x):
        return x

rate = 0.1
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "training.py").write_text(TRAINING)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "training", raising=False)
    yield tmp_path
    sys.modules.pop("training", None)


@pytest.fixture
def library(monkeypatch):
    """Operators that say what they were asked for."""

    def operator(name):
        return lambda fn, wrt=0: (name, fn.__qualname__, wrt)

    for name in ("grad", "hessian"):
        monkeypatch.setattr(adjoint, name, operator(name), raising=False)
    monkeypatch.setattr(adjoint, "source", lambda derivative, *args: f"{derivative} {args}", raising=False)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["training:loss"], "('grad', 'loss', 0) ()"),
        (["training.py:loss", "1.0", "-2.0"], "('grad', 'loss', 0) (1.0, -2.0)"),
        (["training:Model.run", "--wrt", "x"], "('grad', 'Model.run', 'x') ()"),
        (["training:loss", "--operator", "hessian", "--wrt", "0, y"], "('hessian', 'loss', (0, 'y')) ()"),
        (["training:loss", "np.ones(2).sum()", "math.inf"], "('grad', 'loss', 0) (np.float64(2.0), inf)"),
    ],
)
def test_show(project, library, capsys, arguments, shown):
    assert main(["show", *arguments]) == 0
    assert capsys.readouterr().out == shown + "\n"


def test_check(project, library, capsys):
    assert main(["check", "training:loss"]) == 0
    assert capsys.readouterr().out == "training:loss: differentiable\n"


def test_check_prints_what_is_refused(project, library, capsys, monkeypatch):
    def refuse(derivative, *args):
        raise error("AD0301", None, "a reason")

    monkeypatch.setattr(adjoint, "source", refuse)
    assert main(["check", "training:loss"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "error[AD0301]: cannot differentiate this statement\n  = note: a reason\n"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("training", "'training' is not of the form module:function or file.py:function"),
        ("training:missing", "'training' has no 'missing'"),
        ("training:rate", "'training:rate' is an object of type 'float', not a function"),
        ("no_such_module:f", "there is no module 'no_such_module'"),
    ],
)
def test_targets_that_are_not_there(project, library, capsys, target, message):
    assert main(["show", target]) == 2
    assert capsys.readouterr().err == f"adjoint: {message}\n"


def test_arguments_that_cannot_be_evaluated(project, library, capsys):
    assert main(["show", "training:loss", "1 +"]) == 2
    assert "cannot evaluate the argument '1 +'" in capsys.readouterr().err


def test_explain(capsys):
    assert main(["explain", "ad0403"]) == 0
    assert capsys.readouterr().out.startswith("error[AD0403]: cannot differentiate with respect to an integer\n\n")


def test_explain_lists_all_codes(capsys):
    assert main(["explain"]) == 0
    assert "AD0201  cannot differentiate through an opaque function\n" in capsys.readouterr().out


def test_explain_of_an_unknown_code(capsys):
    assert main(["explain", "AD9999"]) == 2
    assert "there is no diagnostic 'AD9999'" in capsys.readouterr().err


def test_help_and_version(capsys):
    for option, text in ("--help", "explain the code of a diagnostic"), ("--version", "adjoint "):
        with pytest.raises(SystemExit) as left:
            main([option])
        assert left.value.code == 0
        assert text in capsys.readouterr().out


def test_cache_shows_and_removes_what_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    name = "f_grad_" + "0123456789ab" * 2
    (tmp_path / f"{name}.py").write_text("x = 1\n")
    assert main(["cache"]) == 0
    out = capsys.readouterr().out
    assert name in out and f"1 compiled derivative, 0.0 KiB, in {tmp_path}" in out
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"1 compiled derivative removed from {tmp_path}\n"
    assert not (tmp_path / f"{name}.py").exists()
