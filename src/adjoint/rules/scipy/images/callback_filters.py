"""Filters of ``scipy.ndimage`` that call a function of one's own: for each window, line or point, as a loop does."""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np
from scipy import ndimage

from adjoint.rules.declare import definition
from adjoint.rules.scipy.images.filters import _padded, placed
from adjoint.rules.scipy.images.ranks import chosen
from adjoint.rules.scipy.images.splines import _map_coordinates


def _generic_filter(
    input,
    function,
    size=None,
    footprint=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    extra_arguments=(),
    extra_keywords=None,
):
    named = {} if extra_keywords is None else extra_keywords
    given = np.asarray(input).astype(float)
    windows = np.reshape(chosen(given, size, footprint, mode, cval, origin), (np.size(input), -1))
    found = np.zeros(np.size(input), np.result_type(input))
    for place in range(len(found)):
        found[place] = function(windows[place].copy(), *extra_arguments, **named)
    return placed(np.reshape(found, np.shape(input)), output)


def _generic_filter1d(
    input,
    function,
    filter_size,
    axis=-1,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    extra_arguments=(),
    extra_keywords=None,
):
    named = {} if extra_keywords is None else extra_keywords
    before = filter_size // 2 + origin
    if before < 0 or before >= filter_size:
        raise ValueError("invalid origin")
    across = np.moveaxis(np.asarray(input).astype(float), axis, -1)
    lines = np.reshape(across, (-1, np.shape(across)[-1]))
    longer = _padded(lines, [(0, 0), (before, filter_size - before - 1)], mode, cval)
    found = np.zeros(np.shape(lines), np.result_type(input))
    for place in range(len(found)):
        line = np.zeros(np.shape(lines)[1])
        function(longer[place].copy(), line, *extra_arguments, **named)
        found[place] = line
    return placed(np.moveaxis(np.reshape(found, np.shape(across)), -1, axis), output)


def _along_axes(input, derivative, output, mode, cval, extra_arguments, extra_keywords):
    """A derivative along each axis; the first is written where it is told, as SciPy has it."""
    named = {} if extra_keywords is None else extra_keywords
    modes = (mode,) * np.ndim(input) if isinstance(mode, str) else mode
    first = np.zeros(np.shape(input), np.result_type(input)) if output is None else output
    derivative(input, 0, first, modes[0], cval, *extra_arguments, **named)
    found = [first]
    for axis, way in enumerate(modes):
        if axis > 0:
            found.append(derivative(input, axis, np.result_type(input), way, cval, *extra_arguments, **named))
    return found


def _generic_laplace(
    input, derivative2, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None
):
    found = _along_axes(input, derivative2, output, mode, cval, extra_arguments, extra_keywords)
    return placed(sum(found), output)


def _generic_gradient_magnitude(
    input, derivative, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None
):
    found = _along_axes(input, derivative, output, mode, cval, extra_arguments, extra_keywords)
    return placed(np.sqrt(sum([each * each for each in found])), output)


def _geometric_transform(
    input,
    mapping,
    output_shape=None,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
    extra_arguments=(),
    extra_keywords=None,
):
    named = {} if extra_keywords is None else extra_keywords
    shape = np.shape(input) if output_shape is None else tuple(output_shape)
    places = np.zeros((np.ndim(input), math.prod(shape)))
    for column, place in enumerate(np.ndindex(*shape)):
        read = mapping(place, *extra_arguments, **named)
        for axis in range(np.ndim(input)):
            places[axis, column] = read[axis]
    return _map_coordinates(input, np.reshape(places, (-1, *shape)), output, order, mode, cval, prefilter)


definition(ndimage.generic_filter, _generic_filter, only=True, functional=True, arrays=("input",))
definition(ndimage.generic_filter1d, _generic_filter1d, only=True, functional=True, arrays=("input",))
definition(ndimage.generic_laplace, _generic_laplace, only=True, functional=True, arrays=("input",))
definition(
    ndimage.generic_gradient_magnitude, _generic_gradient_magnitude, only=True, functional=True, arrays=("input",)
)
definition(ndimage.geometric_transform, _geometric_transform, only=True, functional=True, arrays=("input",))
