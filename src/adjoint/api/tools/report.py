"""A function beside its derivative, as HTML: lines that belong together light up, with what is kept for them.

The view is one element with its style and its script, for notebooks; the page is a document around it.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import os
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import adjoint
from adjoint.api.derivative import Derivative
from adjoint.api.tools.inspection import examples_of, specialization_to_show
from adjoint.api.tools.tape_report import Kept, TapeReport, size_in_words, tape_of
from adjoint.diagnostics import Span
from adjoint.diagnostics.spans import shown_path
from adjoint.records import dataclass
from adjoint.sources.definitions import underlying

_PACKAGE = os.path.dirname(adjoint.__file__)
_FOLDER = Path(__file__).parent


def write_page(path: str | os.PathLike[str], derivative: Derivative, *args: Any, **kwargs: Any) -> Path:
    """Writes the page of a derivative; it needs no other file and no network.

    Parameters
    ----------
    path
        The file, which is replaced.
    derivative
        What :func:`adjoint.grad` or :func:`adjoint.value_and_grad` returned.
    *args, **kwargs
        Arguments, for which the derivative is run once to count bytes; not needed where annotations tell their types.

    Raises
    ------
    DifferentiationError
        What differentiating the function raises.
    """
    file = Path(path)
    title = escape(repr(derivative))
    text = _part("page.html").format(title=title, view=view(derivative, *args, **kwargs))
    file.write_text(text, encoding="utf-8")
    return file


def view(derivative: Derivative, *args: Any, **kwargs: Any) -> str:
    """The element with both texts and what is kept."""
    emitted = specialization_to_show(derivative, args, kwargs)[0].exact.emitted
    tape = None
    if derivative.kind in ("grad", "value_and_grad") and (args or kwargs or examples_of(derivative.function)):
        tape = tape_of(derivative, args, kwargs)
    spans = {line: span for line, span in emitted.lines.items() if not span.file.startswith(_PACKAGE)}
    program = _Program(derivative.function, [*spans.values(), *_places(tape)])
    origins = {line: key for line, span in spans.items() if (key := program.key(span)) is not None}
    origins = _completed(ast.parse(emitted.text), origins, program)
    kept = [(program.key(one.place), loop.place, one) for loop in tape.loops for one in loop.kept] if tape else []
    beside = {program.key(loop.place): _told(loop.kept) for loop in tape.loops} if tape else {}
    left = "".join(_listing(part.title, part.lines, part.first, part.keys(), beside) for part in program.parts)
    right = _listing(f"{emitted.name}, written by Adjoint", emitted.text.splitlines(), 1, origins, {})
    return _part("view.html").format(
        style=_part("view.css"),
        script=_part("view.js"),
        title=escape(repr(derivative)),
        program=left,
        derivative=right,
        tape="" if tape is None else _table(tape, kept),
    )


def _part(name: str) -> str:
    return (_FOLDER / "page" / name).read_text(encoding="utf-8")


def _places(tape: TapeReport | None) -> Iterator[Span]:
    for loop in tape.loops if tape else ():
        yield from (place for place in (loop.place, *(one.place for one in loop.kept)) if place is not None)


# The program


@dataclass(frozen=True, slots=True)
class _Part:
    """A function of the program, with the statement that each of its lines belongs to, by first lines."""

    number: int
    file: str
    title: str
    first: int
    lines: list[str]
    statements: dict[int, int]
    loops: list[tuple[int, int]]

    def keys(self) -> dict[int, str]:
        return {line: f"{self.number}:{first}" for line, first in self.statements.items()}


class _Program:
    """The functions that a derivative was made from: the one that was asked for, then those that it calls."""

    def __init__(self, function: Any, spans: Sequence[Span]) -> None:
        self.parts: list[_Part] = []
        known = underlying(function)
        code = getattr(inspect.unwrap(known) if known is not None else None, "__code__", None)
        if code is not None:
            self._add(code.co_filename, code.co_firstlineno)
        for span in spans:
            if self.key(span) is None:
                self._add(span.file, span.line)

    def key(self, span: Span | None) -> str | None:
        """What the statement at a place is called in the page."""
        for part in self.parts:
            if span is not None and part.file == span.file and span.line in part.statements:
                return f"{part.number}:{part.statements[span.line]}"
        return None

    def loop_around(self, keys: set[str]) -> str | None:
        """The innermost loop around the statements that are not in other functions than the first of them."""
        for part in self.parts:
            own = {int(line) for number, line in (key.split(":") for key in keys) if int(number) == part.number}
            if own and part.loops:
                spans = [loop for loop in part.loops if all(loop[0] <= line <= loop[1] for line in own)]
                if spans:
                    return f"{part.number}:{max(spans)[0]}"
        return None

    def _add(self, file: str, line: int) -> None:
        lines = linecache.getlines(file)
        try:
            found = _outermost(ast.parse("".join(lines)), line)
        except SyntaxError:
            return
        if found is not None:
            first = min([found.lineno, *(part.lineno for part in getattr(found, "decorator_list", ()))])
            end = found.end_lineno or found.lineno
            name = getattr(found, "name", "")
            title = ", ".join(filter(None, (name, shown_path(file) if os.path.exists(file) else "")))
            text = [one.rstrip("\n") for one in lines[first - 1 : end]]
            self.parts.append(_Part(len(self.parts), file, title, first, text, dict(_statements(found)), _loops(found)))


def _outermost(tree: ast.AST, line: int) -> ast.stmt | None:
    """The function, or else the statement, around a line: methods without their class."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])
            if first <= line <= (node.end_lineno or node.lineno):
                is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                return node if is_function else _outermost(node, line) or node
    return None


def _statements(root: ast.stmt) -> Iterator[tuple[int, int]]:
    """Each line with the first one of the statement, or of the head of the statement, that it belongs to."""
    for node in ast.walk(root):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = node.end_lineno or node.lineno
            last = min(end, body[0].lineno - 1) if isinstance(body, list) else end
            yield from ((line, node.lineno) for line in range(node.lineno, max(last, node.lineno) + 1))


def _loops(root: ast.stmt) -> list[tuple[int, int]]:
    """The first and the last line of each loop."""
    loops = (node for node in ast.walk(root) if isinstance(node, (ast.For, ast.While)))
    return [(loop.lineno, loop.end_lineno or loop.lineno) for loop in loops]


def _completed(tree: ast.Module, origins: dict[int, str], program: _Program) -> dict[int, str]:
    """Adds where lines come from that the compiler says nothing of: what fills and reads a tape, and reversed loops."""
    found = dict(origins)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    tapes: dict[str, str] = {}
    for node in statements:
        if isinstance(node, ast.Assign) and node.lineno in found:
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            tapes |= {name: found[node.lineno] for name in names if name.endswith("_kept")}
    for node in statements:
        if not hasattr(node, "body") and node.lineno not in found:
            read = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in tapes]
            found |= {node.lineno: tapes[read[0]]} if read else {}
    for node in reversed(statements):
        if isinstance(node, (ast.For, ast.While)) and node.lineno not in found:
            inside = {
                found[part.lineno] for part in ast.walk(node) if isinstance(part, ast.stmt) and part.lineno in found
            }
            loop = program.loop_around(inside)
            found |= {node.lineno: loop} if loop is not None else {}
    return found


# HTML


def _listing(title: str, lines: list[str], first: int, keys: dict[int, str], beside: dict[str | None, str]) -> str:
    rows = []
    marked: set[str] = set()
    for number, text in enumerate(_coloured(lines), first):
        key = keys.get(number)
        note = beside.get(key, "") if key is not None and key not in marked else ""
        marked.update([key] if key else [])
        data = f'data-key="{key or ""}" data-line="{number}"'
        rows.append(
            f'<li role="option" aria-selected="false" tabindex="-1" {data}>'
            f'<span class="ar-number" aria-hidden="true">{number}</span><pre>{text or " "}</pre>'
            f"{f'<span class=ar-note>{escape(note)}</span>' if note else ''}</li>"
        )
    label = escape(title or "the program")
    return f'<h4>{label}</h4><ol role="listbox" aria-label="{label}">{"".join(rows)}</ol>'


def _coloured(lines: list[str]) -> list[str]:
    from pygments import highlight  # lazy
    from pygments.formatters import HtmlFormatter  # lazy
    from pygments.lexers import PythonLexer  # lazy

    lexer = PythonLexer(stripnl=False, ensurenl=True)
    text: str = highlight("\n".join(lines), lexer, HtmlFormatter(nowrap=True, classprefix="ar-t-"))
    return text.rstrip("\n").split("\n") if lines else []


def _told(kept: Sequence[Kept]) -> str:
    """What stands beside the head of a loop."""
    if not kept:
        return "keeps nothing"
    sizes = [one.bytes for one in kept if one.bytes is not None]
    names = ", ".join(one.name for one in kept)
    return f"keeps {names}" + (f" ({size_in_words(sum(sizes))})" if len(sizes) == len(kept) else "")


def _table(tape: TapeReport, kept: list[tuple[str | None, Span | None, Kept]]) -> str:
    total = tape.bytes
    summary = "" if total is None else f": {size_in_words(total)}"
    told = [
        f"<p>The checkpointed loop in line {forecast.place.line if forecast.place else '?'} keeps "
        f"{forecast.snapshots} states of {size_in_words(forecast.state)}.</p>"
        for forecast in tape.checkpoints
    ]
    if not kept:
        return f"<h3>Kept for the reverse sweep</h3>{''.join(told) or '<p>No loop keeps anything.</p>'}"
    rows = []
    for key, loop, one in kept:
        size = "not counted" if one.bytes is None else size_in_words(one.bytes)
        memory = "of known length" if one.preallocated else "that grows"
        cells = (one.name, f"{one.what} in each iteration, in a list {memory}", size, one.reason)
        where = "" if loop is None else f"line {loop.line}"
        shown = "".join(f"<td>{escape(cell)}</td>" for cell in (where, *cells[1:]))
        rows.append(f'<tr data-key="{key or ""}"><th scope="row">{escape(one.name)}</th>{shown}</tr>')
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Value", "Loop", "What", "Memory", "Why"))
    return (
        f"<h3>Kept for the reverse sweep{summary}</h3>{''.join(told)}"
        f'<div class="ar-wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )
