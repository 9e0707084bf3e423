"""Texts of functions, and the functions that they become, which debuggers and tracebacks can show."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from importlib.util import source_hash
from typing import Any

from adjoint.diagnostics import Diagnostic, DifferentiationError, diagnostic
from adjoint.diagnostics.spans import Span
from adjoint.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Emitted:
    """The text of a function, and what its text refers to.

    Attributes
    ----------
    text
        The ``def`` of the function, followed by those of the functions that it calls.
    namespace
        The objects that the text names, without Python's own.
    name
        The name of the function in the text.
    lines
        For lines of the text the places in the user's source that they come from.
    containers
        The variables that only ever stand for lists, dicts and objects.
    parts
        For lines of which not all comes from one place: the texts of expressions, and where these come from.
    """

    text: str
    namespace: dict[str, object]
    name: str
    lines: dict[int, Span] = field(default_factory=dict, compare=False)
    containers: frozenset[str] = field(default=frozenset(), compare=False)
    parts: dict[int, list[tuple[str, Span]]] = field(default_factory=dict, compare=False)


Lines = dict[int, Span]
Parts = dict[int, list[tuple[str, Span]]]

origins: dict[str, tuple[Lines, Parts]] = {}
"""Where lines of the texts that were run come from, and parts of them, by the names under which tools know these."""


MOST_LEVELS = 100
"""In how many levels Python reads what is indented."""


def too_many_levels() -> Diagnostic:
    """The refusal of more branches inside one another: those of ``elif`` and of ``and``, too."""
    helps = ("look the cases up in a dict, or go through a list of them in a loop: all(x > b for b in bounds)",)
    return diagnostic("AD0902", None, "branches lie inside one another in a hundred levels", helps=helps)


def file_of(emitted: Emitted, filename_hint: str = "") -> str:
    """The name under which tools know a text."""
    digest = source_hash(emitted.text.encode()).hex()[:10]
    return f"<adjoint {filename_hint or emitted.name} #{digest}>"


def load(emitted: Emitted, filename_hint: str = "") -> Callable[..., Any]:
    """Runs a text and gives the function; the text is registered so that tools find its lines."""
    filename = file_of(emitted, filename_hint)
    origins[filename] = emitted.lines, emitted.parts
    try:
        code = compile(emitted.text, filename, "exec")
    except IndentationError:  # Python reads a hundred levels
        raise DifferentiationError(too_many_levels()) from None
    lines = emitted.text.splitlines(keepends=True)
    linecache.cache[filename] = (len(emitted.text), None, lines, filename)
    named = {
        name: value.function() if isinstance(value, ByPython) else value for name, value in emitted.namespace.items()
    }
    namespace: dict[str, Any] = {"__name__": "adjoint_generated", **named}  # no module of ours
    exec(code, namespace)
    function: Callable[..., Any] = namespace[emitted.name]
    return function


class ByPython:
    """A statement of a program in machine code that runs as Python: a text that is loaded when it is called.

    Attributes
    ----------
    emitted
        The text of the function.
    several
        Whether it is more than one statement, and may keep what it is given.
    asks
        Whether it may do other things with a number of Python than with one of NumPy.
    computed
        For each result whether it is computed, and no item of what is given; empty where that is not known.
    fixed
        For each result whether it is a view that nobody may write, None where it may be one; empty where none is.
    """

    def __init__(
        self,
        emitted: Emitted,
        several: bool = False,
        asks: bool = False,
        computed: tuple[bool, ...] = (),
        fixed: tuple[bool | None, ...] = (),
    ) -> None:
        self.emitted, self.several, self.asks, self.computed, self.fixed = emitted, several, asks, computed, fixed
        self._loaded: Callable[..., Any] | None = None
        self.__name__ = f"{emitted.name}_by_python"
        self.__qualname__ = self.__name__

    def function(self) -> Callable[..., Any]:
        """The function itself."""
        if self._loaded is None:
            self._loaded = load(self.emitted)
        return self._loaded

    def __call__(self, *args: Any) -> Any:
        return self.function()(*args)
