"""Machine code as a function of Numba: a call through a pointer, with numbers and arrays in words.

What is called lies where this process put it, so Numba keeps no code that calls it between processes.
"""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, misc, attr-defined"

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba import carray, njit, objmode
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype
from numpy.lib.stride_tricks import as_strided

from adjoint.native.compile.not_native import NotNative
from adjoint.native.llvm.c_entry import words_of
from adjoint.native.llvm.callbacks import raise_kept
from adjoint.native.llvm.messages import Message
from adjoint.native.llvm.unit import Unit
from adjoint.native.llvm.values import (
    ArrayKind,
    Kind,
    NothingKind,
    TupleKind,
    Unsupported,
    dtype_of,
    is_complex,
    kind_of,
)
from adjoint.native.llvm.writing.program import RAISED

_WORD = llvm.IntType(64)
_STATUS = llvm.IntType(32)


def kind_of_type(found: Any) -> Kind:
    """The kind of the values of a type of Numba's.

    Raises
    ------
    NotNative
        If machine code has none.
    """
    try:
        match found:
            case types.NoneType():
                return NothingKind()
            case types.Array():
                return ArrayKind(kind_of(as_dtype(found.dtype)), found.ndim, found.layout == "C", not found.mutable)
            case types.Number() | types.Boolean():
                return kind_of(as_dtype(found))
            case types.BaseTuple():
                return TupleKind(tuple([kind_of_type(part) for part in _parts_of(found)]))
    except Unsupported as problem:
        raise NotNative(f"in compiled code, a derivative takes no {problem}") from problem
    raise NotNative(f"in compiled code, a derivative takes no argument of the type {found}")


def _parts_of(kind: Any) -> tuple[Any, ...]:
    """The types of the items of a tuple."""
    return tuple(kind)


def callable_from_numba(unit: Unit, args: Sequence[Any]) -> Any:
    """A function of Numba that calls machine code with arguments of these types of Numba's.

    Arrays that it gives are new.
    """
    address = unit.address()
    namespace: dict[str, Any] = {"enter": _entering(unit, address), "give_up": _giving_up(unit, address)}
    namespace |= {"fail": _failing(unit), "carray": carray, "pointer": pointer, "as_strided": as_strided}
    text = _Text(namespace)
    results = [text.told(each) for each in unit.results]
    params = ", ".join(f"a{number}" for number in range(len(args)))
    head = [f"def derivative({params}):", f"    found = enter(({params},))" if args else "    found = enter(())"]
    end = results[0] if len(results) == 1 else _tuple(results)
    exec(
        "\n".join([*head, "    if found[0] != 0:", "        fail(found[0])", *text.lines, f"    return {end}"]),
        namespace,
    )
    return njit(namespace["derivative"])


def _tuple(items: Sequence[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items)})"


class _Text:
    """The lines that make results of the words that were found behind the status."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.lines: list[str] = []
        self.place = 0

    def word(self) -> str:
        self.place += 1
        return f"found[{self.place}]"

    def told(self, kind: Kind) -> str:
        """The text of a result."""
        match kind:
            case NothingKind():
                return "None"
            case TupleKind(items=items):
                return _tuple([self.told(item) for item in items])
            case ArrayKind():
                return self.array(kind)
            case str() if is_complex(kind):
                return f"complex({self.word()}, {self.word()})"
            case str():
                return self.word()
        raise NotNative("in compiled code, a derivative gives numbers, arrays and tuples of them")

    def array(self, kind: ArrayKind) -> str:
        base, data = self.word(), self.word()
        shape, strides = (_tuple([self.word() for _ in range(kind.rank)]) for _ in range(2))
        dtype, name = f"dtype_{kind.element}", f"array{self.place}"
        self.namespace[dtype] = dtype_of(kind.element).type
        if kind.by_rows or not kind.rank:
            found = f"carray(pointer({data}), {shape}, {dtype})"
        else:
            found = f"as_strided(carray(pointer({data}), (1,), {dtype}), {shape}, {strides})"
        self.lines += [f"    {name} = {found}.copy()", f"    if {base} != 0:", f"        give_up({base})"]
        return name


# What Numba calls


@intrinsic
def pointer(typingctx, address):
    """An address as a pointer."""

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(address), codegen


def _called(context, builder, unit: Unit, address: int, words: Any, results: Any) -> Any:
    """The status of a call; the code has its address from this process, and is not kept."""
    pointer = llvm.FunctionType(_STATUS, [cgutils.voidptr_t] * 2).as_pointer()
    callee = builder.bitcast(context.add_dynamic_addr(builder, address, info=unit.name), pointer)
    given = [builder.bitcast(each, cgutils.voidptr_t) for each in (words, results)]
    return builder.call(callee, given)


def _giving_up(unit: Unit, address: int) -> Any:
    @intrinsic
    def give_up(typingctx, block):
        def codegen(context, builder, signature, args):
            words = builder.inttoptr(args[0], cgutils.voidptr_t)
            _called(context, builder, unit, address, words, llvm.Constant(cgutils.voidptr_t, None))
            return context.get_dummy_value()

        return types.none(types.int64), codegen

    return give_up


_FLOATS = {"double": types.float64, "float": types.float32}


def _entering(unit: Unit, address: int) -> Any:
    """A function of a tuple of arguments that gives the status and the words of the results."""
    told = [word for each in unit.results for word in words_of(each)]
    kinds = [_FLOATS.get(word) or (types.boolean if word == "i1" else types.Integer(f"int{word[1:]}")) for word in told]
    result = types.Tuple([types.int32, *kinds])

    @intrinsic
    def enter(typingctx, args):
        def codegen(context, builder, signature, values):
            words = list(_words(context, builder, args, values[0]))
            room = cgutils.alloca_once(builder, _WORD, max(len(words), 1))
            for place, word in enumerate(words):
                slot = builder.gep(room, [_WORD(place)])
                builder.store(word, builder.bitcast(slot, word.type.as_pointer()))
            out = cgutils.alloca_once(builder, _WORD, max(len(told), 1))
            status = _called(context, builder, unit, address, room, out)
            found = []
            for place, kind in enumerate(kinds):
                slot = builder.bitcast(builder.gep(out, [_WORD(place)]), context.get_data_type(kind).as_pointer())
                found.append(context.unpack_value(builder, kind, slot))
            return context.make_tuple(builder, result, [status, *found])

        return result(args), codegen

    return enter


def _words(context, builder, kind, value) -> Iterator[Any]:
    """What an argument is handed over as."""
    match kind:
        case types.NoneType():
            return
        case types.Array():
            found = context.make_array(kind)(context, builder, value)
            yield builder.ptrtoint(found.data, _WORD)
            yield from cgutils.unpack_tuple(builder, found.shape, kind.ndim)
            yield from cgutils.unpack_tuple(builder, found.strides, kind.ndim)
        case types.Complex():
            found = context.make_complex(builder, kind, value=value)
            yield from (found.real, found.imag)
        case types.BaseTuple():
            for place, part in enumerate(_parts_of(kind)):
                yield from _words(context, builder, part, builder.extract_value(value, place))
        case types.Boolean():
            yield builder.zext(value, llvm.IntType(8))
        case _:
            yield value


def _failing(unit: Unit) -> Any:
    """A function that raises what a status stands for."""
    namespace: dict[str, Any] = {"objmode": objmode, "raise_kept": raise_kept}
    lines = ["def fail(status):", f"    if status == {RAISED}:", "        with objmode():", "            raise_kept()"]
    for number, site in enumerate(unit.sites, 1):
        namespace[f"kind{number}"] = site.exception
        lines += [f"    if status == {number}:", f"        raise kind{number}({_said(site.message)})"]
    exec("\n".join([*lines, "    raise RuntimeError('machine code ended in an unknown way')"]), namespace)
    return njit(namespace["fail"])


def _said(message: Any) -> str:
    """The arguments of an exception; what only the call knows is left out."""
    if isinstance(message, Message):
        parts = [part if isinstance(part, tuple) else ("...",) for part in message.parts]
        message = tuple(["".join([piece if isinstance(piece, str) else "..." for piece in part]) for part in parts])
    return ", ".join(map(repr, message)) if isinstance(message, tuple) else repr(message)
