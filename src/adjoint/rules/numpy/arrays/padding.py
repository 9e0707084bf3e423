"""Rules of ``np.pad``: borders of numbers, copies, reflections, ramps and statistics."""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any

import numpy as np

from adjoint.rules.declare import case, definition, general, number, sample
from adjoint.rules.registry import UNKNOWN
from adjoint.runtime.array_functions.arrays import unpad, unpad_places


def _pad_jvp(dots, y, array, pad_width, mode="constant", *, constant_values=0):
    if mode == "constant":
        return np.pad(dots[0], pad_width)
    if mode not in COPYING:
        raise NotImplementedError("np.pad in this mode")
    return np.pad(dots[0], pad_width, mode=mode)


def _pad_vjp(ct, y, array, pad_width, mode="constant", *, constant_values=0):
    if mode == "constant":
        return (unpad(ct, array, pad_width),)
    if mode not in COPYING:
        raise NotImplementedError("np.pad in this mode")
    return (unpad_places(ct, array, pad_width, mode),)


def _padded(array, pad_width, mode="constant", *, constant_values=0):
    """With numbers that may vary; those along a later axis are written last, as NumPy does."""
    widths = np.broadcast_to(pad_width, (np.ndim(array), 2))
    numbers = np.broadcast_to(constant_values, (np.ndim(array), 2))
    result = np.pad(array, pad_width)
    for axis in range(np.ndim(array)):
        along = np.moveaxis(result, axis, 0)
        along[: widths[axis, 0]] = numbers[axis, 0]
        along[len(along) - widths[axis, 1] :] = numbers[axis, 1]
    return result


definition(
    np.pad,
    _padded,
    when=lambda given: given.get("mode", "constant") == "constant" and given.get("constant_values", 0) is UNKNOWN,
    arrays=("array", "constant_values"),
    cases=[
        case(sample(3), 2, constant_values=number()),
        case(sample(2, 3), ((1, 0), (2, 3)), constant_values=sample(2, 2)),
        case(sample(3), (1, 2), "constant", constant_values=sample(2)),
    ],
)
STATISTICS: dict[str, Any] = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


def _padded_by(border):
    """One axis after the other: ``border(lines, width, *settings)`` of what lies at the end of an axis, put first."""

    def padded(array, pad_width, *settings):
        widths = np.broadcast_to(pad_width, (np.ndim(array), 2))
        result = array + 0.0
        for axis in range(np.ndim(array)):
            along = np.moveaxis(result, axis, 0)
            before, after = widths[axis]
            of_axis = [np.broadcast_to(setting, (np.ndim(array), 2))[axis] for setting in settings]
            first = border(along, before, *[setting[0] for setting in of_axis])
            last = border(along[::-1], after, *[setting[1] for setting in of_axis])[::-1]
            result = np.moveaxis(np.concatenate([first, along, last]), 0, axis)
        return result

    return padded


def _asks_for(mode, **options):
    """Whether a call asks for a mode, and has these options."""
    asked = {"mode": mode, **options}
    return lambda given: all(given.get(name) == value for name, value in asked.items())


def _by_statistic(mode):
    def border(lines, width, length=0):
        counted = lines if length == 0 else lines[:length]
        return np.repeat(STATISTICS[mode](counted, axis=0, keepdims=True), width, axis=0)

    pad = _padded_by(border)

    def means(array, pad_width, mode, *, stat_length=None):
        found = pad(array, pad_width) if stat_length is None else pad(array, pad_width, stat_length)
        return _laid_out(found, array, pad_width)

    return means


def _ramp(lines, width, end):
    steps = np.reshape(np.arange(width) / max(width, 1), (width,) + (1,) * (np.ndim(lines) - 1))
    return end + (lines[:1] - end) * steps


def _turned_over(mode):
    """What is reflected at each end, also upwards and downwards."""

    def means(array, pad_width, mode=mode, *, reflect_type="odd"):
        widths = np.broadcast_to(pad_width, (np.ndim(array), 2))
        result = array + 0.0
        for axis in range(np.ndim(array)):
            lines = np.moveaxis(result, axis, 0)
            n = len(lines)
            turn = max(n - 1, 1) if mode == "reflect" else n
            turns, place = np.divmod(np.arange(-widths[axis, 0], n + widths[axis, 1]), 2 * turn)
            back = np.clip(2 * turn - place - (0 if mode == "reflect" else 1), 0, n - 1)
            column = (-1,) + (1,) * (np.ndim(array) - 1)
            is_back = np.reshape(place >= n, column)
            found = np.take(lines, np.where(place >= n, back, place), axis=0)
            whole = np.where(is_back, 2.0 * lines[-1:] - found, found)
            result = np.moveaxis(whole + np.reshape(2 * turns, column) * (lines[-1:] - lines[:1]), 0, axis)
        return _laid_out(result, array, pad_width)

    return means


def _laid_out(found, array, pad_width):
    """What was found, where NumPy leaves it and in its dtype: by columns where the array lies so, else by rows."""
    result = np.pad(array, pad_width)
    result[...] = found
    return result


for _mode in STATISTICS:
    definition(
        np.pad,
        _by_statistic(_mode),
        when=_asks_for(_mode),
        arrays=("array",),
        cases=[
            case(sample(4, 3), ((1, 0), (2, 3)), _mode),
            case(sample(5), 2, _mode, stat_length=2),
            case(sample(2, 5), 2, mode=_mode, stat_length=((1, 2), (3, 2))),
        ],
    )
definition(
    np.pad,
    lambda array, pad_width, mode, *, end_values=0: _laid_out(
        _padded_by(_ramp)(array, pad_width, end_values), array, pad_width
    ),
    when=_asks_for("linear_ramp"),
    arrays=("array", "end_values"),
    cases=[
        case(sample(4, 3), ((1, 0), (2, 3)), "linear_ramp"),
        case(sample(4), 2, mode="linear_ramp", end_values=number()),
        case(sample(2, 3), (1, 2), "linear_ramp", end_values=sample(2, 2)),
    ],
)
for _mode in ("reflect", "symmetric"):
    definition(
        np.pad,
        _turned_over(_mode),
        when=_asks_for(_mode, reflect_type="odd"),
        arrays=("array",),
        cases=[
            case(sample(4, 3), ((1, 0), (2, 1)), _mode, reflect_type="odd"),
            case(sample(3), (7, 8), mode=_mode, reflect_type="odd"),
        ],
    )
COPYING = ("edge", "reflect", "symmetric", "wrap")

general(
    np.pad,
    _pad_jvp,
    _pad_vjp,
    arrays=("array",),
    cases=[
        case(sample(4, 3), 2),
        case(sample(4, 3), ((1, 0), (2, 3)), constant_values=1.5),
        case(sample(4, 3), 1, mode="edge"),
        case(sample(5), (2, 1), "reflect"),
    ],
)
