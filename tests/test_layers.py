"""Packages import what is below them; who does not is listed here, with the reason."""

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import adjoint

SOURCE = Path(adjoint.__file__).parent
ORDER = (
    *(
        "api",
        "dispatch",
        "frontend",
        "native",
        "codegen",
        "differentiation",
        "optimize",
        "pipeline",
        "passes",
    ),
    *("analysis", "rules", "declarations", "sources", "ir", "runtime", "keypaths", "types", "diagnostics", "records"),
)
"""From top to bottom."""
EXCEPTIONS = {
    ("differentiation/rules/splice.py", "frontend"): "a rule's function is lowered where a transform asks for it",
    (
        "differentiation/reverse/calls/fused_primal_adjoint.py",
        "native",
    ): "it is made for machine code only, of its loops",
    ("native/helpers/lowering.py", "frontend"): "helpers are plain functions, lowered where machine code calls them",
    ("declarations/custom_derivatives.py", "frontend"): "what is declared is checked where it stands",
    ("declarations/differentiable_types.py", "api"): "functions and members are checked where they are declared",
    ("types/vectors.py", "runtime"): "vectors are compared as generated code compares them",
    ("declarations/custom_derivatives.py", "rules"): "what users declare is put into the table of rules",
    ("declarations/function_values.py", "rules"): "a function value is asked whether it has a rule",
    ("rules/helpers/implicit_functions.py", "api"): "derivatives of solutions are written with grad and vjp",
    ("rules/scipy/solvers/least_squares.py", "api"): "derivatives of fits are written with jacobian",
    ("runtime/functions.py", "api"): "a function that is known at run time only is derived when it is called",
    ("runtime/functions.py", "dispatch"): "the same",
    ("runtime/functions.py", "analysis"): "the same",
    ("runtime/functions.py", "declarations"): "the same",
    ("runtime/functions.py", "ir"): "the same",
}
"""By module and package."""


def _imports(node: ast.AST) -> Iterator[str]:
    """What a module imports, when it is imported itself or later."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom) and child.module == "adjoint":
            yield from (f"adjoint.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield child.module or ""
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        yield from _imports(child)


def _upward() -> set[tuple[str, str]]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE)
        package = place.parts[0].removesuffix(".py")
        if package not in ORDER:
            continue
        for name in _imports(ast.parse(path.read_text())):
            root, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            if root == "adjoint" and other in ORDER and ORDER.index(other) < ORDER.index(package):
                found.add((place.as_posix(), other))
    return found


def test_imports_point_down() -> None:
    assert _upward() == set(EXCEPTIONS)


def test_nodes_and_types_are_named_by_their_package() -> None:
    importing = re.compile(r"^ *from adjoint\.ir\.(nodes|types) import", re.MULTILINE)
    homes = [SOURCE / "ir" / name for name in ("__init__.py", "nodes.py", "types.py")]
    modules = [path for path in SOURCE.rglob("*.py") if path not in homes]
    assert [path.name for path in modules if importing.search(path.read_text())] == []


def test_folders_are_small() -> None:
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    large = {folder.relative_to(SOURCE).as_posix(): len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: count for name, count in large.items() if count > 16} == {}


def test_modules_are_short() -> None:
    long = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if path.read_text().count("\n") > 500}
    assert not long


# Imports inside functions

PROGRAM = """
import numpy as np

def polynomial(x, y):
    total = 0.0
    for i in range(3):
        total += x * y if x > y else -x
    return total

def vector(x):
    return np.sum(np.sin(x) * x)

class Model:
    weight: float
"""
BEGINNINGS = {
    "operators": "ad.grad(program.polynomial)",
    "source": "ad.source(ad.grad(program.polynomial), 1.0, 2.0)",
    "optim": "import adjoint.optim",
    "tools": "ad.jet, ad.export, ad.tape_report, ad.linearize, ad.jvps",
    "command": "from adjoint.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass",
    "key paths": "ad.keypath",
    "testing": "import adjoint.testing",
    "manifolds": "import adjoint.manifolds",
    "types": "ad.differentiable(program.Model)",
    "demo": "import adjoint.demo",
    "forward": "ad.jvp(program.polynomial, (1.0, 2.0), (1.0, 0.0))",
    "exported code": "from adjoint import runtime as rt\nrt.spread, rt.owned, rt.check_single, rt.as_number",
    "arrays": "ad.grad(program.vector)(program.np.ones(3))",
    "native": "ad.compile(ad.grad(program.polynomial))(1.0, 2.0)",
    "kept": "ad.compile(ad.grad(program.polynomial))(1.0, 2.0)",
}
"""What processes begin with, the last with what the one before has kept.

An import is lazy where one of them loads its module, but not what it imports.
"""
HANDLERS = {("adjoint.frontend.data.container_methods", "adjoint.frontend.iterators.folds")}
"""Both are loaded for the functions that are called."""


@functools.cache
def _modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@functools.cache
def _local_imports() -> list[tuple[str, ast.Import | ast.ImportFrom, str]]:
    """The imports inside functions: the module, the import, and what is written beside it."""
    found = []
    for module, path in _modules().items():
        text = path.read_text()
        lines = text.splitlines()
        for node in _inside_functions(ast.parse(text), False):
            found.append((module, node, lines[node.lineno - 1].rpartition("#")[2].strip()))
    return found


def _inside_functions(node: ast.AST, is_inside: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            if is_inside and isinstance(child, (ast.Import, ast.ImportFrom)):
                yield child
            yield from _inside_functions(child, is_inside or isinstance(child, ast.FunctionDef))


def _imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    names = [f"{node.module}.{alias.name}" for alias in node.names]
    return {name if name in _modules() else str(node.module) for name in names}


def _loaded_by(beginning: str, folder: Path) -> set[str]:
    code = f"import sys\nimport adjoint as ad\nimport program\n{beginning}\nprint('', *sys.modules, sep='\\n')"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ADJOINT_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), str(SOURCE.parent)])
    environment["ADJOINT_CACHE_DIR"] = str(folder)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return set(done.stdout.splitlines())


def test_imports_inside_functions_are_lazy() -> None:
    assert {module for module, _, why in _local_imports() if why != "lazy"} == set()


def test_lazy_imports_are_needed_later_than_their_modules(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    loaded = [_loaded_by(beginning, tmp_path) for beginning in BEGINNINGS.values()]
    idle = set()
    for module, node, why in _local_imports():
        names, is_native = _imported(node), module.startswith("adjoint.native.")
        seen = [each for each in loaded if module in each]
        is_judged = why == "lazy" and not names.isdisjoint(_modules()) and (seen or not is_native)
        if is_judged and not any(not names <= each for each in seen):
            idle |= {(module, name) for name in names}
    assert idle <= HANDLERS


def test_the_page_on_the_architecture_has_the_packages_in_their_order() -> None:
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[a-z_./`, ]*`) \|", page, re.M)
    named = [name.rstrip("/").removesuffix(".py") for row in rows for name in re.findall(r"`([a-z_./]*)`", row)]
    assert [name for name in named if name in ORDER] == [name for name in ORDER if name != "records"]
