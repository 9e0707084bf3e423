"""Texts that no file holds: of ``python -c``, of standard input, of what was typed at Python's prompt, and of pickles.

Those of modules that are frozen into the interpreter lie in the files that they were made of; what ``exec`` and
``eval`` ran may still be held by a variable of a module, or stand in its text.

Nothing here needs to be sure. A text is only taken where a definition in it compiles to the very code that runs.
"""

from __future__ import annotations

import ast
import ctypes
import linecache
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from types import CodeType
from typing import Any

from adjoint.sources.library_folders import is_of_a_library
from adjoint.sources.trees import nodes

_FROZEN = "<frozen "
_COMMAND, _INPUT, _PICKLED = "<string>", "<stdin>", "<dynamic-code>"
_WITH_VALUE = "WXQmc"
"""Options of the interpreter, of one letter, that take a value: in the same word, or in the next."""


def texts_of(code: CodeType, module_globals: dict[str, Any] | None) -> Iterator[list[str]]:
    """The lines that a code object may have been compiled from, the likeliest first."""
    if code.co_filename.startswith(_FROZEN):
        yield from _thawed(code)
        return
    yield from _kept(code)
    yield from _told(code)
    for text in _executed(code, module_globals or {}):
        yield text.splitlines(keepends=True)


def _kept(code: CodeType) -> Iterator[list[str]]:
    """What Python itself keeps of statements at its prompt, from 3.14 on."""
    lines_of = getattr(linecache, "_getlines_from_code", None)
    if lines_of is not None:
        yield lines_of(code)


def _told(code: CodeType) -> Iterator[list[str]]:
    if code.co_filename == _COMMAND:
        command = command_line()
        if command is not None:
            yield command.splitlines(keepends=True)
    elif code.co_filename == _INPUT:
        yield from _typed(code)
        for text in (_redirected(), _piped()):
            if text is not None:
                yield text.splitlines(keepends=True)
    elif code.co_filename == _PICKLED:
        yield from (text.splitlines(keepends=True) for text in reversed(_sent))


def _thawed(code: CodeType) -> Iterator[list[str]]:
    """The lines of the file that a frozen module was made of."""
    module = sys.modules.get(code.co_filename.removeprefix(_FROZEN).rstrip(">"))
    file = getattr(module, "__file__", None)
    if file is not None:
        yield linecache.getlines(file)


def _executed(code: CodeType, module_globals: dict[str, Any]) -> Iterator[str]:
    """Texts that name a function: those that variables of modules hold, and those that stand in modules.

    These are the module of the function, and where it says none, all that are not part of a library.
    """
    name = code.co_name
    mark = "lambda" if name == "<lambda>" else f"def {name}"
    yield from _held(module_globals, mark)
    module = sys.modules.get(module_globals.get("__name__", ""))
    for each in list(sys.modules.values()) if module is None else [module]:
        file = getattr(each, "__file__", None)
        if file is None or (module is None and is_of_a_library(file)):
            continue
        yield from _held(vars(each), mark)
        lines = linecache.getlines(file, vars(each))
        if any(mark in line for line in lines):
            yield from _literals("".join(lines), mark)


def _held(variables: dict[str, Any], mark: str) -> Iterator[str]:
    for text in list(variables.values()):
        if type(text) is str and mark in text:
            yield text


def _literals(text: str, mark: str) -> Iterator[str]:
    """The literals in the text of a module that hold a mark, with and without their indentation."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and mark in node.value:
            yield node.value
            yield textwrap.dedent(node.value)


_sent: dict[str, None] = {}
"""The texts that came with derivatives of functions that were pickled by value; cloudpickle forgets their files."""
_MOST_SENT = 256


def receive(text: str) -> None:
    """Keeps a text that came with a pickle."""
    _sent[text] = None
    while len(_sent) > _MOST_SENT:
        del _sent[next(iter(_sent))]


def command_line() -> str | None:
    """The text that ``python -c`` was given; None where Python was started in another way."""
    words = iter(sys.orig_argv[1:])
    for word in words:
        if word == "--check-hash-based-pycs":
            next(words, None)
            continue
        if not word.startswith("-") or word.startswith("--") or word == "-":
            return None
        for place, letter in enumerate(word[1:], 2):
            if letter in _WITH_VALUE:
                value = word[place:] or next(words, None)
                if letter == "c":
                    return value
                if letter == "m":
                    return None
                break
    return None


def _redirected() -> str | None:
    """Standard input, where it is a file: reading it again does not move what others read."""
    try:
        size = os.fstat(0).st_size
        return os.pread(0, size, 0).decode() if size else None
    except (OSError, UnicodeDecodeError):
        return None


def _piped() -> str | None:
    """What the C library last read from a pipe, with which it started in most cases: 4096 bytes at most.

    Python reads a whole program before it runs, and keeps nothing of its text.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        stream = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stdin").value
        if stream is None:
            return None
        # struct _IO_FILE of glibc: the flags, then pointers; the buffer's start and end are the seventh and eighth.
        start, end = (ctypes.c_void_p * 9).from_address(stream)[7:9]
        if not start or not end or not start < end <= start + 2**20:
            return None
        held = ctypes.string_at(start, end - start)
    except (ValueError, OSError, AttributeError):
        return None
    text = held.partition(b"\0")[0].decode(errors="ignore")
    return _valid_start(text)


def _valid_start(text: str) -> str | None:
    """A text up to the last line before one that is not printable: behind it lies what was read earlier."""
    lines = []
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n") and not line.isprintable():
            break
        lines.append(line)
    return "".join(lines) or None


def _typed(code: CodeType) -> Iterator[list[str]]:
    """Statements at Python's prompt in which the code may have been defined: from the history, the latest first."""
    readline = sys.modules.get("readline")
    if readline is None:
        return
    lines = [readline.get_history_item(place) or "" for place in range(1, readline.get_current_history_length() + 1)]
    kind = "lambda" if code.co_name == "<lambda>" else rf"(def|class)\s+{re.escape(code.co_qualname.split('.')[0])}"
    pattern = re.compile(rf"(^|\W){kind}(\W|$)")
    for start in range(len(lines) - 1, -1, -1):
        if lines[start][:1].isspace() or not lines[start]:
            continue
        end = start + 1
        while end < len(lines) and (lines[end][:1].isspace() or lines[end - 1].startswith("@") or _goes_on(lines[end])):
            end += 1
        statement = lines[start:end]
        if any(map(pattern.search, statement)):
            yield [f"{line}\n" for line in statement]


def _goes_on(line: str) -> bool:
    """Whether a line at the margin belongs to the statement before."""
    return line.startswith((")", "]", "}", "else", "elif", "except", "finally"))
