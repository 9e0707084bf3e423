"""Arrays of machine code as objects of Python that share their memory."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.native.llvm.objects import ALIGNED, WRITEABLE, external
from adjoint.native.llvm.values import ArrayKind
from adjoint.native.llvm.writer import Writer


def array_object(
    writer: Writer,
    kind: ArrayKind,
    memory: tuple[str, str],
    shape: Sequence[str],
    strides: Sequence[str] | None,
    room: str,
) -> str:
    """A new reference to an array; one of Python's that is as it was is that object.

    Parameters
    ----------
    writer
        The text.
    kind
        Its kind.
    memory
        Its block, of which the object takes over a reference, and the address of its first element.
    shape
        Its extents.
    strides
        Its strides; None for those of an array that lies by rows.
    room
        Room on the stack for the extents and the strides.
    """
    base, data = memory
    if strides is None:
        strides = writer.strides_by_rows(kind.element, shape)
    writer.put_parts(room, [("i64", word) for word in (*shape, *strides)])
    module = writer.module
    dtype = external(module, f"adjoint_dtype_{kind.element}")
    external(module, "adjoint_ndarray")
    module.functions.setdefault("boxed_array", _BOXED_ARRAY)
    module.declare("adjoint_new_array", "ptr", ["ptr", "ptr", "i32", "ptr", "ptr", "ptr", "i32", "ptr"])
    module.declare("adjoint_set_base", "i32", ["ptr", "ptr"])
    module.declare("PyCapsule_New", "ptr", ["ptr", "ptr", "ptr"])
    module.declare("PyCapsule_GetPointer", "ptr", ["ptr", "ptr"])
    module.declare("Py_IncRef", "void", ["ptr"])
    args = [
        ("ptr", base), ("ptr", data), ("i32", str(kind.rank)), ("ptr", room),
        ("ptr", writer.place(room, str(8 * kind.rank))), ("ptr", dtype),
        ("i32", str(ALIGNED | (0 if kind.read_only else WRITEABLE))),
    ]  # fmt: skip
    return writer.op(f"call ptr @boxed_array({', '.join(f'{part} {name}' for part, name in args)})")


_BOXED_ARRAY = """define internal void @drop_block(ptr %capsule) {
  %block = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  call void @release(ptr %block)
  ret void
}

define internal ptr @boxed_array(
    ptr %base, ptr %data, i32 %rank, ptr %shape, ptr %strides, ptr %dtype, i32 %flags
) noinline {
  %object_place = getelementptr i8, ptr %base, i64 -24
  %object = load ptr, ptr %object_place
  %is_new = icmp eq ptr %object, null
  br i1 %is_new, label %new, label %of_python
of_python:
  %its_data_place = getelementptr i8, ptr %object, i64 16
  %its_data = load ptr, ptr %its_data_place
  %same_data = icmp eq ptr %its_data, %data
  %its_rank_place = getelementptr i8, ptr %object, i64 24
  %its_rank = load i32, ptr %its_rank_place
  %same_rank = icmp eq i32 %its_rank, %rank
  %its_dtype_place = getelementptr i8, ptr %object, i64 56
  %its_dtype = load ptr, ptr %its_dtype_place
  %same_dtype = icmp eq ptr %its_dtype, %dtype
  %same_kind = and i1 %same_rank, %same_dtype
  %same = and i1 %same_data, %same_kind
  %its_shape_place = getelementptr i8, ptr %object, i64 32
  %its_shape = load ptr, ptr %its_shape_place
  %its_strides_place = getelementptr i8, ptr %object, i64 40
  %its_strides = load ptr, ptr %its_strides_place
  br i1 %same, label %compare, label %view
compare:
  %k = phi i32 [ 0, %of_python ], [ %next, %equal ]
  %some = icmp slt i32 %k, %rank
  br i1 %some, label %one, label %itself
one:
  %e1 = getelementptr i64, ptr %its_shape, i32 %k
  %e2 = getelementptr i64, ptr %shape, i32 %k
  %v1 = load i64, ptr %e1
  %v2 = load i64, ptr %e2
  %s1 = getelementptr i64, ptr %its_strides, i32 %k
  %s2 = getelementptr i64, ptr %strides, i32 %k
  %w1 = load i64, ptr %s1
  %w2 = load i64, ptr %s2
  %extents_agree = icmp eq i64 %v1, %v2
  %strides_agree = icmp eq i64 %w1, %w2
  %agree = and i1 %extents_agree, %strides_agree
  br i1 %agree, label %equal, label %view
equal:
  %next = add i32 %k, 1
  br label %compare
itself:
  call void @Py_IncRef(ptr %object)
  call void @release(ptr %base)
  ret ptr %object
view:
  call void @Py_IncRef(ptr %object)
  call void @release(ptr %base)
  br label %make
new:
  call void @leave_call(ptr %base)
  %capsule = call ptr @PyCapsule_New(ptr %base, ptr null, ptr @drop_block)
  br label %make
make:
  %owner = phi ptr [ %object, %view ], [ %capsule, %new ]
  call void @Py_IncRef(ptr %dtype)
  %made = call ptr @adjoint_new_array(
    ptr @adjoint_ndarray, ptr %dtype, i32 %rank, ptr %shape, ptr %strides, ptr %data, i32 %flags, ptr null
  )
  %set = call i32 @adjoint_set_base(ptr %made, ptr %owner)
  ret ptr %made
}"""
