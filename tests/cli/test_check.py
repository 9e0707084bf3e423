"""``adjoint check`` of files and packages: what is declared, and the operators that are called with known functions."""

import json
import sys

import pytest

from adjoint.cli import main
from adjoint.diagnostics.codes import CATALOGUE

MODEL = """
import numpy as np
import adjoint as ad
from .helper import scale

def loss(x: float) -> float:
    return scale(x) * x

def vector(x: np.ndarray) -> np.ndarray:
    return x * 2.0

def typo(x: np.ndarray) -> float:
    return np.sun(x)

def counted(n: int) -> float:
    return n * 1.0

def untold(x):
    return x

@ad.differentiable
def declared(x: float) -> float:
    return x * x

class Model:
    weight: float

    def run(self, x: float) -> float:
        return self.weight * x

WRT = "x"

def main():
    ad.grad(loss, wrt=WRT)
    ad.jacobian(vector)
    ad.value_and_grad(untold)
    ad.vjp(loss, 2.0)
    ad.grad(Model.run, wrt=("self", "x"))
    ad.grad(loss, wrt=unknown())

def local(loss, x):
    here = lambda x: x
    ad.grad(loss)
    ad.grad(here)
    ad.grad(lambda x: x)
"""
WRONG = """
from adjoint import grad, hessian as second
from pkg.model import counted, loss, typo, vector

def main():
    return grad(vector), second(typo), grad(typo), grad(counted), grad(loss, wrt="y")
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text("def scale(x):\n    return 2.0 * x\n")
    (package / "model.py").write_text(MODEL)
    (package / "other.py").write_text("raise RuntimeError('has nothing to do with it')\n")
    (tmp_path / "wrong.py").write_text(WRONG)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("pkg", "wrong", "broken", "scripts", "bad-name"):
            del sys.modules[name]


def check(*arguments):
    return main(["check", *arguments])


@pytest.mark.parametrize("path", ["pkg", "pkg/model.py", "pkg.model"])
def test_what_can_be_differentiated(project, capsys, path):
    assert check(path) == 0
    found = capsys.readouterr()
    assert [line.partition(": ")[2] for line in found.out.splitlines()] == [
        "declared: differentiable",
        "ad.grad(loss): differentiable",
        "ad.jacobian(vector): differentiable",
        "ad.value_and_grad(untold): not checked: the parameter 'x' has no annotation",
        "ad.vjp(loss): differentiable",
        "ad.grad(Model.run): differentiable",
        "ad.grad(loss): not checked: what it is taken with respect to is known at run time only",
        "",
    ]
    assert found.out.startswith("pkg/model.py:22: ") and "5 differentiable, 2 not checked" in found.out
    assert found.err == ""


def test_what_is_refused(project, capsys):
    assert check("wrong.py") == 1
    found = capsys.readouterr()
    assert "wrong.py:6: grad(vector): refused\n" in found.out and "5 refused" in found.out
    for code in ("AD0406", "AD0211", "AD0403", "AD0405"):
        assert f"error[{code}]" in found.err
    assert "did you mean 'sum'?" in found.err
    assert "asked for: wrong.py:6:12, grad(vector)" in found.err
    assert found.err.count("error[AD0211]") == 1 and "4 errors" in found.err


def test_several_paths(project, capsys):
    assert check(".", "pkg.model") == 1
    assert capsys.readouterr().out.count("declared: differentiable") == 2
    assert check("pkg/helper.py", "pkg/other.py") == 0
    assert "nothing to check" in capsys.readouterr().out
    assert check("pkg", "absent.py") == 2
    assert "there is no file 'absent.py'" in capsys.readouterr().err


def test_what_cannot_be_imported(project, capsys):
    (project / "broken.py").write_text("import adjoint\nimport not_there\n")
    (project / "bad-name.py").write_text(
        "import adjoint as ad\n\ndef f(x: float) -> float: return x\n\ndf = ad.grad(f)\n"
    )
    assert check("broken.py", "bad-name.py") == 2
    found = capsys.readouterr()
    assert "broken.py: cannot be imported: ModuleNotFoundError: No module named 'not_there'" in found.err
    assert "bad-name.py:5: ad.grad(f): differentiable" in found.out


def test_a_module_that_is_refused_when_it_is_imported(project, capsys):
    (project / "broken.py").write_text("import adjoint as ad\n\ndef f(x): return eval('x')\n\nad.grad(f)(1.0)\n")
    assert check("broken.py") == 1
    assert "error[AD" in capsys.readouterr().err


def test_json(project, capsys):
    assert check("wrong.py", "--format", "json") == 1
    found = json.loads(capsys.readouterr().out)
    first = found["findings"][0]
    assert (first["file"], first["line"], first["column"], first["verdict"]) == ("wrong.py", 6, 12, "refused")
    problem = first["diagnostics"][0]
    assert (problem["code"], problem["severity"]) == ("AD0406", "error")
    assert problem["labels"][0]["file"] == "pkg/model.py" and problem["labels"][0]["line"] == 9
    assert problem["rendered"].startswith("error[AD0406]")


def test_what_modules_print_is_no_part_of_the_answer(project, capsys):
    (project / "scripts.py").write_text(
        "import adjoint as ad\nprint('training...')\ndef f(x: float): return x\nad.grad(f)\n"
    )
    assert check("scripts.py", "--format", "json") == 0
    found = capsys.readouterr()
    assert json.loads(found.out)["findings"][0]["verdict"] == "differentiable" and found.err == "training...\n"


def test_github(project, capsys):
    assert check("wrong.py", "--format", "github") == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all(line.startswith("::error file=pkg/model.py,line=") for line in lines)
    assert "::error file=pkg/model.py,line=13,endLine=13,col=12,endColumn=18,title=AD0211 there is no" in "\n".join(
        lines
    )
    assert "%0Ahelp: did you mean 'sum'?" in "\n".join(lines)


def test_sarif(project, capsys):
    assert check("wrong.py", "--format", "sarif") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert set(rules) == {"AD0211", "AD0403", "AD0405", "AD0406"} <= set(CATALOGUE)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "pkg/model.py"
        assert place["region"]["startColumn"] >= 1
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_hook_for_pre_commit():
    """The definition names a command that there is."""
    from pathlib import Path

    text = (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text()
    entry = next(line.partition(": ")[2] for line in text.splitlines() if "entry:" in line)
    program, command = entry.split()
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert program == "adjoint" and left.value.code == 0
