"""The package as it is installed: what importing it costs, and what it offers."""

import inspect
import os
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import adjoint as ad

SOURCE = Path(ad.__file__).parents[1]


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE)}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_public_name_is_there() -> None:
    assert sorted(ad.__all__) == dir(ad)
    for name in ad.__all__:
        assert getattr(ad, name) is not None


def test_public_names_are_no_modules_by_accident() -> None:
    """A function must not give way to a module of the same name, whichever is imported first."""
    code = (
        "import pkgutil, importlib, types, adjoint\n"
        "for part in pkgutil.iter_modules(adjoint.__path__):\n"
        "    if part.name != 'cli': importlib.import_module('adjoint.' + part.name)\n"
        "names = [n for n in adjoint.__all__ if n not in adjoint._MODULES]\n"
        "print([n for n in names if type(getattr(adjoint, n)) is types.ModuleType])"
    )
    names = eval(run(code))
    assert set(names) <= {"nn", "optim", "data"}


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="module 'adjoint' has no attribute 'gradd'"):
        _ = ad.gradd  # type: ignore[attr-defined]


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, adjoint\nprint([n for n in ('numpy', 'numba', 'rich', 'adjoint.frontend') if n in sys.modules])"
    assert run(code) == "[]"


def test_differentiating_needs_no_optional_package() -> None:
    code = (
        "import sys\n"
        "for name in ('numba', 'scipy', 'sklearn', 'matplotlib', 'IPython', 'autograd'): sys.modules[name] = None\n"
        "import adjoint as ad, math\n"
        "print(ad.grad(math.sin)(0.0))"
    )
    assert run(code) == "1.0"


def test_a_gradient_of_numbers_loads_nothing_of_what_it_does_without() -> None:
    code = (
        "import sys, math, adjoint as ad\n"
        "assert ad.grad(math.sin)(0.0) == 1.0\n"
        "others = ('products', 'keypaths.path', 'backend.native', 'runtime.boundary')\n"
        "print([name for name in others if f'adjoint.{name}' in sys.modules])"
    )
    assert run(code) == "[]"


def test_type_hints_of_public_functions_can_be_asked_for() -> None:
    functions = [value for name in ad.__all__ if inspect.isfunction(value := getattr(ad, name))]
    assert ad.grad in functions
    for function in (*functions, ad.manifolds.riemannian_grad):
        typing.get_type_hints(function)


def test_types_are_shipped() -> None:
    assert (Path(ad.__file__).parent / "py.typed").exists()


def test_version_is_that_of_the_project() -> None:
    project = SOURCE.parent / "pyproject.toml"
    if not project.exists():
        pytest.skip("not a checkout")
    import tomllib

    assert tomllib.loads(project.read_text())["project"]["version"] == ad.__version__
