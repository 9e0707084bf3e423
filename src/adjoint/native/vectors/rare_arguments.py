"""Rare arguments of vector code: those are handed to the C library one by one, and loops stay vector code.

Our function asks a second one for the right result, and names forms of it for several numbers at once in the way in
which LLVM looks for them. These look once whether any of their numbers is rare.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.core import cgutils

if TYPE_CHECKING:
    from adjoint.native.vectors.instructions import InstructionCode

_DOUBLE = llvm.DoubleType()
_WIDTHS = (2, 4, 8)
_PROMISES = ("noinline", "nounwind", "willreturn", "memory(none)")


def where_large(code: InstructionCode, name: str, bound: float, x, found):
    """``found``; where ``x`` is larger than ``bound`` what the C library's function of that name gives."""
    module = code.builder.module
    if code.size > 1:
        return _where_any_is_large(code, name, bound, x, found)
    single = module.globals.get(_name(name)) or _declare(module, name, bound)
    call = code.builder.call(single, [x, found])
    forms = ",".join(f"_ZGV_LLVM_N{width}vv_{_name(name)}({_name(name, width)})" for width in _WIDTHS)
    _promise(call, f'"vector-function-abi-variant"="{forms}"')
    return call


def _where_any_is_large(code: InstructionCode, name: str, bound: float, x, found):
    """The same for several numbers, none of which is large as a rule."""
    builder, width = code.builder, code.size
    known = builder.module.globals
    single = known.get(_name(name)) or _declare(builder.module, name, bound)
    several = known.get(_name(name, width)) or _several(builder.module, name, bound, width, single)
    result = cgutils.alloca_once_value(builder, found)
    with builder.if_then(_are_some_large(builder, x, bound), likely=False):
        builder.store(builder.call(several, [x, found]), result)
    return builder.load(result)


def _name(name: str, width: int = 1) -> str:
    return f"adjoint_rare_{name}" + (f"_{width}" if width > 1 else "")


def _promise(part, *promises: str) -> None:
    """Gives a function or a call attributes of LLVM, also such as llvmlite does not know."""
    for promise in promises:
        set.add(part.attributes, promise)


def _declare(module, name: str, bound: float):
    single = _single(module, name, bound)
    for width in _WIDTHS:
        _several(module, name, bound, width, single)
    return single


def _function(module, name: str, kind):
    function = llvm.Function(module, llvm.FunctionType(kind, [kind, kind]), name)
    function.linkage = "weak_odr"  # kept until LLVM looks for it
    _promise(function, *_PROMISES)
    return function, llvm.IRBuilder(function.append_basic_block())


def _is_large(builder, x, bound):
    above = builder.fcmp_ordered(">", x, llvm.Constant(x.type, bound))
    opposite = [-part for part in bound] if isinstance(bound, list) else -bound
    return builder.or_(above, builder.fcmp_ordered("<", x, llvm.Constant(x.type, opposite)))


def _single(module, name: str, bound: float):
    function, builder = _function(module, _name(name), _DOUBLE)
    x, found = function.args
    with builder.if_then(_is_large(builder, x, bound), likely=False):
        builder.ret(builder.call(module.declare_intrinsic(f"llvm.{name}", [_DOUBLE]), [x]))
    builder.ret(found)
    return function


def _are_some_large(builder, x, bound: float):
    bits = llvm.IntType(x.type.count)
    large = builder.bitcast(_is_large(builder, x, [bound] * x.type.count), bits)
    return builder.icmp_unsigned("!=", large, llvm.Constant(bits, 0))


def _several(module, name: str, bound: float, width: int, single):
    function, builder = _function(module, _name(name, width), llvm.VectorType(_DOUBLE, width))
    x, found = function.args
    with builder.if_then(_are_some_large(builder, x, bound), likely=False):
        mended = found
        for number in range(width):
            place = llvm.Constant(llvm.IntType(32), number)
            one = builder.call(single, [builder.extract_element(x, place), builder.extract_element(found, place)])
            mended = builder.insert_element(mended, one, place)
        builder.ret(mended)
    builder.ret(found)
    return function
