"""A function of the IR as machine code for arguments of certain kinds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adjoint import ir
from adjoint.analysis.memory.array_layout import asks_layouts
from adjoint.ir.walk import vars_used
from adjoint.native.compile.not_native import NotNative, faults_as_reasons
from adjoint.native.llvm.boxing import wrapper
from adjoint.native.llvm.callbacks import SYMBOLS, Callback
from adjoint.native.llvm.engine import callable_at, engine, linked
from adjoint.native.llvm.memory.blocks import BORROWED, OF_PYTHON, runtime
from adjoint.native.llvm.messages import Message
from adjoint.native.llvm.values import (
    OBJECT,
    Array,
    ArrayKind,
    Complex,
    Kind,
    Known,
    LeftToPython,
    List,
    ListKind,
    NothingKind,
    Number,
    Object,
    ObjectKind,
    TakenAsObject,
    Tuple,
    TupleKind,
    Unsupported,
    is_complex,
    kinds_in,
)
from adjoint.native.llvm.writing.attempts import Attempts
from adjoint.native.llvm.writing.declared import kind_of_type
from adjoint.native.llvm.writing.outlining import outlined
from adjoint.native.llvm.writing.program import Program, Site
from adjoint.native.options import PLAIN, Options
from adjoint.records import dataclass

_NOTHING = f"@nothing = internal global [16 x i64] [i64 {BORROWED}{', i64 0' * 15}], align 64\n"
_UNUSED = Known(Ellipsis)
_ARITHMETIC = re.compile(r"= (f(?:add|sub|mul|div|rem|cmp)) (?!afn)")
"""Instructions that options may change. What has to mean what it says has a flag of no consequence."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Object code, and what is needed to call it.

    Attributes
    ----------
    name
        The name of the function that Python calls.
    code
        The object code.
    symbols
        What it calls from outside of the C library.
    sites
        What is raised where a check fails.
    callbacks
        What runs as Python.
    results
        What the function gives: the kinds of the values.
    """

    name: str
    code: bytes
    symbols: frozenset[str]
    sites: tuple[Site, ...]
    results: tuple[Kind, ...]
    callbacks: tuple[Callback, ...] = ()

    def load(self) -> Callable[..., Any]:
        """The function of all arguments."""
        sites = self.sites

        def fail(number: int, operands: int) -> None:
            if number == 0:
                raise TypeError("machine code was made for arguments of other types")
            site = sites[number - 1]
            said = site.message
            if isinstance(said, Message):
                said = said.arguments(operands)
            raise site.exception(*said) if isinstance(said, tuple) else site.exception(said)

        return callable_at(self.address(), self.name, fail)  # type: ignore[no-any-return]

    def address(self) -> int:
        """Where the function lies, which is linked."""
        called = {callback.symbol: callback.load for callback in self.callbacks}
        return linked(self.code, self.name, self.symbols, called)


WriteEntry = Callable[..., None]
"""Writes the function that is called from outside: :func:`wrapper` for Python, :func:`c_entry` for machine code."""


def text_of(
    function: ir.Function, kinds: Sequence[Kind], options: Options = PLAIN, entry: WriteEntry = wrapper
) -> tuple[str, str, Program, tuple[Kind, ...]]:
    """The LLVM IR of a function for arguments of these kinds, the name of what is called, and what that gives."""
    told, attempts = list(kinds), Attempts()
    layouts = attempts.layouts
    while True:
        attempts.begin()
        try:
            found = _text_of(function, told, options, entry, attempts)
        except TakenAsObject as taken:
            told[taken.place] = OBJECT
        except LeftToPython as left:
            if not layouts.grown:
                layouts.leave(left.cls)
        except Unsupported:
            if not layouts.grown and not attempts.forget():
                if not layouts.are_used():
                    raise
                layouts.leave(None)
        else:
            if not layouts.grown:
                return found


def _text_of(
    function: ir.Function, kinds: Sequence[Kind], options: Options, entry: WriteEntry, attempts: Attempts
) -> tuple[str, str, Program, tuple[Kind, ...]]:
    from adjoint.native.llvm.rules.calls import rule_of  # lazy

    is_locked = entry is wrapper and not options.side_by_side
    program = Program(rule_of, attempts, options.checked, is_locked, asks_layouts(function))
    used = set(vars_used(function.body))
    told: list[Kind | Known] = [
        _of_argument(kind, place) if param in used else _UNUSED
        for place, (param, kind) in enumerate(zip(function.params, kinds, strict=True))
    ]
    values = [found if isinstance(found, Known) else _example(found) for found in told]
    callee = program.function(function, function, values)
    assert callee.results is not None
    # beside single precision, NumPy's numbers are double
    program.asks |= any(each in ("f4", "c4") for found in kinds for each in kinds_in(found))
    program.require_one_kind_of_numbers()
    entry(program.module, "adjoint_main", callee, told, options.side_by_side)
    for needed, result, params in OF_PYTHON:
        program.module.declare(needed, result, params)
    if program.long and not attempts.layouts.grown:
        _outline(program)
    text = program.module.text(runtime() + _NOTHING, in_order=not options.fast)
    if options.fast:
        text = _ARITHMETIC.sub(rf"= \1 {options.fast} ", text)
    name = f"adjoint_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    return text.replace("@adjoint_main(", f"@{name}("), name, program, callee.results


def _outline(program: Program) -> None:
    """Has functions that are long in pieces."""
    types = engine().types_in(program.module.text(runtime() + _NOTHING), program.long)
    for name, long in program.long.items():
        program.module.functions[name] = outlined(name, long, types[name])


def _of_argument(found: Kind, place: int) -> Kind:
    """The kind of an argument, whose lists know its place."""
    match found:
        case ListKind(element=element, read_only=read_only):
            return ListKind(None if element is None else _of_argument(element, place), read_only, place)
        case TupleKind(items=items):
            return TupleKind(tuple([_of_argument(item, place) for item in items]))
    return found


def _example(kind: Kind) -> Any:
    """A value of a kind, to tell the kind by."""
    match kind:
        case str():
            return Complex(kind, "0", "0") if is_complex(kind) else Number(kind, "0")
        case ArrayKind(rank=rank):
            return Array(kind, "", "", ("",) * rank, ("",) * rank, None)
        case NothingKind():
            return Known(None)
        case ObjectKind():
            return Object("", None)
        case ListKind():
            return List(kind, "", None)
        case TupleKind(items=items):
            return Tuple(tuple(map(_example, items)))
    raise Unsupported("arguments of this kind")


def compiled(
    function: ir.Function,
    kinds: Sequence[Kind],
    options: Options = PLAIN,
    leaves: Callable[[Iterable[int]], None] | None = None,
    entry: WriteEntry = wrapper,
) -> Unit:
    """The machine code of a function.

    Parameters
    ----------
    function
        As the native passes leave it.
    kinds
        The kinds of its arguments.
    options
        What options of the compiler ask.
    leaves
        Is told, before it is compiled, which lines of the user's run as Python.
    entry
        Writes what is called from outside.

    Raises
    ------
    NotNative
        If a statement has no form.
    """
    with faults_as_reasons():
        try:
            text, name, program, given = text_of(function, kinds, options, entry)
        except Unsupported as reason:
            raise NotNative(f"machine code has no form for {reason}", (), reason.span) from reason
        called = set(SYMBOLS.findall(text))
        callbacks = tuple([callback for symbol, callback in program.callbacks.items() if symbol in called])
        if leaves is not None:
            leaves(span.line for callback in callbacks for span in callback.emitted.lines.values())
        code = engine().object_code(text)
        return Unit(name, code, frozenset(program.symbols), tuple(program.sites), given, callbacks)


def shown(function: ir.Function) -> str:
    """The LLVM IR of a function, as far as it tells what its parameters are.

    Raises
    ------
    Unsupported
        If there is none.
    """
    kinds = [kind_of_type(param.type) for param in function.params]
    return text_of(function, kinds)[2].module.text("")


def seal_of(code: bytes) -> str:
    """What tells whether object code is whole."""
    return hashlib.sha256(code).hexdigest()
