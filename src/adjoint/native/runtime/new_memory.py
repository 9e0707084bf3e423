"""New arrays, of which LLVM is told that they lie apart from all other memory.

Otherwise each loop asks for each pair of arrays whether they overlap, whenever it starts, and is there twice: where
there are few iterations, that takes longer than these.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc"

from __future__ import annotations

from llvmlite import ir as llvm  # type: ignore[import-untyped]
from numba.np import arrayobj

_POINTER = llvm.IntType(8).as_pointer()


def new_array(context, builder, kind, extents):
    """An array of a type that has these extents and no elements yet."""
    array = arrayobj._empty_nd_impl(context, builder, kind, extents)
    data = builder.call(_told_apart(builder.module), [builder.bitcast(array.data, _POINTER)])
    _take_note(builder, data, builder.bitcast(array.meminfo, _POINTER))
    array.data = builder.bitcast(data, array.data.type)
    return array


def _told_apart(module):
    """A function that gives the address it is given, as that of memory which nobody has another address of."""
    name = "adjoint_new_memory"
    known = module.globals.get(name)
    if known is not None:
        return known
    function = llvm.Function(module, llvm.FunctionType(_POINTER, [_POINTER]), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    function.return_value.add_attribute("noalias")
    inside = llvm.IRBuilder(function.append_basic_block())
    inside.ret(inside.asm(function.function_type, "", "=r,0", [function.args[0]], side_effect=False))
    return function


def _take_note(builder, *addresses):
    """Somebody may know these addresses now, as far as LLVM can tell: he who frees the memory has it from elsewhere."""
    kind = llvm.FunctionType(llvm.VoidType(), [_POINTER] * len(addresses))
    builder.asm(kind, "", "r,r,~{memory}", addresses, side_effect=True)
