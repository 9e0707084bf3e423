"""Checkpoints of loops, for Numba: the schedule, and how many states may be kept."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc, call-arg"

from __future__ import annotations

from numba import njit
from numba.core import types

from adjoint.native.runtime.declaring import overload
from adjoint.runtime import copies, snapshots

_next_in_machine_code = njit(snapshots.next_snapshot)


@overload(snapshots.next_snapshot)
def _next_snapshot(at, stop, free):
    return lambda at, stop, free: _next_in_machine_code(at, stop, free)


@overload(snapshots.thin_out)
def _thin_out(kept):
    if not isinstance(kept, types.List):
        return None

    def thin_out(kept):
        left = (len(kept) + 1) // 2
        for place in range(left):
            kept[place] = kept[2 * place]
        while len(kept) > left:
            kept.pop()

    return thin_out


@overload(copies.copy_as_it_lies)
def _copy_as_it_lies(array):
    if not isinstance(array, types.Array) or array.layout != "C":
        return None  # another layout would add up products in another order
    return lambda array: array.copy()


@overload(snapshots.snapshots_within)
def _snapshots_within(count, memory, steps, state):
    if isinstance(memory, types.NoneType):

        def given(count, memory, steps, state):
            if count < 1:
                raise ValueError("a checkpointed loop needs one snapshot at least")
            return count

        return given
    if not isinstance(memory, types.Integer) or not isinstance(state, (types.Tuple, types.UniTuple)):
        return None
    arrays = [place for place, part in enumerate(state) if isinstance(part, types.Array)]
    if any(not isinstance(part, (types.Array, types.Number, types.Boolean)) for part in state):
        return None
    sizes = " + ".join([f"state[{place}].nbytes" for place in arrays] + [str(8 * (len(state) - len(arrays)))])
    text = (
        "def within(count, memory, steps, state):\n"
        f"    size = max({sizes}, 1)\n"
        "    if memory < size:\n"
        "        raise ValueError('one snapshot takes more than memory=')\n"
        "    return memory // size\n"
    )
    namespace: dict[str, object] = {"__name__": __name__}
    exec(text, namespace)
    return namespace["within"]
