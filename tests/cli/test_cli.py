"""The commands."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from adjoint.cli import completion, main
from adjoint.cli.main import parser

TRAINING = """
def loss(x: float) -> float:
    return x * x

class Model:
    def run(self, x):
        return x

def powers(x: float) -> float:
    y = x
    for _ in range(3):
        y = y * y
    return y

rate = 0.1
"""
VECTORS = """
import numpy as np

RATE = 1.0

def scaled(x, factor):
    return RATE * x * factor

def energy(x, factor):
    y = scaled(x, factor)
    return np.sum(y * y)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "training.py").write_text(TRAINING)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "training", raising=False)
    yield tmp_path
    sys.modules.pop("training", None)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["training:loss"], "return 2.0 * x"),
        (["training.py:loss", "1.0"], "# grad(loss) for x: float"),
        (["training:Model.run", "Model()", "1.0", "--wrt", "x"], "# grad(run, wrt='x')"),
        (["training:loss", "--operator", "value_and_grad"], "def loss_value_and_grad(x):"),
        (["training:loss", "np.ones(2).sum()"], "float64"),
        (["training:loss", "--operator", "jacobian"], "# the pullback of vjp(loss), once for each row\ndef loss_"),
        (["training:loss", "--operator", "jacobian", "--mode", "forward"], "# jvp(loss), once for each column for x: "),
        (["training:loss", "--operator", "hessian"], "# jvp(grad(loss)), once for each column for x: "),
        (["training:loss", "--mode", "forward"], "def loss_jvp(x, x_dot):"),
        (["training:powers", "--tape"], "keeps  y"),
        (["training:powers", "2.0", "--tape"], "96 bytes kept"),
        (["training:powers", "--stage", "list"], "simplified\n"),
        (["training:powers", "--stage", "lowered"], "mul(%y, %y)"),
        (["training:powers", "--stage", "all"], "-- derivative"),
        (["training:powers", "--native"], "y_kept[unsigned(i)] = y"),
    ],
)
def test_show(project, capsys, arguments, shown):
    assert main(["show", *arguments]) == 0
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("options", [[], ["--mode", "forward"]])
def test_what_is_shown_runs(project, capsys, options):
    (project / "vectors.py").write_text(VECTORS)
    assert main(["show", "vectors.py:energy", "np.ones(3)", "2.0", *options]) == 0
    namespace = {}
    exec(capsys.readouterr().out, namespace)
    x = np.array([1.0, 2.0, 3.0])
    if options:
        value, slope = namespace["energy_jvp"](x, 2.0, np.ones(3), 0.0)
        assert (value, slope) == (4 * 14.0, 4 * 12.0)
    else:
        np.testing.assert_array_equal(namespace["energy_grad"](x, 2.0), 8 * x)


def test_what_shows_nothing(project, capsys):
    for options, told in (
        (["--stage", "nothing"], "there is no stage 'nothing': source, lowered"),
        (["--mode", "forward", "--tape"], "goes alone"),
        (["--operator", "hessian", "--native"], "'--native' is of gradients: leave out --operator hessian"),
        (["1.0", "2.0"], "takes (x: float) -> float: too many positional arguments"),
    ):
        assert main(["show", "training:loss", *options]) == 2
        assert told in capsys.readouterr().err
    assert main(["show", "training:Model.run"]) == 1
    told = capsys.readouterr().err
    assert "of 'self', 'x'" in told and "pass example arguments: training:Model.run 1.0 'np.ones(3)'" in told


def test_check(project, capsys):
    assert main(["check", "training:loss"]) == 0
    assert capsys.readouterr().out == "training.py:2: loss: differentiable\n"
    assert main(["check", "training:Model.run", "1.0", "1.0", "--wrt", "7"]) == 1
    printed = capsys.readouterr()
    assert printed.out == "training.py:6: Model.run: refused\n"
    assert "error[AD0405]" in printed.err


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("training", "'training' is not of the form module:function or file.py:function"),
        ("training:missing", "'training' has no 'missing'"),
        ("training:rate", "'training:rate' is an object of type 'float', not a function"),
        ("no_such_module:f", "there is no module 'no_such_module'"),
    ],
)
def test_targets_that_are_not_there(project, capsys, target, message):
    assert main(["show", target]) == 2
    assert capsys.readouterr().err == f"adjoint: {message}\n"


def test_arguments_that_cannot_be_evaluated(project, capsys):
    assert main(["show", "training:loss", "1 +"]) == 2
    assert "cannot evaluate the argument '1 +'" in capsys.readouterr().err


@pytest.mark.parametrize("code", ["AD0403", "ad0403", "0403", "403"])
def test_explain(capsys, code):
    assert main(["explain", code]) == 0
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
    (tmp_path / f"{name}.code").write_text("x = 1\n")
    assert main(["cache"]) == 0
    out = capsys.readouterr().out
    assert name in out and f"1 compiled derivative, 0.0 KiB, in {tmp_path}" in out
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"1 compiled derivative removed from {tmp_path}\n"
    assert not (tmp_path / f"{name}.code").exists()


# Terminals and shells


def run(*arguments, **environment):
    command = [sys.executable, "-m", "adjoint.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def test_who_reads_no_further_sees_no_traceback():
    command = f"{sys.executable} -m adjoint.cli explain | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    first, status = done.stdout.splitlines()
    assert first.startswith("AD0101  ") and status in ("0", "141")
    assert done.stderr == ""


@pytest.mark.parametrize("variable", ["NO_COLOR", None])
def test_no_color_means_no_bold_either(project, variable):
    pexpect = pytest.importorskip("pexpect")
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    environment |= {"TERM": "xterm-256color"} | ({variable: ""} if variable else {})
    command = [sys.executable, "-m", "adjoint.cli", "check", "training:loss", "--wrt", "7"]
    told = pexpect.run(" ".join(command), env=environment, encoding="utf-8")
    assert "AD0405" in told
    assert ("\x1b[" in told) is (variable is None)


def test_completion_knows_all_options():
    for shell in completion.SHELLS:
        text = completion.script(shell, parser())
        for word in ("check", "sarif", "tape", "value_and_grad", "report"):
            assert word in text
        if shutil.which(shell):
            assert subprocess.run([shell, "-n"], input=text, text=True, capture_output=True).stderr == ""


def test_bash_completes(project):
    script = completion.script("bash", parser())
    asked_for = {"ch": "check", "check --format s": "sarif", "show --st": "--stage", "show tr": "training.py"}
    for words, found in asked_for.items():
        asked = f"COMP_WORDS=(adjoint {words}); COMP_CWORD={len(words.split())}; _adjoint; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True)
        assert done.stdout.split() == [found], done.stderr
