"""Exported derivatives: modules that stand by themselves."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import adjoint as ad

SOURCE = Path(ad.__file__).parents[1]

USER = """
from dataclasses import dataclass
import math
import numpy as np

K = 3.0
TABLE = np.array([1.0, 2.0])

@dataclass
class Dense:
    weight: np.ndarray
    bias: float
    name: str = "dense"

def layer(model, x):
    return np.sum(np.tanh(model.weight * x)) + model.bias

def square(x: float) -> float:
    return x * x

def cube(x: float) -> float:
    return x * x * x

def newton(a, steps):
    x = a
    for _ in range(steps):
        x = 0.5 * (x + a / x)
    return x

def scaled(x):
    return K * math.sin(x)

def tabled(x):
    return np.sum(x * TABLE)

def mode(x, kind="square"):
    return x * x if kind == "square" else x

def report(value):
    return value

def logged(x, log):
    log.append(report(2.0))
    return x * x

def fill(out, x):
    out[0] = x * x
    return out[0] * out[0]
"""


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "user_module.py").write_text(USER)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("user_module")
    sys.modules.pop("user_module", None)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(folder: Path, code: str) -> str:
    """Runs code in a fresh process that finds this package and the modules of the folder."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(folder)])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_whole_file(tmp_path: Path, user: ModuleType) -> None:
    path = ad.export(tmp_path / "out.py", ad.grad(user.square))
    assert path.read_text() == (
        '"""Derivatives written by Adjoint. They need NumPy and the runtime of Adjoint, not its compiler."""\n'
        "\n\n"
        "# grad(square) for x: float\n"
        "def square_grad(x):\n"
        "    return 2.0 * x\n"
    )


def test_fresh_process_without_the_compiler(tmp_path: Path, user: ModuleType) -> None:
    model = user.Dense(np.array([0.5, -0.25]), 1.0)
    x = np.array([1.0, 2.0])
    ad.export(tmp_path / "layers.py", ad.value_and_grad(user.layer), model, x)
    value, gradient = ad.value_and_grad(user.layer)(model, x)
    printed = run(
        tmp_path,
        "import sys, numpy as np\n"
        "from layers import layer_value_and_grad\n"
        "from user_module import Dense\n"
        "value, gradient = layer_value_and_grad(Dense(np.array([0.5, -0.25]), 1.0), np.array([1.0, 2.0]))\n"
        "print(repr(value), gradient.weight.tolist(), gradient.bias, type(gradient).__qualname__)\n"
        "print([name for name in sys.modules if name.startswith(('adjoint.frontend', 'adjoint.differentiation'))])\n",
    ).splitlines()
    assert printed[0] == f"{value!r} {gradient.weight.tolist()} {gradient.bias} Dense.TangentVector"
    assert printed[1] == "[]"


def test_runtime_does_not_import_the_compiler(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom adjoint import runtime as rt\nrt.spread, rt.owned, rt.finish\n"
        "print(sorted({name.split('.')[1] for name in sys.modules if name.startswith('adjoint.')}))"
    )
    assert eval(run(tmp_path, code)) == ["records", "runtime", "types"]


def test_runtime_has_no_other_names() -> None:
    from adjoint import runtime

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = runtime.nothing
    assert not hasattr(runtime, "_sum_to")


def test_loops_and_whole_numbers(tmp_path: Path, user: ModuleType) -> None:
    module = load(ad.export(tmp_path / "out.py", ad.grad(user.newton), 2.0, 5))
    for steps in (0, 1, 7):
        assert module.newton_grad(3.0, steps) == ad.grad(user.newton)(3.0, steps)


def test_the_same_file_each_time(tmp_path: Path, user: ModuleType) -> None:
    model = user.Dense(np.ones(2), 1.0)
    texts = {
        ad.export(tmp_path / f"{name}.py", [(ad.grad(user.layer), model, np.ones(2)), ad.grad(user.cube)]).read_text()
        for name in ("a", "b")
    }
    assert len(texts) == 1


def test_several_derivatives(tmp_path: Path, user: ModuleType) -> None:
    derivatives = [ad.grad(user.cube), (ad.grad(user.newton), 2.0, 3), ad.value_and_grad(user.cube)]
    module = load(ad.export(tmp_path / "out.py", derivatives))
    assert module.cube_grad(2.0) == 12.0
    assert module.cube_value_and_grad(2.0) == (8.0, 12.0)
    assert module.newton_grad(2.0, 0) == 1.0


def test_two_of_one_name(tmp_path: Path, user: ModuleType) -> None:
    with pytest.raises(ad.DifferentiationError, match=r"two things in the module are called 'newton_grad'"):
        ad.export(tmp_path / "out.py", [(ad.grad(user.newton), 2.0, 3), (ad.grad(user.newton), np.float64(2.0), 3)])


def test_after_a_call_no_arguments_are_needed(tmp_path: Path, user: ModuleType) -> None:
    derivative = ad.grad(user.scaled)
    derivative(1.0)
    assert "def scaled_grad" in ad.export(tmp_path / "out.py", derivative).read_text()


def test_captured_data_is_given_by_keyword(tmp_path: Path, user: ModuleType) -> None:
    module = load(ad.export(tmp_path / "out.py", [(ad.grad(user.scaled), 1.0), (ad.grad(user.tabled), np.ones(2))]))
    assert module.scaled_grad(0.5, K=3.0) == ad.grad(user.scaled)(0.5)
    np.testing.assert_array_equal(module.tabled_grad(np.ones(2), TABLE=user.TABLE), user.TABLE)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'K'"):
        module.scaled_grad(0.5)


def test_the_file_says_for_which_arguments_it_holds(tmp_path: Path, user: ModuleType) -> None:
    text = ad.export(tmp_path / "out.py", ad.grad(user.mode), 1.0, "square").read_text()
    assert "# grad(mode) for x: float, kind: 'square'\n" in text
    text = ad.export(tmp_path / "out.py", ad.grad(user.fill, wrt=1), np.ones((3,)), 2.0).read_text()
    assert "# grad(fill, wrt=1) for out: float64[n], x: float\n" in text
    assert "# It writes out, which must not share memory with other arguments.\n" in text


def test_functions_of_other_modules_are_imported(tmp_path: Path) -> None:
    (tmp_path / "opaque_user.py").write_text(
        "import time\nimport os.path\n"
        "def f(x):\n    y = time.perf_counter()\n    os.path.join('a', 'b')\n    return x * x if y > 0.0 else x\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        module = importlib.import_module("opaque_user")
        text = ad.export(tmp_path / "out.py", ad.grad(module.f), 2.0).read_text()
        assert "from time import perf_counter\n" in text
        assert load(tmp_path / "out.py").f_grad(3.0) == 6.0
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("opaque_user", None)


def test_local_classes_are_refused(tmp_path: Path) -> None:
    @dataclass
    class Local:
        a: float

    def f(model):
        return model.a * model.a

    with pytest.raises(ad.DifferentiationError) as caught:
        ad.export(tmp_path / "out.py", ad.grad(f), Local(1.0))
    (problem,) = caught.value.diagnostics
    assert problem.title == "cannot export the derivative: 'Local' cannot be imported"
    assert problem.labels[0].text == "it is defined inside a function"
    assert problem.helps == ("define it at the top of a module",)
    assert not (tmp_path / "out.py").exists()


@pytest.mark.parametrize("wrong", [3.0, lambda x: x, ad.jacobian(lambda x: x)])
def test_what_is_no_derivative_is_refused(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(ad.DifferentiationError, match=r"ad\.export takes what ad\.grad and ad\.value_and_grad return"):
        ad.export(tmp_path / "out.py", wrong, 1.0)


def test_name_of_the_file(tmp_path: Path, user: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"must end in \.py"):
        ad.export(tmp_path / "out", ad.grad(user.cube))


def test_an_old_file_stays_whole_when_it_fails(
    tmp_path: Path, user: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ad.export(tmp_path / "out.py", ad.grad(user.cube))
    before = path.read_text()

    def fail(*_: Any) -> None:
        raise OSError("disk is gone")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk is gone"):
        ad.export(path, ad.grad(user.newton), 1.0, 2)
    assert path.read_text() == before
    assert sorted(item.name for item in tmp_path.iterdir() if item.suffix != ".pyc" and item.is_file()) == [
        "out.py",
        "user_module.py",
    ]


def test_text_is_clean(tmp_path: Path, user: ModuleType) -> None:
    model = user.Dense(np.ones(2), 1.0)
    path = ad.export(tmp_path / "out.py", [(ad.grad(user.layer), model, np.ones(2)), (ad.grad(user.newton), 2.0, 3)])
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E9,E3,F4,F811,F821", "--preview", str(path)],
        capture_output=True,
        text=True,
    )
    if "No module named ruff" in done.stderr:
        pytest.skip("ruff is not installed")
    assert done.returncode == 0, done.stdout + path.read_text()
