"""Large arrays of machine code lie in huge pages, as those of NumPy do.

The system gives memory page by page, when it is first written: an array of 8 MB takes 2,000 page faults, which cost
more than to fill it. On Linux ``madvise`` asks for pages of 2 MB instead. NumPy does so for arrays from 4 MB on; of
Numba's arrays nobody does. Here what allocates an array is replaced, where machine code calls it, by a function that
calls it and gives the advice.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import sys

_ALLOCATORS = ("NRT_MemInfo_alloc_aligned", "NRT_MemInfo_alloc_safe_aligned")
_LARGE = 15 << 17
"""From how many bytes on; NumPy has the same bound."""
_HUGE = 2 << 20
_ADVICE = 14
"""``MADV_HUGEPAGE`` of Linux."""

_ADVISING = """
declare i8* @{usual}(i64, i32)
declare i32 @madvise(i8*, i64, i32)

define i8* @{advising}(i64 %size, i32 %align) {{
  %large = icmp uge i64 %size, {large}
  %aligned = select i1 %large, i32 {huge}, i32 %align
  %made = call i8* @{usual}(i64 %size, i32 %aligned)
  br i1 %large, label %asked, label %done
asked:
  %there = icmp ne i8* %made, null
  br i1 %there, label %found, label %done
found:
  %parts = bitcast i8* %made to {{i64, i8*, i8*, i8*, i64}}*
  %place = getelementptr {{i64, i8*, i8*, i8*, i64}}, {{i64, i8*, i8*, i8*, i64}}* %parts, i32 0, i32 3
  %data = load i8*, i8** %place
  %short = sub i64 0, %size
  %rest = and i64 %short, {mask}
  %scaled = shl i64 %rest, 3
  %little = icmp ule i64 %scaled, %size
  %more = select i1 %little, i64 %rest, i64 0
  %length = add i64 %size, %more
  %advice = call i32 @madvise(i8* %data, i64 %length, i32 {advice})
  br label %done
done:
  ret i8* %made
}}
"""
"""The array lies at the start of a huge page, behind which the allocator leaves room for another: the last one is taken
whole where at most an eighth as much as the array itself is left over in it. The fourth part of what Numba's allocators
return is where the elements lie (``MemInfo`` in ``nrt.cpp``)."""


def with_huge_pages(module):
    """Has a module of LLVM's, which is optimised, ask for huge pages for the large arrays that it makes."""
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return
    from llvmlite import binding  # type: ignore[import-untyped]  # lazy

    names = [each.name for each in module.functions]
    for usual in [each.name for each in module.functions if each.is_declaration and each.name in _ALLOCATORS]:
        advising = f"adjoint_{usual}"
        while advising in names:  # of a module that was linked into this one
            advising += "_"
        module.get_function(usual).name = advising
        text = _ADVISING.format(
            usual=usual, advising=advising, large=_LARGE, huge=_HUGE, mask=_HUGE - 1, advice=_ADVICE
        )
        made = binding.parse_assembly(text)
        made.triple, made.data_layout = module.triple, module.data_layout
        module.link_in(made)
        module.get_function(advising).linkage = "internal"
