"""Memory of machine code: blocks that are counted, linked to their call, and freed when nobody refers to them.

A block's header lies in front of its elements. All blocks of a call hang in a ring whose anchor is the call's own
header, so that an exception frees them all; what is handed to Python leaves the ring. Large blocks that are freed are
kept for the next call (``pool``). Arguments have headers on the stack, whose count never comes to nothing.

Where ``ADJOINT_CHECK`` asks for it, as the tests do, blocks are filled with NaN when they are made and when they are
freed: who reads what was never written, or memory that has ended, is noticed.
"""

from __future__ import annotations

import sys

from adjoint.ir.checked import CHECKING
from adjoint.native.llvm.memory import pool

HEADER = 64
"""Bytes in front of a block: count, destructor, previous and next block, what to free, the Python object, its class."""
COUNT, DESTRUCTOR, PREVIOUS, NEXT, FREED, OBJECT, SIZE_CLASS = -64, -56, -48, -40, -32, -24, -16
OPERANDS = 16
"""How many words a call has room for, behind its header: what an exception tells besides its text."""
BORROWED = 1 << 40
"""The count of an argument's header."""
_LARGE = 15 << 17
"""From how many bytes on memory lies in huge pages, as NumPy's does."""
_HUGE = 2 << 20

_RUNTIME = """
declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare ptr @realloc(ptr, i64)
{madvise_declared}
{fill_declared}

define internal noalias ptr @new_block(ptr %call, i64 %bytes) noinline {{
  %large = icmp uge i64 %bytes, {large}
  %align = select i1 %large, i64 {huge}, i64 64
  %slack = add i64 %align, 64
  %size = add i64 %bytes, %slack
  %above = sub i64 %size, {least}
  %pooled = icmp ult i64 %above, 4611686018427387904
  br i1 %pooled, label %look, label %fresh, !prof !0
look:
  %class = call i64 @size_class(i64 %size)
  %found = call ptr @take_kept(i64 %class)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %fresh, label %made
fresh:
  %size_class = phi i64 [ 0, %0 ], [ %class, %look ]
  %room = phi i64 [ %size, %0 ], [ %class, %look ]
  %raw = call ptr @malloc(i64 %room)
  %none = icmp eq ptr %raw, null
  br i1 %none, label %failed, label %new, !prof !0
new:
  %start = ptrtoint ptr %raw to i64
  %last = add i64 %start, %slack
  %mask = sub i64 0, %align
  %place = and i64 %last, %mask
  %distance = sub i64 %place, %start
  %new_block = getelementptr i8, ptr %raw, i64 %distance
  %freed = getelementptr i8, ptr %new_block, i64 -32
  store ptr %raw, ptr %freed
  %class_place = getelementptr i8, ptr %new_block, i64 -16
  store i64 %size_class, ptr %class_place
  br i1 %large, label %advise, label %made, !prof !0
advise:
  {madvise}
  br label %made
made:
  %block = phi ptr [ %found, %look ], [ %new_block, %new ], [ %new_block, %advise ]
  %count = getelementptr i8, ptr %block, i64 -64
  store i64 1, ptr %count
  %destructor = getelementptr i8, ptr %block, i64 -56
  store ptr null, ptr %destructor
  %next = getelementptr i8, ptr %call, i64 -40
  %first = load ptr, ptr %next
  %my_previous = getelementptr i8, ptr %block, i64 -48
  store ptr %call, ptr %my_previous
  %my_next = getelementptr i8, ptr %block, i64 -40
  store ptr %first, ptr %my_next
  %its_previous = getelementptr i8, ptr %first, i64 -48
  store ptr %block, ptr %its_previous
  store ptr %block, ptr %next
  %object = getelementptr i8, ptr %block, i64 -24
  store ptr null, ptr %object
  {fill_new}
  ret ptr %block
failed:
  ret ptr null
}}

define internal void @retain(ptr %block) alwaysinline {{
  %count = getelementptr i8, ptr %block, i64 -64
  %old = load i64, ptr %count
  %new = add i64 %old, 1
  store i64 %new, ptr %count
  ret void
}}

define internal void @unlink(ptr %block) alwaysinline {{
  %my_previous = getelementptr i8, ptr %block, i64 -48
  %previous = load ptr, ptr %my_previous
  %my_next = getelementptr i8, ptr %block, i64 -40
  %next = load ptr, ptr %my_next
  %its_next = getelementptr i8, ptr %previous, i64 -40
  store ptr %next, ptr %its_next
  %its_previous = getelementptr i8, ptr %next, i64 -48
  store ptr %previous, ptr %its_previous
  ret void
}}

define internal void @leave_call(ptr %block) {{
  call void @unlink(ptr %block)
  %my_previous = getelementptr i8, ptr %block, i64 -48
  store ptr %block, ptr %my_previous
  %my_next = getelementptr i8, ptr %block, i64 -40
  store ptr %block, ptr %my_next
  ret void
}}

define internal void @free_block(ptr %block) alwaysinline {{
  %freed = getelementptr i8, ptr %block, i64 -32
  %raw = load ptr, ptr %freed
  {fill_freed}
  call void @free(ptr %raw)
  ret void
}}

define internal void @drop(ptr %block) alwaysinline {{
  call void @unlink(ptr %block)
  %class_place = getelementptr i8, ptr %block, i64 -16
  %class = load i64, ptr %class_place
  %pooled = icmp ne i64 %class, 0
  br i1 %pooled, label %keep, label %give_back, !prof !0
keep:
  call void @keep_freed(ptr %block, i64 %class)
  ret void
give_back:
  call void @free_block(ptr %block)
  ret void
}}

define internal void @release(ptr %block) noinline {{
  %count = getelementptr i8, ptr %block, i64 -64
  %old = load i64, ptr %count
  %new = sub i64 %old, 1
  store i64 %new, ptr %count
  %last = icmp eq i64 %new, 0
  br i1 %last, label %end, label %done
end:
  %destructor = getelementptr i8, ptr %block, i64 -56
  %destroy = load ptr, ptr %destructor
  %plain = icmp eq ptr %destroy, null
  br i1 %plain, label %drop, label %inside
inside:
  call void %destroy(ptr %block)
  br label %drop
drop:
  call void @drop(ptr %block)
  br label %done
done:
  ret void
}}

define internal void @free_all(ptr %call) noinline cold {{
  %anchor = getelementptr i8, ptr %call, i64 -40
  br label %more
more:
  %block = load ptr, ptr %anchor
  %empty = icmp eq ptr %block, %call
  br i1 %empty, label %done, label %some
some:
  %destructor = getelementptr i8, ptr %block, i64 -56
  %destroy = load ptr, ptr %destructor
  %plain = icmp eq ptr %destroy, null
  br i1 %plain, label %drop, label %inside
inside:
  %for_object = icmp eq ptr %destroy, @drop_object
  br i1 %for_object, label %object, label %list
object:
  call void @drop_object(ptr %block)
  br label %drop
list:
  %items_place = getelementptr i8, ptr %block, i64 16
  %items = load ptr, ptr %items_place
  call void @free(ptr %items)
  br label %drop
drop:
  call void @drop(ptr %block)
  br label %more
done:
  ret void
}}

define internal void @drop_object(ptr %block) noinline {{
  %place = getelementptr i8, ptr %block, i64 -24
  %object = load ptr, ptr %place
  %lock = call i32 @PyGILState_Ensure()
  call void @Py_DecRef(ptr %object)
  call void @PyGILState_Release(i32 %lock)
  ret void
}}

define internal ptr @new_object(ptr %call, ptr %object) noinline {{
  %block = call ptr @new_block(ptr %call, i64 0)
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %made
made:
  %destructor = getelementptr i8, ptr %block, i64 -56
  store ptr @drop_object, ptr %destructor
  %place = getelementptr i8, ptr %block, i64 -24
  store ptr %object, ptr %place
  br label %done
done:
  ret ptr %block
}}

define internal void @begin_call(ptr %call) alwaysinline {{
  %previous = getelementptr i8, ptr %call, i64 -48
  store ptr %call, ptr %previous
  %next = getelementptr i8, ptr %call, i64 -40
  store ptr %call, ptr %next
  ret void
}}

define internal ptr @new_list(ptr %call) {{
  %block = call ptr @new_struct(ptr %call, i64 24)
  ret ptr %block
}}

define internal ptr @new_struct(ptr %call, i64 %bytes) noinline {{
  %block = call ptr @new_block(ptr %call, i64 %bytes)
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %made
made:
  call void @llvm.memset.p0.i64(ptr %block, i8 0, i64 24, i1 false)
  br label %done
done:
  ret ptr %block
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal ptr @list_end(ptr %list, i64 %size) noinline {{
  %length = load i64, ptr %list
  %room_place = getelementptr i8, ptr %list, i64 8
  %room = load i64, ptr %room_place
  %items_place = getelementptr i8, ptr %list, i64 16
  %items = load ptr, ptr %items_place
  %full = icmp eq i64 %length, %room
  br i1 %full, label %grow, label %fits
grow:
  %twice = shl i64 %room, 1
  %larger = add i64 %twice, 4
  %bytes = mul i64 %larger, %size
  %moved = call ptr @realloc(ptr %items, i64 %bytes)
  %none = icmp eq ptr %moved, null
  br i1 %none, label %failed, label %grown
grown:
  store ptr %moved, ptr %items_place
  store i64 %larger, ptr %room_place
  br label %fits
fits:
  %now = phi ptr [ %items, %0 ], [ %moved, %grown ]
  %longer = add i64 %length, 1
  store i64 %longer, ptr %list
  %offset = mul i64 %length, %size
  %end = getelementptr i8, ptr %now, i64 %offset
  ret ptr %end
failed:
  ret ptr null
}}
!0 = !{{!"branch_weights", i32 1, i32 2000}}
"""

_ADVICE = """%short = sub i64 0, %bytes
  %rest = and i64 %short, {mask}
  %scaled = shl i64 %rest, 3
  %little = icmp ule i64 %scaled, %bytes
  %more = select i1 %little, i64 %rest, i64 0
  %length = add i64 %bytes, %more
  %advice = call i32 @madvise(ptr %new_block, i64 %length, i32 14)"""


_FILL_NEW = "call void @llvm.memset.p0.i64(ptr %block, i8 -1, i64 %bytes, i1 false)"
_FILL_FREED = """%usable = call i64 @malloc_usable_size(ptr %raw)
  call void @llvm.memset.p0.i64(ptr %raw, i8 -1, i64 %usable, i1 false)"""
"""Memory that is made, and memory that is given back, is filled with what is no number, and no address."""


OF_PYTHON = (
    ("PyGILState_Ensure", "i32", ()),
    ("PyGILState_Release", "void", ("i32",)),
    ("Py_DecRef", "void", ("ptr",)),
)
"""What memory needs of Python: names, results and parameters."""


def runtime() -> str:
    """The functions that a module's memory needs, as LLVM IR."""
    advises = sys.platform == "linux"
    fills = CHECKING and advises
    functions = _RUNTIME.format(
        least=pool.LEAST,
        large=_LARGE,
        huge=_HUGE if advises else 64,
        madvise_declared="declare i32 @madvise(ptr, i64, i32)" if advises else "",
        fill_declared="declare i64 @malloc_usable_size(ptr)" if fills else "",
        fill_new=_FILL_NEW if fills else "",
        fill_freed=_FILL_FREED if fills else "",
        madvise=_ADVICE.format(mask=_HUGE - 1) if advises else "",
    )
    return f"{pool.DECLARED}\n{functions}{pool.FUNCTIONS}"
