"""A function of numbers and arrays that is compiled at its first call for each kind of them."""

from __future__ import annotations

import functools
from _thread import allocate_lock  # `threading` takes a while to import
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import ir
from adjoint.codegen.texts import Emitted, load
from adjoint.diagnostics import Diagnostic, DifferentiationError, warn
from adjoint.ir.fingerprint import known_fingerprint
from adjoint.native.compile.agreements import Agreement, agreements
from adjoint.native.compile.not_native import NotNative
from adjoint.native.kept import files as cache
from adjoint.native.kept.background import Child, started
from adjoint.native.kept.known_objects import entry_of, kept_or_made, known_object
from adjoint.native.llvm.signatures import kinds_of
from adjoint.native.llvm.values import ArrayKind
from adjoint.native.options import Options
from adjoint.progress import told_when_slow
from adjoint.runtime.arithmetic.fused_loops import ExtentsDiffer
from adjoint.target import Target

if TYPE_CHECKING:
    from adjoint.native.llvm.unit import Unit
    from adjoint.native.llvm.values import Kind


class Core:
    """A function of numbers and arrays that is compiled at its first call for each kind of them.

    Parameters
    ----------
    function
        The function.
    options
        What is asked of machine code.
    strict
        Whether it is an error if it cannot be compiled. Otherwise it then runs as Python.
    target
        What it was made for.
    handed
        Memory that others see; None for that of the parameters.
    warning
        What is said before it is compiled for the first time.
    background
        Whether a child process compiles it; until then it runs as Python.

    Attributes
    ----------
    lists
        The places of arguments that are lists of arrays.
    """

    def __init__(
        self,
        function: ir.Function,
        options: Options,
        strict: bool,
        target: Target,
        handed: frozenset[ir.Storage] | None = None,
        warning: Diagnostic | None = None,
        *,
        background: bool = False,
    ) -> None:
        self._function = function
        self._handed = handed
        self._warning = warning
        lists = [place for place, param in enumerate(function.params) if _holds_arrays(param.type)]
        self._begin(function.name, lists, options, strict, target, background)

    def _begin(
        self, name: str, lists: Sequence[int], options: Options, strict: bool, target: Target, background: bool
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.lists = tuple(lists)
        self._options = options
        self._strict = strict
        self._target = target
        self._background = background
        self._children: dict[Any, Child | None] = {}
        self._lock = allocate_lock()
        self._known: dict[Any, Callable[..., Any]] = {}
        self._latest: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        if self.lists and _has_one_twice([args[place] for place in self.lists]):
            return self.interpreted(*args)  # machine code would give each place a cotangent of its own
        run = self._latest
        if run is None:
            run = self._for(args)
        try:
            return run(*args)
        except ExtentsDiffer:
            pass
        except TypeError:  # of arguments of other kinds, and then nothing has run, or of the program
            fitting = self._for(args)
            if fitting is run:
                raise
            try:
                return fitting(*args)
            except ExtentsDiffer:
                pass
        return self._for_any_extents(args)(*args)

    def prepare(self, kinds: tuple[Kind, ...]) -> tuple[Kind | None, ...]:
        """Makes machine code for arguments of these kinds; the kinds of what it gives, None for what is no number.

        Raises
        ------
        NotNative
            If there is none.
        """
        unit = self._code(kinds, None, ())
        self._latest = self._known[kinds] = unit.load()
        return tuple([each if isinstance(each, (str, ArrayKind)) else None for each in unit.results])

    def for_machine_code(self, kinds: tuple[Kind, ...]) -> Unit:
        """Code that other machine code calls with arguments of these kinds.

        Raises
        ------
        NotNative
            If there is none.
        """
        from adjoint.native.llvm.c_entry import c_entry  # lazy
        from adjoint.native.llvm.unit import compiled  # lazy

        return compiled(self._form(kinds, None), kinds, self._options, entry=c_entry)

    @functools.cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function as Python."""
        from adjoint.codegen.python import emit  # lazy

        return load(emit(self._function))

    @property
    def emitted(self) -> Emitted:
        """The text of what machine code is made of, for people."""
        from adjoint.native.backend import compiled_text  # lazy

        return compiled_text(self._function, self._target, self._handed)

    def _form(self, kinds: Sequence[Kind], args: Sequence[Any] | None) -> ir.Function:
        """What machine code is made of for arguments of these kinds; for extents that agree as those of arguments."""
        from adjoint.native.backend import form_of  # lazy

        return form_of(self._function, self._target, self._handed, frozenset(self._told_by(kinds)), args)

    def _told_by(self, kinds: Sequence[Kind]) -> Iterator[ir.Var]:
        """The parameters that lie by rows, where that decides something."""
        if not self._reads_layouts:
            return
        for param, found in zip(self._function.params, kinds, strict=True):
            if isinstance(found, ArrayKind) and found.by_rows:
                yield param

    @functools.cached_property
    def _reads_layouts(self) -> bool:
        from adjoint.analysis.memory.array_layout import layout_readers  # lazy

        return any(True for _ in layout_readers(self._function))

    @functools.cached_property
    def fingerprint(self) -> str | None:
        """What names the function in every process; None where nothing does."""
        return known_fingerprint(self._function, self._handed)

    @property
    def is_compiled(self) -> bool:
        """Whether the last call ran as machine code."""
        return self._latest is not None and self._latest is not vars(self).get("interpreted")

    def _for(self, args: Sequence[Any]) -> Callable[..., Any]:
        """The callable for arguments of these types."""
        with self._lock:
            found = self._known.get(kinds_of(args))
            if found is None and self._background and self._is_under_way(args, args):
                return self.interpreted
            self._latest = found or self._compile(args, args)
            return self._latest

    def _for_any_extents(self, args: Sequence[Any]) -> Callable[..., Any]:
        """The callable for arguments of these types, from now on: its extents were not what they had been."""
        with self._lock:
            if self._background and self._is_under_way(args, None):
                return self.interpreted
            self._latest = self._compile(args, None)
            return self._latest

    def _is_under_way(self, sample: Sequence[Any], args: Sequence[Any] | None) -> bool:
        """Whether a child process compiles for such arguments; it is started where nothing is kept for them."""
        kinds, agreeing = kinds_of(sample), _agreements_of(args)
        key = kinds, None if args is None else agreeing
        if key not in self._children:
            entry = self._entry(kinds, agreeing)
            is_to_be_made = entry is not None and cache.directory() is not None and known_object(entry) is None
            self._children[key] = started(lambda: self._compile(sample, args)) if is_to_be_made else None
        child = self._children[key]
        return child is not None and not child.is_done()

    def _entry(self, kinds: Sequence[Kind], agreeing: Sequence[Agreement]) -> str | None:
        """The name under which machine code for arguments of these kinds is kept."""
        return entry_of(self.__name__, self.fingerprint, kinds, agreeing, self._options, self._target)

    def _compile(self, sample: Sequence[Any], args: Sequence[Any] | None) -> Callable[..., Any]:
        """The callable for kinds like those of a sample, and for extents that agree as those of arguments do."""
        warning, self._warning = self._warning, None
        if warning is not None:
            warn(warning)
        kinds, agreeing = kinds_of(sample), _agreements_of(args)
        try:
            call: Callable[..., Any] = self._code(kinds, args if agreeing else None, agreeing).load()
        except NotNative as reason:
            if self._strict:
                raise DifferentiationError(reason.problem) from reason.__cause__
            warn(reason.problem)
            call = self.interpreted
        self._known[kinds] = call
        return call

    def _code(self, kinds: tuple[Kind, ...], args: Sequence[Any] | None, agreeing: Sequence[Agreement]) -> Unit:
        """The machine code for arguments of these kinds, which may be kept from before."""

        def make() -> Unit:
            from adjoint.native.llvm.unit import compiled  # lazy

            with told_when_slow(f"compiling {self.__name__.removesuffix('_core')} to machine code") as progress:
                return compiled(self._form(kinds, args), kinds, self._options, progress.leaves)

        return kept_or_made(self._entry(kinds, agreeing), make)


def _agreements_of(args: Sequence[Any] | None) -> tuple[Agreement, ...]:
    """Which extents of arguments agree; none where they are not to be told."""
    return () if args is None else agreements(args)


def _holds_arrays(type_: ir.Type | None, *, in_list: bool = False) -> bool:
    match type_:
        case ir.List(element=element):
            return _holds_arrays(element, in_list=True)
        case ir.Tuple(items=items) | ir.PerPlace(items=items):
            return any(_holds_arrays(item, in_list=in_list) for item in items)
        case _:
            return in_list and isinstance(type_, ir.Array)


def _has_one_twice(values: Sequence[Any]) -> bool:
    """Whether one array is in several places of lists, and of tuples in them."""
    items = list(values)
    while any(isinstance(item, (list, tuple)) for item in items):
        items = list(chain.from_iterable(item if isinstance(item, (list, tuple)) else (item,) for item in items))
    found = [id(item) for item in items if isinstance(item, np.ndarray)]
    return len(set(found)) < len(found)
