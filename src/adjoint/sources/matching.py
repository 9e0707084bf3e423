"""Which definition of a file a code object was compiled from.

The statement of the module that holds the code is compiled again, once, and the code object's twin is looked for in
the result: only a definition that compiles to the very code that runs is taken. Where the twin is not found there, as
in a file that has changed, the whole file is. Compiling what stands at the left margin rather than the definition
gives names of private attributes and captured variables their meaning for free.
"""

from __future__ import annotations
import __future__

import ast
import inspect
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import TypeGuard

from adjoint.sources.trees import nodes

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)

_REWRITTEN_BY_PYTEST = "@pytest_ar"


class ParsedFile:
    """A file's lines, of which as little is parsed as will do.

    Parameters
    ----------
    name
        The file's name, as code objects have it.
    lines
        Its lines, with their ends.
    futures
        Flags of features that are switched on in the file or outside of it, as in an earlier cell of a notebook.
    """

    def __init__(self, name: str, lines: Sequence[str], futures: int) -> None:
        self.lines = lines
        self._name = name
        self._futures = futures
        self._imports = list(_imports(lines))
        self._parts: dict[tuple[int, int, bool], _Part | None] = {}

    def definitions_of(self, code: CodeType) -> Sequence[Definition]:
        """The definitions that ``code`` may have been compiled from: none, one, or several that are alike."""
        start, end = self._statement_around(code.co_firstlineno)
        for has_imports in (True, False):  # notebooks compile each statement on its own
            statement = self._part(start, end, has_imports)
            twin = statement and statement.twin_of(code)
            if statement and twin and twin.co_firstlineno == code.co_firstlineno:
                return statement.definitions_of(twin)
        whole = self._part(0, len(self.lines))
        twin = whole and whole.twin_of(code)
        return whole.definitions_of(twin) if whole and twin else []

    def _statement_around(self, line: int) -> tuple[int, int]:
        """Where the statement of the module that holds a line seems to start and to end; the margin may deceive."""
        lines, count = self.lines, len(self.lines)
        start = min(line, count) - 1
        while start > 0 and not _opens(lines[start]):
            start -= 1
        end = start + 1
        while end < count and (lines[end - 1].startswith("@") or not _opens(lines[end])):
            end += 1
        return start, end

    def _part(self, start: int, end: int, has_imports: bool = True) -> _Part | None:
        """The lines from ``start`` up to ``end``, counted from 0; None if they are not valid Python."""
        key = start, end, has_imports
        if key not in self._parts:
            try:
                self._parts[key] = _Part(self._name, self._text(start, end, has_imports), self._futures)
            except (SyntaxError, ValueError, RecursionError):
                self._parts[key] = None
        return self._parts[key]

    def _text(self, start: int, end: int, has_imports: bool = True) -> str:
        """The lines from ``start`` up to ``end`` where they stand, and above them the imports that change their code.

        Python compiles a call of an attribute of what is imported to other code than one of a method.
        """
        text = "".join(self.lines[start:end])
        above = ["\n"] * start
        for first, last, names in self._imports if has_imports else ():
            if last <= start and any(f"{name}." in text for name in names):
                above[first:last] = self.lines[first:last]
        return "".join(above) + text


def _opens(line: str) -> bool:
    """Whether a statement of the module may start in this line."""
    return not line[:1].isspace() and not line.startswith(("#", ")", "]", "}"))


def _imports(lines: Sequence[str]) -> Iterator[tuple[int, int, list[str]]]:
    """Where the imports at the left margin start and end, and the names in them."""
    first = None
    for place, line in enumerate(lines):
        if first is None and line.startswith(("import ", "from ")):
            first = place
        if first is not None and ("(" not in lines[first] or ")" in line):
            words = "".join(lines[first : place + 1]).translate(_SEPARATORS).split()
            yield first, place + 1, words
            first = None


_SEPARATORS = str.maketrans(dict.fromkeys(".,()", " "))


class _Part:
    """Statements of a file, with their definitions and the code objects they compile to."""

    def __init__(self, name: str, text: str, futures: int) -> None:
        tree, module = _compile(text, name, futures)
        self._definitions: dict[tuple[int, str], Definition] = {}
        self._lambdas: dict[int, list[ast.Lambda]] = {}
        self._codes: dict[str, list[CodeType]] = {}
        self._unread = tree.body
        codes = list(_codes_in(module))
        self._count = len(codes)
        for code in codes:
            self._codes.setdefault(code.co_qualname, []).append(code)

    def twin_of(self, code: CodeType) -> CodeType | None:
        """The code that does the same as ``code``, at the same place if possible."""
        twins = [twin for twin in self._codes.get(code.co_qualname, ()) if same_code(twin, code)]

        def distance(twin: CodeType) -> tuple[bool, bool]:
            return twin.co_firstlineno != code.co_firstlineno, not _same_columns(twin, code)

        return min(twins, key=distance, default=None)

    def definitions_of(self, twin: CodeType) -> Sequence[Definition]:
        """The definitions that a code of this part may have been compiled from."""
        self._read(twin.co_firstlineno)
        if twin.co_name == "<lambda>":
            return self._lambdas_of(twin)
        node = self._definitions.get((twin.co_firstlineno, twin.co_name))
        return [] if node is None else [node]

    def _read(self, line: int) -> None:
        """Looks for definitions in the statement of the module that holds a line, if nobody has done so."""
        here = [statement for statement in self._unread if _first_line(statement) <= line <= _end(statement)[0]]
        self._unread = [statement for statement in self._unread if statement not in here]
        for statement in here:
            if self._is_all(statement):
                self._definitions[_first_line(statement), statement.name] = statement
                continue
            has_class = False
            for node in nodes(statement):
                if isinstance(node, ast.Lambda):
                    self._lambdas.setdefault(node.lineno, []).append(node)
                elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self._definitions[_first_line(node), node.name] = node
                has_class = has_class or isinstance(node, ast.ClassDef)
            if has_class:
                _Mangler().visit(statement)

    def _is_all(self, statement: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Whether a statement is the only definition here: nothing in it is compiled on its own."""
        return isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and self._count == 1

    def _lambdas_of(self, code: CodeType) -> list[ast.Lambda]:
        """The innermost lambda that holds all places of the code."""
        candidates = self._lambdas.get(code.co_firstlineno, [])
        places = list(_places(code))
        if not places:  # no columns are kept at all, or none for the constant that is returned (Python 3.12)
            return _told_apart(candidates, code)
        start, end = min(place[0] for place in places), max(place[1] for place in places)
        around = [node for node in candidates if _start(node.body) <= start and end <= _end(node.body)]
        return [max(around, key=lambda node: _start(node.body))] if around else []


def _told_apart(candidates: list[ast.Lambda], code: CodeType) -> list[ast.Lambda]:
    """The first that compiles to the code on its own; all of them where captured variables prevent that."""
    if len(candidates) < 2:
        return candidates
    futures = code.co_flags & FUTURES
    return [node for node in candidates if same_code(_alone(node, futures), code)][:1] or candidates


def _alone(node: ast.Lambda, futures: int) -> CodeType:
    """What a lambda compiles to outside of its surroundings."""
    codes = compile(ast.Expression(node), "", "eval", futures, dont_inherit=True).co_consts
    return next(code for code in reversed(codes) if isinstance(code, CodeType) and code.co_name == "<lambda>")


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same, wherever they were compiled."""
    if _REWRITTEN_BY_PYTEST in other.co_names:  # its assertions are spelt out; the rest is the same
        return one.co_firstlineno == other.co_firstlineno and _parameters(one) == _parameters(other)
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and one.co_cellvars == other.co_cellvars
        and one.co_freevars == other.co_freevars
        and _same_flags(one.co_flags, other.co_flags)
        and one.co_exceptiontable == other.co_exceptiontable
        and _parameters(one) == _parameters(other)
        and _same_constants(one.co_consts, other.co_consts)
    )


_LEFT_BY_NUMBA = 0xFFFE
"""The flags that Numba leaves a function that it calls while a profiler runs (``_dispatcher.cpp``)."""


def _same_flags(one: int, other: int) -> bool:
    differ = (one ^ other) & ~inspect.CO_NESTED
    return not differ & (-1 if other & inspect.CO_OPTIMIZED else _LEFT_BY_NUMBA)


def _parameters(code: CodeType) -> tuple[object, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_name, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_varnames[:count]


def _same_constants(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same_code(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same_constants, one, other))
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    if isinstance(one, (float, complex)):
        return repr(one) == repr(other)  # tells 0.0 from -0.0
    return one == other


def _same_columns(one: CodeType, other: CodeType) -> bool:
    return one.co_linetable == other.co_linetable


def _compile(text: str, name: str, futures: int) -> tuple[ast.Module, CodeType]:
    """The tree of a file and its code; notebooks may await outside of functions."""
    try:
        return _compile_with(text, name, futures)
    except SyntaxError:
        return _compile_with(text, name, futures | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def _compile_with(text: str, name: str, flags: int) -> tuple[ast.Module, CodeType]:
    tree = compile(text, name, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    try:
        return tree, compile(tree, name, "exec", flags, dont_inherit=True)
    except RecursionError:  # Python takes a text whose expressions are nested more deeply than it takes trees
        return tree, compile(text, name, "exec", flags, dont_inherit=True)


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)


def _places(code: CodeType) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Start and end of the expression behind each instruction; entry and exit have empty ones, if any."""
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (line, column) != (end_line, end_column):
            yield (line, column), (end_line, end_column)


def _first_line(node: ast.stmt) -> int:
    """The line of a statement, or of its first decorator."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


class _Mangler(ast.NodeVisitor):
    """Spells out names that are private to a class (``__x`` becomes ``_C__x``), as the compiler does."""

    def __init__(self) -> None:
        self._owner: str | None = None

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside)
        outer, owner = self._owner, node.name.lstrip("_") or None
        node.name = self._mangled(node.name)
        self._owner = owner
        for statement in node.body:
            self.visit(statement)
        self._owner = outer

    def generic_visit(self, node: ast.AST) -> None:
        if self._owner is not None:
            self._rename(node)
        super().generic_visit(node)

    def _rename(self, node: ast.AST) -> None:
        match node:
            case ast.Name():
                node.id = self._mangled(node.id)
            case ast.Attribute():
                node.attr = self._mangled(node.attr)
            case ast.arg():
                node.arg = self._mangled(node.arg)
            case ast.Global() | ast.Nonlocal():
                node.names = [self._mangled(name) for name in node.names]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                node.name = self._mangled(node.name)
            case ast.alias():
                if node.asname is not None:
                    node.asname = self._mangled(node.asname)
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name is not None:
                node.name = self._mangled(node.name)
            case ast.MatchMapping() if node.rest is not None:
                node.rest = self._mangled(node.rest)

    def _mangled(self, name: str) -> str:
        if self._owner is None or not name.startswith("__") or name.endswith("__") or "." in name:
            return name
        return f"_{self._owner}{name}"
