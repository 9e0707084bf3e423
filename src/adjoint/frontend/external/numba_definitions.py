"""What functions of arrays that Numba makes of functions of elements do, in Python: read by the compiler."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from adjoint.frontend.library.arrays.definitions import vectorized_to


def elementwise(function, dtype, *args, out=None):
    if out is not None:
        out[...] = elementwise(function, dtype, *args)
        return out
    if len(np.broadcast_shapes(*[np.shape(arg) for arg in args])) == 0:
        return function(*args)
    return vectorized_to(dtype, function, *args)


def by_cores(function, dtype, inputs, outputs, as_arrays, *given):
    """Calls a function of arrays, the last of which it fills, along all axes but those that a signature names.

    ``inputs`` and ``outputs`` are the names of the axes of each array, ``as_arrays`` tells which numbers the function
    takes as arrays of one element.
    """
    args, results = given[: len(inputs)], given[len(inputs) :]
    sizes = {}
    for names, arg in zip(inputs, args):  # noqa: B905
        shape = np.shape(arg)
        for name, extent in zip(names, shape[len(shape) - len(names) :]):  # noqa: B905
            sizes[name] = extent  # noqa: PERF403
    around = np.broadcast_shapes(*[_around(arg, names) for arg, names in zip(args, inputs)])  # noqa: B905
    if len(around) == 0:
        made = [np.zeros(_core(names, sizes), dtype) for names in outputs]
        function(*_asked_for(args, as_arrays), *made)
        filled = [part if len(names) > 0 else part[0] for part, names in zip(made, outputs)]  # noqa: B905
    else:
        count = int(np.prod(np.array(around)))
        rows = []
        for arg, names in zip(args, inputs):  # noqa: B905
            core = tuple([sizes[name] for name in names])
            rows.append(np.reshape(np.broadcast_to(arg, (*around, *core)), (count, *core)))
        made = [np.zeros((count, *_core(names, sizes)), dtype) for names in outputs]
        for i in range(count):
            function(*_asked_for([row[i] for row in rows], as_arrays), *[part[i] for part in made])
        filled = []
        for part, names in zip(made, outputs):  # noqa: B905
            filled.append(np.reshape(part, (*around, *[sizes[name] for name in names])))
    for result, part in zip(results, filled):  # noqa: B905
        result[...] = part
    returned = results if len(results) > 0 else tuple(filled)
    return returned[0] if len(outputs) == 1 else returned


def _asked_for(args, as_arrays):
    return [np.reshape(arg, (1,)) if single else arg for arg, single in zip(args, as_arrays)]  # noqa: B905


def _around(arg, names):
    shape = np.shape(arg)
    return shape[: len(shape) - len(names)]


def _core(names, sizes):
    """The shape of an output, which is an array also where it is one number."""
    return tuple([sizes[name] for name in names]) if len(names) > 0 else (1,)


def empty_list(cls, item_type, allocated=0):
    return []


def empty_dict(cls, key_type, value_type, n_keys=0):
    return {}
