"""What ``adjoint check`` finds in files and packages: declared functions, and operators whose targets are known."""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import adjoint
from adjoint.api.derivative import Derivative
from adjoint.api.differentiable_functions import declared_in, is_abstract, lacking_in, verdict
from adjoint.api.tools.inspection import examples_of
from adjoint.cli.main import OPERATORS
from adjoint.cli.showing import arguments_for
from adjoint.cli.target import TargetError, load_function, load_module
from adjoint.diagnostics import Diagnostic, DifferentiationError, Span
from adjoint.diagnostics.spans import place
from adjoint.differentiation.finish import finish
from adjoint.frontend.differentiation.refusals.trial import look
from adjoint.frontend.entry.entry import lower_operator
from adjoint.records import dataclass
from adjoint.sources import definitions

Verdict = Literal["differentiable", "refused", "not checked", "declared"]
_AT_POINTS = ("vjp", "jvp", "hvp")


@dataclass(frozen=True, slots=True)
class Finding:
    """One function that was looked at.

    Attributes
    ----------
    file, line, column
        Where it is declared, or its derivative is asked for; columns are counted from 1.
    name
        The name of the function, or the call: ``ad.grad(loss)``.
    verdict
        What was found.
    reason
        Why it was not checked.
    problems
        What is refused.
    """

    file: str
    line: int
    column: int
    name: str
    verdict: Verdict
    reason: str = ""
    problems: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """All that was found: functions, warnings, and files that could not be imported."""

    findings: tuple[Finding, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    unread: tuple[str, ...] = ()


def look_at(paths: list[str]) -> Found:
    """Looks at files, folders, modules and packages. Modules are imported, and nothing else of them runs."""
    findings: list[Finding] = []
    warnings: list[Diagnostic] = []
    unread: list[str] = []
    for where, file in modules_in(paths):
        try:
            module = load_module(where)
        except DifferentiationError as refusal:  # by a decorator, or where the module itself takes a derivative
            findings.append(_at(refusal.diagnostics, where, str(file or where)))
            continue
        except TargetError:
            raise
        except (Exception, SystemExit) as problem:
            unread.append(f"{where}: cannot be imported: {type(problem).__name__}: {problem}")
            continue
        findings += declarations(module)
        findings += requests(module)
        warnings += lacking_in(module)
    return Found(tuple(findings), tuple(warnings), tuple(unread))


def of_function(target: str, expressions: list[str], wrt: Any) -> Finding:
    """Looks at the gradient of one function, for the arguments that are given, or of the types that are annotated."""
    function = load_function(target)
    file, line = _place_of(function)
    name = target.rpartition(":")[2]
    derivative = adjoint.grad(function, **({} if wrt is None else {"wrt": wrt}))
    try:
        if expressions or examples_of(function) is not None:
            args = arguments_for(target, function, expressions)
            _derive(derivative, args)
            return Finding(file, line, 1, name, "differentiable")
        found = verdict(function, tried=lambda _, args, __: _derive(derivative, args))
        if found.untold:
            arguments_for(target, function, expressions)  # which says what is missing
        return _judged(file, line, 1, name, found.problems, found.untold)
    except DifferentiationError as refusal:
        return Finding(file, line, 1, name, "refused", problems=refusal.diagnostics)


def _derive(derivative: Derivative, args: tuple[Any, ...]) -> None:
    """Raises what is refused on the way to a derivative; nothing of it is run."""
    entry = lower_operator(derivative.kind, derivative.function, derivative.options, args, {})
    finish(entry.function)


def _at(problems: tuple[Diagnostic, ...], where: str, file: str) -> Finding:
    span = problems[0].span
    place = (file, 1, 1) if span is None else (span.file, span.line, span.column + 1)
    return Finding(*place, where, "refused", problems=problems)


# Files


def modules_in(paths: list[str]) -> Iterator[tuple[str, Path | None]]:
    """What is to be imported: names of modules and of files. Files that do not mention Adjoint are left out."""
    for path in dict.fromkeys(paths):
        place = Path(path)
        if place.is_dir():
            yield from ((str(file), file) for file in sorted(_files_below(place)) if _uses_adjoint(file))
        elif place.suffix == ".py":
            if not place.is_file():
                raise TargetError(f"there is no file '{place}'")
            if _uses_adjoint(place):
                yield path, place
        else:
            module = load_module(path)
            for folder in getattr(module, "__path__", ()):
                files = (file for file in sorted(_files_below(Path(folder))) if _uses_adjoint(file))
                yield from ((str(file), file) for file in files)
            if not hasattr(module, "__path__"):
                yield path, None


def _files_below(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.is_dir():
            is_code = not entry.name.startswith(".") and entry.name not in (
                "__pycache__",
                "node_modules",
                "build",
                "dist",
            )
            if is_code and not (entry / "pyvenv.cfg").exists():
                yield from _files_below(entry)
        elif entry.suffix == ".py":
            yield entry


def _uses_adjoint(file: Path) -> bool:
    try:
        return "adjoint" in file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False


# Declarations


def declarations(module: types.ModuleType) -> Iterator[Finding]:
    """The functions and methods that ``@ad.differentiable`` declares in a module."""
    file = str(module.__file__)
    for name, member, owner in declared_in(module):
        line = _place_of(member)[1]
        if is_abstract(member):
            yield Finding(file, line, 1, name, "declared", "for what overrides it")
            continue
        found = verdict(member, None, owner)
        yield _judged(file, line, 1, name, found.problems, found.untold)


def _place_of(member: Any) -> tuple[str, int]:
    try:
        heading = definitions.find(inspect.unwrap(getattr(member, "__func__", member))).heading
        return heading.file, heading.line
    except (DifferentiationError, AttributeError):
        return str(getattr(sys.modules.get(getattr(member, "__module__", "")), "__file__", "")), 1


def _judged(file: str, line: int, column: int, name: str, problems: tuple[Diagnostic, ...], untold: str) -> Finding:
    if problems:
        return Finding(file, line, column, name, "refused", problems=problems)
    return Finding(file, line, column, name, "not checked" if untold else "differentiable", untold)


# Operators in the text


def requests(module: types.ModuleType) -> Iterator[Finding]:
    """The calls of operators in a module, such as ``ad.grad(loss)``, whose targets are functions that it names."""
    file = str(module.__file__)
    tree = ast.parse(Path(file).read_text(encoding="utf-8"), file)
    operators = _operators(tree)
    for call, hidden in _calls(tree, frozenset()):
        operator = operators.get(ast.unparse(call.func))
        if operator is None or not call.args:
            continue
        target = _named(call.args[0], module, hidden)
        if not isinstance(target, types.FunctionType):
            continue
        span = Span(file, call.lineno, call.col_offset, call.end_lineno or call.lineno, call.end_col_offset or 0)
        name = f"{ast.unparse(call.func)}({ast.unparse(call.args[0])})"
        holder = _named(call.args[0].value, module, hidden) if isinstance(call.args[0], ast.Attribute) else None
        owner = holder if isinstance(holder, type) else None
        problems, untold = _asked(operator, target, owner, call, module, hidden)
        note = f"asked for: {place(span)}, {name}"
        told = tuple(problem.with_notes(note).placed_at(span) for problem in problems)
        yield _judged(file, span.line, span.column + 1, name, told, untold)


def _operators(tree: ast.Module) -> dict[str, str]:
    """How a module calls operators: ``ad.grad`` after ``import adjoint as ad``."""
    known = (*OPERATORS, *_AT_POINTS)
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "adjoint":
                    found |= {f"{alias.asname or 'adjoint'}.{operator}": operator for operator in known}
        elif isinstance(node, ast.ImportFrom) and node.module == "adjoint" and not node.level:
            found |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name in known}
    return found


def _calls(node: ast.AST, hidden: frozenset[str]) -> Iterator[tuple[ast.Call, frozenset[str]]]:
    """The calls in a text, with the names that mean something local there."""
    for child in ast.iter_child_nodes(node):
        inner = hidden
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            inner = hidden | _bound_in(child)
        if isinstance(child, ast.Call):
            yield child, hidden
        yield from _calls(child, inner)


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    found: set[str] = set()
    shared: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.alias(asname=str(name)):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not function:
                found.add(name)
            case ast.Global(names=names):
                shared.update(names)
            case ast.alias(name=name):
                found.add(name.partition(".")[0])
    return found - shared


def _named(node: ast.expr, module: types.ModuleType, hidden: frozenset[str]) -> Any:
    """What a name, or a path of names, means in a module; None where that is known at run time only."""
    match node:
        case ast.Name(id=name):
            return None if name in hidden else getattr(module, name, None)
        case ast.Attribute(value=value, attr=name):
            return inspect.getattr_static(_named(value, module, hidden), name, None)
        case _:
            return None


def _asked(
    operator: str, target: Any, owner: type | None, call: ast.Call, module: types.ModuleType, hidden: frozenset[str]
) -> tuple[tuple[Diagnostic, ...], str]:
    """What is refused, or why that is not known."""
    tried: Callable[..., object] = look
    if operator in OPERATORS:
        try:
            given = [_literal(node, module, hidden) for node in call.args[1:]]
            named = {str(option.arg): _literal(option.value, module, hidden) for option in call.keywords}
            derivative = getattr(adjoint, operator)(target, *given, **named)
        except ValueError:
            return (), "what it is taken with respect to is known at run time only"
        except DifferentiationError as refusal:
            return refusal.diagnostics, ""
        if isinstance(derivative, Derivative):
            tried = lambda _, args, __: _derive(derivative, args)
    found = verdict(target, None, owner, tried)
    return found.problems, found.untold


def _literal(node: ast.expr, module: types.ModuleType, hidden: frozenset[str]) -> Any:
    """The value of an option: a literal, or what the module calls by a name; ValueError if it is neither."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        found = _named(node, module, hidden)
        if found is None:
            raise
        return found
