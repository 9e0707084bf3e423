"""Freed memory of machine code that is kept for its next call: a free list for each size class.

A large block that goes back to the system comes back as pages that the kernel clears one by one, which may take longer
than the derivative that fills them. All units of a process share the lists. They hold no more than a share of the
machine's memory; what would not fit any more sends everything back, so that sizes nobody asks for do not stay.

Size classes are four to an octave, as jemalloc's are. What a class is larger than its block is address space only:
nobody touches it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

from adjoint.runtime.freed_memory import most_kept

_LOCK, _KEPT, _MOST = range(3)  # words of the state, in front of the lists
_WORDS = 3 + 4 * 64  # four lists for each octave of 64 bits
LEAST = 128 << 10
"""From how many bytes on a block is kept: the C library keeps what is smaller."""

DECLARED = f"@adjoint_pool = external global [{_WORDS} x i64]"

FUNCTIONS = f"""
define internal i64 @size_class(i64 %size) alwaysinline {{
  %zeros = call i64 @llvm.ctlz.i64(i64 %size, i1 true)
  %octave = sub i64 63, %zeros
  %shift = sub i64 %octave, 2
  %step = shl i64 1, %shift
  %more = add i64 %size, %step
  %last = sub i64 %more, 1
  %mask = sub i64 0, %step
  %rounded = and i64 %last, %mask
  ret i64 %rounded
}}
declare i64 @llvm.ctlz.i64(i64, i1)

define internal ptr @list_of_class(i64 %size) alwaysinline {{
  %zeros = call i64 @llvm.ctlz.i64(i64 %size, i1 true)
  %octave = sub i64 63, %zeros
  %shift = sub i64 %octave, 2
  %leading = lshr i64 %size, %shift
  %quarter = and i64 %leading, 3
  %first = shl i64 %octave, 2
  %index = add i64 %first, %quarter
  %place = getelementptr i64, ptr getelementptr (i64, ptr @adjoint_pool, i64 3), i64 %index
  ret ptr %place
}}

define internal ptr @take_kept(i64 %size) noinline {{
  %pair = cmpxchg ptr @adjoint_pool, i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %locked, label %none
locked:
  %list = call ptr @list_of_class(i64 %size)
  %block = load ptr, ptr %list
  %empty = icmp eq ptr %block, null
  br i1 %empty, label %unlock, label %pop
pop:
  %link = getelementptr i8, ptr %block, i64 -40
  %rest = load ptr, ptr %link
  store ptr %rest, ptr %list
  %kept = load i64, ptr getelementptr (i64, ptr @adjoint_pool, i64 1)
  %less = sub i64 %kept, %size
  store i64 %less, ptr getelementptr (i64, ptr @adjoint_pool, i64 1)
  br label %unlock
unlock:
  store atomic i64 0, ptr @adjoint_pool release, align 8
  ret ptr %block
none:
  ret ptr null
}}

define internal void @keep_freed(ptr %block, i64 %size) noinline {{
  %pair = cmpxchg ptr @adjoint_pool, i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %locked, label %give_back
locked:
  %most = load i64, ptr getelementptr (i64, ptr @adjoint_pool, i64 2)
  %before = load i64, ptr getelementptr (i64, ptr @adjoint_pool, i64 1)
  %after = add i64 %before, %size
  %fits = icmp ule i64 %after, %most
  br i1 %fits, label %push, label %clear
clear:
  call void @give_back_kept()
  %never = icmp ugt i64 %size, %most
  br i1 %never, label %unlock_first, label %push
push:
  %kept = load i64, ptr getelementptr (i64, ptr @adjoint_pool, i64 1)
  %more = add i64 %kept, %size
  store i64 %more, ptr getelementptr (i64, ptr @adjoint_pool, i64 1)
  %list = call ptr @list_of_class(i64 %size)
  %first = load ptr, ptr %list
  %link = getelementptr i8, ptr %block, i64 -40
  store ptr %first, ptr %link
  store ptr %block, ptr %list
  store atomic i64 0, ptr @adjoint_pool release, align 8
  ret void
unlock_first:
  store atomic i64 0, ptr @adjoint_pool release, align 8
  br label %give_back
give_back:
  call void @free_block(ptr %block)
  ret void
}}

define internal void @give_back_kept() noinline cold {{
  br label %lists
lists:
  %at = phi i64 [ 3, %0 ], [ %next_at, %end ]
  %list = getelementptr i64, ptr @adjoint_pool, i64 %at
  br label %blocks
blocks:
  %block = load ptr, ptr %list
  %empty = icmp eq ptr %block, null
  br i1 %empty, label %end, label %some
some:
  %link = getelementptr i8, ptr %block, i64 -40
  %rest = load ptr, ptr %link
  store ptr %rest, ptr %list
  call void @free_block(ptr %block)
  br label %blocks
end:
  %next_at = add i64 %at, 1
  %more = icmp ult i64 %next_at, {_WORDS}
  br i1 %more, label %lists, label %done
done:
  store i64 0, ptr getelementptr (i64, ptr @adjoint_pool, i64 1)
  ret void
}}
"""
"""Blocks of a size class, from a list and to it. Who does not get the lock at once does without the lists."""


_state = (ctypes.c_int64 * _WORDS)(0, 0, most_kept())


def address() -> int:
    """Where the state lies that all units share."""
    return ctypes.addressof(_state)


def kept() -> int:
    """How many bytes are kept now."""
    return _state[_KEPT]


@contextlib.contextmanager
def at_most(size: int) -> Iterator[None]:
    """Keeps no more bytes than that; what is kept already goes back with the first block that is freed."""
    before, _state[_MOST] = _state[_MOST], size
    try:
        yield
    finally:
        _state[_MOST] = before
