"""The source of a function: the definition that compiles to the very code that runs."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from _thread import RLock  # `threading` takes a while to import
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, FunctionType, MethodType
from typing import Any

from adjoint.diagnostics import DifferentiationError, Span, error, span_of
from adjoint.diagnostics.spans import shown_path
from adjoint.records import dataclass, field
from adjoint.sources.matching import FUTURES, Definition, ParsedFile
from adjoint.types.structure import home_of


@dataclass(frozen=True, eq=False, slots=True)
class FunctionSource:
    """The definition of a function.

    Attributes
    ----------
    node
        The ``def`` or ``lambda``, with the positions it has in its file. Private names of classes are spelt out
        (``self._C__x`` for ``self.__x``). It is shared: do not change it.
    file
        The file's name, as the code object has it.
    code
        The code object that runs.
    name
        The function's name.
    """

    node: ast.FunctionDef | ast.Lambda
    file: str
    code: CodeType
    name: str
    _lines: Sequence[str] = field(repr=False)

    def span(self, node: ast.AST, caller: Span | None = None) -> Span:
        """The place of a part of the definition, which the call at ``caller`` led to."""
        return _span(node, self.file, self._lines, caller)

    @property
    def heading(self) -> Span:
        """The place of the definition's first line: ``def f`` with the name, or the lambda."""
        return _heading(self.node, self.file, self._lines)


_lock = RLock()
_files: dict[tuple[str, int], ParsedFile] = {}
_found: dict[int, FunctionSource] = {}
_MOST_FOUND = 10_000


def find(fn: Callable[..., Any]) -> FunctionSource:
    """The source of a function.

    Parameters
    ----------
    fn
        A function, a method, or a function compiled by Numba. The source is that of its code object: where
        ``functools.wraps`` was used it is the wrapper's, for the wrapper is what runs.

    Raises
    ------
    DifferentiationError
        AD0101 where there is no source, AD0102 where the source is not that of the code that runs, AD0103 for
        what cannot be called, AD0104 for coroutines.
    """
    function = underlying(fn)
    if function is not None:
        return find_code(function.__code__, function.__name__, function.__globals__)
    if callable(fn):
        raise error("AD0101", None, f"it is an object of type '{_type_name(fn)}'", name=_name(fn))
    raise error("AD0103", None, f"it is an object of type '{_type_name(fn)}'", name=_shortened(fn))


def find_code(code: CodeType, name: str | None = None, module_globals: dict[str, Any] | None = None) -> FunctionSource:
    """The source of a code object.

    Parameters
    ----------
    code
        The code object of a function.
    name
        What to call it, if not by the name it has.
    module_globals
        The globals of its module, for modules that are not read from plain files.
    """
    found = _found.get(id(code))
    if found is not None and found.code is code:
        return found
    with _lock:
        found = _search(code, name or code.co_name, module_globals)
        if len(_found) >= _MOST_FOUND:
            _found.clear()
        _found[id(code)] = found
    return found


def code_of_part(source: FunctionSource) -> CodeType | None:
    """The code object of a function that is defined inside another one, by whose code its source was found."""
    pending = [source.code]
    while pending:
        code = pending.pop()
        if code.co_name == getattr(source.node, "name", "<lambda>") and _is_of(code, source):
            return code
        pending += [part for part in code.co_consts if isinstance(part, CodeType)]
    return None


def _is_of(code: CodeType, source: FunctionSource) -> bool:
    try:
        node = find_code(code).node
    except DifferentiationError:
        return False
    return (node.lineno, node.col_offset) == (source.node.lineno, source.node.col_offset)


def text_to_send(fn: Callable[..., Any]) -> str | None:
    """The text that a pickle has to hold beside a function, where that is pickled by value; None where it is not."""
    function = underlying(fn)
    if function is None or (function.__module__ != "__main__" and "<" not in function.__qualname__):
        return None
    try:
        return "".join(find(function)._lines)
    except DifferentiationError:
        return None


def underlying(fn: object) -> FunctionType | None:
    """The function behind a method, a static method or a dispatcher of Numba; None where there is none."""
    while isinstance(fn, (MethodType, staticmethod, classmethod)):
        fn = fn.__func__
    if home_of(type(fn)).startswith("numba."):
        fn = getattr(fn, "py_func", None)
    return fn if isinstance(fn, FunctionType) else None


def _search(code: CodeType, name: str, module_globals: dict[str, Any] | None) -> FunctionSource:
    unsupported = _unsupported(code)
    try:
        node, lines = _definition(code, name, module_globals)
    except DifferentiationError:
        if unsupported is None:
            raise
        raise error("AD0104", None, unsupported, name=name, helps=_WAYS_OUT[unsupported]) from None
    if unsupported is not None or isinstance(node, ast.AsyncFunctionDef):
        unsupported = unsupported or _COROUTINE
        heading = _heading(node, code.co_filename, lines)
        raise error("AD0104", heading, unsupported, name=name, helps=_WAYS_OUT[unsupported])
    return FunctionSource(node, code.co_filename, code, name, lines)


_KEEPING_TEXTS = (
    "define it in a file or in a notebook cell",
    "or keep its text: linecache.cache[name] = len(text), None, text.splitlines(True), name",
    "or declare its derivative: @ad.derivative_of(fn)",
)
_COROUTINE = "it is a coroutine"
_BODY = "it is the body of a class or of a module"
_PART = "it is part of a function"
_WAYS_OUT = {
    _COROUTINE: ("await what it needs outside, and hand that to an ordinary function: def, not async def",),
    _BODY: ("hand over a function that it defines",),
    _PART: ("hand over the function around it",),
}


def _unsupported(code: CodeType) -> str | None:
    """What kind of code it is, if not that of an ordinary function."""
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return _COROUTINE
    if not code.co_flags & inspect.CO_NEWLOCALS:
        return _BODY
    if code.co_name.startswith("<") and code.co_name != "<lambda>":
        return _PART
    return None


def _with_spec(module_globals: dict[str, Any]) -> dict[str, Any]:
    """What `linecache` asks for a text: from Python 3.15 on it asks no loader that stands beside no specification."""
    name, loader = module_globals.get("__name__"), module_globals.get("__loader__")
    if name is None or loader is None or module_globals.get("__spec__") is not None:
        return module_globals
    return {"__name__": name, "__loader__": loader, "__spec__": ModuleSpec(name, loader)}


def _definition(code: CodeType, name: str, module_globals: dict[str, Any] | None) -> tuple[Definition, Sequence[str]]:
    file = code.co_filename
    if module_globals is not None:
        module_globals = _with_spec(module_globals)
    # What linecache holds may be the text as it was imported, even if the file has changed since: ask it first.
    lines = linecache.getlines(file, module_globals)
    nodes = _definitions_in(lines, code)
    if not nodes:
        linecache.checkcache(file)
        fresh = linecache.getlines(file, module_globals)
        if fresh != lines:
            lines, nodes = fresh, _definitions_in(fresh, code)
    if not nodes and file == "<string>":
        lines = []  # Python 3.13 keeps the text of 'python -c' there, and all that 'exec' runs has this name, too
    if not lines and file.startswith("<"):
        lines, nodes = _unfiled(code, module_globals)
    if len(nodes) == 1:
        return nodes[0], lines
    if not lines:
        piped = file == "<stdin>" and not sys.stdin.isatty()
        lost = "Python read its text from a pipe, and has not kept it"
        made = file.startswith("<") and not file.startswith(("<stdin", "<ipython"))
        gone = "it was made by 'exec' or 'eval', and nothing keeps the text of it" if made else None
        why = lost if piped else gone or f"the text of '{shown_path(file)}' cannot be found"
        raise error("AD0101", None, why, name=name, helps=_KEEPING_TEXTS if gone and not piped else ())
    where = f"{shown_path(file)}:{code.co_firstlineno}"
    if nodes:
        why = f"there are several lambdas in the line {where}, and Python was told to forget which is which"
        raise error("AD0101", None, why, helps=["leave out -X no_debug_ranges (PYTHONNODEBUGRANGES)"], name=name)
    raise error("AD0102", None, f"it was defined at {where}; the text there compiles to other code", name=name)


def _unfiled(code: CodeType, module_globals: dict[str, Any] | None) -> tuple[list[str], Sequence[Definition]]:
    """The lines, none of them in a file, that hold the definition of a code object."""
    from adjoint.sources.unfiled import texts_of  # lazy

    for text in texts_of(code, module_globals):
        nodes = _definitions_in(text, code)
        if nodes:
            return text, nodes
    return [], []


def _definitions_in(lines: list[str], code: CodeType) -> Sequence[Definition]:
    if not lines:
        return []
    file, futures = code.co_filename, code.co_flags & FUTURES
    parsed = _files.get((file, futures))
    if parsed is None or (parsed.lines is not lines and parsed.lines != lines):
        parsed = _files[file, futures] = ParsedFile(file, lines, futures)
    return parsed.definitions_of(code)


def _span(node: ast.AST, file: str, lines: Sequence[str], caller: Span | None = None) -> Span:
    return span_of(node, file, lambda number: lines[number - 1] if number <= len(lines) else "", caller)


def _heading(node: Definition, file: str, lines: Sequence[str]) -> Span:
    span = _span(node, file, lines)
    if isinstance(node, ast.Lambda):
        return span
    line = lines[span.line - 1]
    end = line.find("(", span.column)
    return Span(file, span.line, span.column, span.line, end if end > 0 else len(line.rstrip()))


def _name(fn: object) -> str:
    return str(getattr(fn, "__name__", None) or _shortened(fn))


def _shortened(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."


def _type_name(value: object) -> str:
    return type(value).__qualname__
