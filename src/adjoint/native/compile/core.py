"""A function of numbers and arrays that is compiled at its first call for each kind of them."""

from __future__ import annotations

import functools
from _thread import allocate_lock  # `threading` takes a while to import
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.codegen.texts import Emitted, load
from adjoint.diagnostics import Diagnostic, DifferentiationError, warn
from adjoint.ir.fingerprint import Nameless, fingerprint
from adjoint.native.compile.signatures import Agreement, agreements, types_of
from adjoint.native.compile.written_units import declare_runtime
from adjoint.native.kept import files as cache
from adjoint.native.kept.background import Child, started
from adjoint.native.kept.known_objects import is_left_to_numba, keep_object, known_object, leave_to_numba
from adjoint.native.kept.known_units import entry_of, keep_unit, known_unit
from adjoint.native.llvm.signatures import PLAIN, emits, kinds_of, options_of
from adjoint.native.llvm.values import ArrayKind
from adjoint.runtime.arithmetic.fused_loops import ExtentsDiffer
from adjoint.target import Target

if TYPE_CHECKING:
    from adjoint.native.llvm.unit import Unit as OwnUnit
    from adjoint.native.llvm.values import Kind


class Core:
    """A function of numbers and arrays that is compiled at its first call for each kind of them.

    Parameters
    ----------
    function
        The function.
    flags
        Options for the compiler.
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
        flags: str,
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
        self._begin(function.name, lists, flags, strict, target, background)

    def _begin(
        self, name: str, lists: Sequence[int], flags: str, strict: bool, target: Target, background: bool
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.lists = tuple(lists)
        self._flags = flags
        self._strict = strict
        self._target = target
        self._background = background
        self._children: dict[Any, Child | None] = {}
        self._lock = allocate_lock()
        self._known: dict[Any, Callable[..., Any]] = {}
        self._left_to_numba: set[tuple[Any, ...]] = set()
        self._texts: dict[frozenset[ir.Var], Emitted] = {}
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
        except (TypeError, ValueError) as problem:  # of the dispatcher, which then has run nothing, or of the program
            if isinstance(problem, ValueError) and not _has_empty_list(args):
                raise
            fitting = self._for(args)
            if fitting is run:
                raise
            try:
                return fitting(*args)
            except ExtentsDiffer:
                pass
        return self._for_any_extents(args)(*args)

    def prepare(self, signature: Sequence[Any]) -> Any:
        """Compiles for arguments of these types; the type of the result. Raises where that fails."""
        from adjoint.native.compile.unit import Unit  # lazy

        unit = Unit(self.emitted_for(signature), signature, self._flags)
        self._latest = self._known[tuple(signature)] = unit.compile()
        return unit.dispatcher.nopython_signatures[0].return_type

    def prepare_own(self, kinds: tuple[Kind, ...]) -> tuple[Kind | None, ...] | None:
        """Makes machine code of Adjoint's own for arguments of these kinds; the kinds of what it gives.

        None where there is none; among the kinds, for what is neither a number nor an array.
        """
        unit = self._own_code(kinds, None, ())
        if unit is None:
            return None
        self._latest = self._known[kinds] = unit.load()
        return tuple([each if isinstance(each, (str, ArrayKind)) else None for each in unit.results])

    def for_machine_code(self, kinds: tuple[Kind, ...]) -> OwnUnit:
        """Code that other machine code calls with arguments of these kinds.

        Raises
        ------
        NotNative
            If there is none.
        """
        from adjoint.native.backend import own_form  # lazy
        from adjoint.native.compile.messages.not_native import NotNative  # lazy
        from adjoint.native.llvm.c_entry import c_entry  # lazy
        from adjoint.native.llvm.unit import compiled  # lazy

        form = own_form(self._function, self._target, self._handed, frozenset(self._told_by(kinds)), None)
        unit = None if form is None else compiled(form, kinds, options_of(self._flags) or PLAIN, entry=c_entry)
        if unit is None:
            raise NotNative("it has no form that machine code can call")
        return unit

    @functools.cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function as Python."""
        from adjoint.codegen.python import emit  # lazy

        return load(emit(self._function))

    @property
    def emitted(self) -> Emitted:
        """The text that can be compiled for arguments that lie in any way."""
        return self._text(frozenset())

    def emitted_for(self, signature: Sequence[Any]) -> Emitted:
        """The text that is compiled for arguments of these types: how they lie counts where it decides something."""
        return self._text(frozenset(self._told_by(signature)))

    def _emitted(self, signature: Sequence[Any], args: Sequence[Any] | None) -> Emitted:
        """The text for types, and for extents that agree as those of these arguments."""
        if args is None:
            return self.emitted_for(signature)
        from adjoint.native.backend import compiled_text  # lazy

        return compiled_text(self._function, self._target, self._handed, frozenset(self._told_by(signature)), args)

    def _text(self, by_rows: frozenset[ir.Var]) -> Emitted:
        from adjoint.native.backend import compiled_text  # lazy

        if by_rows not in self._texts:
            self._texts[by_rows] = compiled_text(self._function, self._target, self._handed, by_rows)
        return self._texts[by_rows]

    def _told_by(self, signature: Sequence[Any]) -> Iterator[ir.Var]:
        """The parameters that lie by rows, where that decides something."""
        if not self._reads_layouts:
            return
        for param, found in zip(self._function.params, signature, strict=True):
            if getattr(found, "by_rows", False) or getattr(found, "layout", None) == "C":
                yield param

    @functools.cached_property
    def _reads_layouts(self) -> bool:
        from adjoint.analysis.memory.array_layout import layout_readers  # lazy

        return any(True for _ in layout_readers(self._function))

    @functools.cached_property
    def fingerprint(self) -> str | None:
        """What names the function in every process; None where nothing does."""
        try:
            return fingerprint(self._function, self._handed)
        except Nameless:
            return None

    @property
    def is_compiled(self) -> bool:
        """Whether the last call ran as machine code."""
        return self._latest is not None and self._latest is not vars(self).get("interpreted")

    def _for(self, args: Sequence[Any]) -> Callable[..., Any]:
        """The callable for arguments of these types."""
        if _has_empty_list(args):  # Numba cannot tell what it is a list of; there is little to do
            return self.interpreted
        with self._lock:
            found = self._found(args)
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
        key = self.own_kinds(sample) or types_of(sample), None if args is None else tuple(agreements(args))
        if key not in self._children:
            is_kept = self._is_kept(sample, args) or self.fingerprint is None or cache.directory() is None
            self._children[key] = None if is_kept else started(lambda: self._compile(sample, args))
        child = self._children[key]
        return child is not None and not child.is_done()

    def _is_kept(self, sample: Sequence[Any], args: Sequence[Any] | None) -> bool:
        """Whether there is machine code for such arguments in the cache."""
        agreeing = () if args is None else agreements(args)
        kinds = self.own_kinds(sample)
        if kinds is not None:
            entry = self._entry(kinds, agreeing, own=True)
            if entry is None or not is_left_to_numba(entry):
                return entry is not None and known_object(entry) is not None
        signature = types_of(sample)
        entry = self._entry(signature, agreeing)
        return entry is not None and known_unit(entry, signature) is not None

    def _entry(self, signature: Sequence[Any], agreeing: Sequence[Agreement], *, own: bool = False) -> str | None:
        """The name under which machine code for arguments of these types is kept."""
        return entry_of(self.__name__, self.fingerprint, signature, agreeing, self._flags, self._target, own=own)

    def _found(self, args: Sequence[Any]) -> Callable[..., Any] | None:
        """The callable for arguments of these types, if there is one."""
        kinds = self.own_kinds(args)
        return self._known.get(types_of(args) if kinds is None else kinds)

    def own_kinds(self, args: Sequence[Any]) -> tuple[Any, ...] | None:
        """The kinds of arguments for which there is machine code of Adjoint's own, or may be."""
        kinds = kinds_of(args) if emits(self._flags, self._target) else None
        return None if kinds in self._left_to_numba else kinds

    def _compile(self, sample: Sequence[Any], args: Sequence[Any] | None) -> Callable[..., Any]:
        """The callable for types like those of a sample, and for extents that agree as those of arguments do."""
        warning, self._warning = self._warning, None
        if warning is not None:
            warn(warning)
        agreeing = () if args is None else agreements(args)
        kinds = self.own_kinds(sample)
        if kinds is not None:
            own = self._own_code(kinds, args if agreeing else None, agreeing)
            if own is not None:
                self._known[kinds] = call = own.load()
                return call
            self._left_to_numba.add(kinds)
        signature = types_of(sample)
        self._known[signature] = found = self._code_of_numba(signature, args, agreeing)
        return found

    def _own_code(
        self, kinds: tuple[Any, ...], args: Sequence[Any] | None, agreeing: Sequence[Agreement]
    ) -> OwnUnit | None:
        """Machine code of Adjoint's own; None for what has none."""
        entry = self._entry(kinds, agreeing, own=True)
        known = None if entry is None else known_object(entry)
        if known is not None:
            return known
        if entry is not None and is_left_to_numba(entry):
            return None
        from adjoint.native.backend import own_form  # lazy
        from adjoint.native.compile.messages.progress import told_when_slow  # lazy
        from adjoint.native.llvm.unit import compiled  # lazy

        with told_when_slow(self.__name__.removesuffix("_core")) as progress:
            by_rows = frozenset(self._told_by(kinds))
            form = own_form(self._function, self._target, self._handed, by_rows, args)
            options = options_of(self._flags)
            unit = None if form is None or options is None else compiled(form, kinds, options, progress.leaves)
        if entry is not None:
            leave_to_numba(entry) if unit is None else keep_object(entry, unit)
        return unit

    def _code_of_numba(
        self, signature: tuple[Any, ...], args: Sequence[Any] | None, agreeing: Sequence[Agreement]
    ) -> Callable[..., Any]:
        """Machine code that Numba makes; Python where it cannot."""
        entry = self._entry(signature, agreeing)
        known = None if entry is None else known_unit(entry, signature)
        return self._new(signature, args if agreeing else None, entry) if known is None else known.call

    def _new(self, signature: tuple[Any, ...], args: Sequence[Any] | None, entry: str | None) -> Callable[..., Any]:
        """New machine code, which is kept under this name."""
        from adjoint.native.compile.messages.not_native import NotNative  # lazy
        from adjoint.native.compile.messages.progress import told_when_slow  # lazy
        from adjoint.native.compile.unit import Unit  # lazy

        declare_runtime()
        try:
            with told_when_slow(self.__name__.removesuffix("_core")) as progress:
                unit = Unit(self._emitted(signature, args), signature, self._flags)
                progress.leaves(unit.lines_of_python)
                call = unit.compile()
            if entry is not None and unit.is_closed:
                keep_unit(entry, unit.written)
            return call
        except NotNative as reason:
            if self._strict:
                raise DifferentiationError(reason.problem) from reason.__cause__
            warn(reason.problem)
            return self.interpreted


def _holds_arrays(type_: ir.Type | None) -> bool:
    return isinstance(type_, ir.List) and (isinstance(type_.element, ir.Array) or _holds_arrays(type_.element))


def _has_one_twice(lists: Sequence[Any]) -> bool:
    """Whether one array is in several places of lists."""
    items = list(chain.from_iterable(lists))
    while items and isinstance(items[0], list):
        items = list(chain.from_iterable(items))
    return len(set(map(id, items))) < len(items)


def _has_empty_list(args: Sequence[Any]) -> bool:
    return any(type(arg) is list and not arg for arg in args)
