"""Packages import what is below them; who does not is listed here, with the reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

import adjoint

SOURCE = Path(adjoint.__file__).parent
ORDER = (
    *("api", "dispatch", "frontend", "native", "codegen", "differentiation", "optimize", "pipeline", "analysis"),
    *("rules", "declarations", "sources", "ir", "runtime", "keypaths", "types", "diagnostics", "records"),
)
"""From top to bottom."""
EXCEPTIONS = {
    ("differentiation/rules/splice.py", "frontend"): "a rule's function is lowered where a transform asks for it",
    (
        "differentiation/reverse/calls/fused_primal_adjoint.py",
        "native",
    ): "it is made for machine code only, of its loops",
    ("declarations/custom_derivatives.py", "rules"): "what users declare is put into the table of rules",
    ("declarations/function_values.py", "rules"): "a function value is asked whether it has a rule",
    ("rules/helpers/implicit_functions.py", "api"): "derivatives of solutions are written with grad and vjp",
    ("rules/scipy/least_squares.py", "api"): "derivatives of fits are written with jacobian",
    ("runtime/functions.py", "api"): "a function that is known at run time only is derived when it is called",
    ("runtime/functions.py", "dispatch"): "the same",
    ("runtime/functions.py", "analysis"): "the same",
    ("runtime/functions.py", "declarations"): "the same",
    ("runtime/functions.py", "ir"): "the same",
}
"""By module and package."""


def _imports(node: ast.AST) -> Iterator[str]:
    """What a module imports when it is imported itself."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.Lambda)):
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


def test_folders_are_small() -> None:
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    large = {folder.relative_to(SOURCE).as_posix(): len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: count for name, count in large.items() if count > 16} == {"runtime": large["runtime"]}
