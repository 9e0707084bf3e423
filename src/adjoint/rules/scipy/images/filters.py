"""Filters of ``scipy.ndimage``: correlations with weights, of arrays that go on beyond their ends."""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any

import numpy as np
from scipy import ndimage

from adjoint.rules.declare import case, definition, linear, sample
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.numerical_methods.of_scipy.signal import convolution

PADDED: dict[str, Any] = {
    "constant": "constant",
    "grid-constant": "constant",
    "nearest": "edge",
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}
"""What NumPy calls the ways to go on."""


def _padded(values, widths, mode, cval):
    if mode not in PADDED:
        raise RuntimeError("boundary mode not supported")
    if PADDED[mode] == "constant":
        return np.pad(values, widths, constant_values=cval)
    return np.pad(values, widths, mode=PADDED[mode])


def placed(found, output):
    """What a filter finds, in the array that is given for it."""
    if output is None:
        return found
    if isinstance(output, np.ndarray):
        output[...] = found
        return output
    if np.dtype(output) != np.result_type(found):
        raise NotImplementedError("another type for the result")
    return found


def _correlated(values, weights, origins, mode, cval):
    """A correlation with weights of the same rank."""
    widths = []
    for size, origin in zip(np.shape(weights), origins, strict=True):
        before = size // 2 + origin
        if before < 0 or before >= size:
            raise ValueError("invalid origin")
        widths.append((before, size - before - 1))
    return convolution(_padded(values, widths, mode, cval), np.flip(weights), "valid", "direct").copy()


def _along(weights, axis, rank):
    """Weights of one axis, of a rank."""
    return np.reshape(weights, [-1 if k == axis % rank else 1 for k in range(rank)])


def _correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    rank = np.ndim(input)
    origins = [origin if k == axis % rank else 0 for k in range(rank)]
    return placed(_correlated(input, _along(weights, axis, rank), origins, mode, cval), output)


def _turned(origin, size):
    """The origin of a convolution, for the correlation with the weights in the other order."""
    return -origin if size % 2 else -origin - 1


def _convolve1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    turned = _turned(origin, np.size(weights))
    return _correlate1d(input, np.flip(weights), axis, output, mode, cval, turned)


def _correlate(input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    origins = [origin] * np.ndim(input) if isinstance(origin, int) else origin
    return placed(_correlated(input, weights, origins, mode, cval), output)


def _convolve(input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    origins = [origin] * np.ndim(input) if isinstance(origin, int) else origin
    turned = [_turned(place, size) for place, size in zip(origins, np.shape(weights), strict=True)]
    return _correlate(input, np.flip(weights), output, mode, cval, turned)


MODES = [case(sample(6), sample(3), mode=mode) for mode in PADDED]
LINES = [
    *MODES,
    case(sample(6), sample(4), mode="constant", cval=0.5),
    case(sample(4, 5), sample(3), axis=0),
    case(sample(6), np.array([0.2, 0.3, 0.5]), origin=-1),
    case(sample(2), np.array([0.2, 0.3, 0.5, 0.1, 0.7, 0.4, 0.2])),
]
PLANES = [
    case(sample(4, 5), sample(3, 3)),
    case(sample(4, 5), sample(2, 3), mode="wrap"),
    case(sample(4, 5), sample(3, 3), origin=(0, 1)),
]
definition(ndimage.correlate1d, _correlate1d, arrays=("input", "weights"), cases=LINES)
definition(ndimage.convolve1d, _convolve1d, arrays=("input", "weights"), cases=LINES)
definition(ndimage.correlate, _correlate, arrays=("input", "weights"), cases=PLANES)
definition(ndimage.convolve, _convolve, arrays=("input", "weights"), cases=PLANES)

# --- averages ---------------------------------------------------------------------------------------------------------


def _uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    return _correlate1d(input, np.full(size, 1.0 / size), axis, output, mode, cval, origin)


def _is_of_axes(given):
    """Whether there is a number for each axis, not one for all."""
    return isinstance(given, (tuple, list)) or (given is not None and np.ndim(given) > 0)


def _uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0):
    sizes = size if _is_of_axes(size) else [size] * np.ndim(input)
    found = input + 0.0
    for axis, extent in enumerate(sizes):
        if extent > 1:
            found = _uniform_filter1d(found, extent, axis, None, mode, cval, origin)
    return placed(found, output)


def _gaussian_weights(sigma, order, radius):
    places = np.arange(-radius, radius + 1)
    square = sigma * sigma
    weights = np.exp(-0.5 / square * places**2)
    weights = weights / np.sum(weights)
    if order == 0:
        return weights
    if order == 1:
        return weights * places / square
    if order == 2:
        return weights * (places**2 / square - 1.0) / square
    raise NotImplementedError("derivatives of higher order")


def _gaussian_filter1d(
    input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    width = int(truncate * float(sigma) + 0.5) if radius is None else radius
    return _correlate1d(input, _gaussian_weights(sigma, order, width), axis, output, mode, cval)


def _gaussian_filter(input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None):
    rank = np.ndim(input)
    sigmas = sigma if _is_of_axes(sigma) else [sigma] * rank
    orders = order if _is_of_axes(order) else [order] * rank
    radii = radius if _is_of_axes(radius) else [radius] * rank
    found = input + 0.0
    for axis, (width, degree, extent) in enumerate(zip(sigmas, orders, radii, strict=True)):
        if width > 1e-15:
            found = _gaussian_filter1d(found, width, axis, degree, None, mode, cval, truncate, radius=extent)
    return placed(found, output)


definition(
    ndimage.uniform_filter1d,
    _uniform_filter1d,
    arrays=("input",),
    cases=[case(sample(6), 3), case(sample(4, 5), 4, 0, mode="wrap"), case(sample(6), 3, origin=1)],
)
definition(
    ndimage.uniform_filter,
    _uniform_filter,
    arrays=("input",),
    cases=[case(sample(4, 5)), case(sample(4, 5), (1, 2), mode="nearest")],
)
definition(
    ndimage.gaussian_filter1d,
    _gaussian_filter1d,
    arrays=("input",),
    cases=[
        case(sample(8), 1.2),
        case(sample(4, 5), 0.6, 0, mode="mirror"),
        case(sample(8), 0.7, order=1),
        case(sample(8), 0.7, order=2, radius=3),
    ],
)
definition(
    ndimage.gaussian_filter,
    _gaussian_filter,
    arrays=("input",),
    cases=[
        case(sample(4, 5), 0.6),
        case(sample(4, 5), (0.0, 0.8), mode="wrap"),
        case(sample(4, 5), 0.6, order=(0, 1), truncate=3.0),
        case(sample(4, 5), np.array([0.6, 0.8])),
    ],
)

# --- slopes -----------------------------------------------------------------------------------------------------------


def _slope(input, axis, mode, cval, across):
    rank = np.ndim(input)
    found = _correlate1d(input, np.array([-1.0, 0.0, 1.0]), axis, None, mode, cval)
    for other in range(rank):
        if other != axis % rank:
            found = _correlate1d(found, np.array(across), other, None, mode, cval)
    return found


def _sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return placed(_slope(input, axis, mode, cval, [1.0, 2.0, 1.0]), output)


def _prewitt(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return placed(_slope(input, axis, mode, cval, [1.0, 1.0, 1.0]), output)


def _laplace(input, output=None, mode="reflect", cval=0.0):
    total = 0.0 * input
    for axis in range(np.ndim(input)):
        total = total + _correlate1d(input, np.array([1.0, -2.0, 1.0]), axis, None, mode, cval)
    return placed(total, output)


SLOPES = [case(sample(4, 5)), case(sample(4, 5), 0, mode="nearest")]
definition(ndimage.sobel, _sobel, arrays=("input",), cases=SLOPES)
definition(ndimage.prewitt, _prewitt, arrays=("input",), cases=SLOPES)
definition(ndimage.laplace, _laplace, arrays=("input",), cases=[case(sample(4, 5)), case(sample(6), mode="wrap")])


# --- filters of Fourier transforms: each frequency times a number -----------------------------------------------------


def _frequencies(extent, n, is_real):
    """The waves in a transform along an axis, and of how many samples; of real samples there is one half."""
    places = np.arange(extent)
    if is_real and n >= 0:
        return places, n
    return np.where(places < (extent + 1) // 2, places, places - extent), extent


def _of_frequencies(input, given, n, axis, wave):
    found, rank = np.ascontiguousarray(input * 1.0), np.ndim(input)
    for k in range(rank):
        waves, samples = _frequencies(np.shape(input)[k], n, k == axis % rank)
        factor = wave(given if np.ndim(given) == 0 else given[k], waves, samples)
        found = found * np.reshape(factor, [-1 if other == k else 1 for other in range(rank)])
    return found


def _gaussian_wave(sigma, waves, samples):
    return np.exp(-2.0 * (np.pi * sigma * waves / samples) ** 2)


def _fourier_gaussian(input, sigma, n=-1, axis=-1):
    return _as_precise(_of_frequencies(input, sigma, n, axis, _gaussian_wave), input)


def _fourier_uniform(input, size, n=-1, axis=-1):
    return _as_precise(_of_frequencies(input, size, n, axis, lambda size, waves, n: np.sinc(size * waves / n)), input)


def _shift_wave(shift, waves, samples):
    return np.exp(-2.0j * np.pi * shift * waves / samples)


def _fourier_shift(input, shift, n=-1, axis=-1):
    return _as_precise(_of_frequencies(input, shift, n, axis, _shift_wave), input)


def _as_precise(found, input):
    """In single precision where the transform is; phases of real numbers are in double precision."""
    if np.result_type(input) == np.complex64:
        return found.astype(np.complex64)
    if np.result_type(input) == np.float32 and not np.iscomplexobj(found):
        return found.astype(np.float32)
    return found


FREQUENCIES = [case(sample(5), 0.7), case(sample(4, 3), [0.7, 1.2]), case(sample(4, 3, kind="complex"), 0.7, 6, 0)]
for _filter, _means in (
    (ndimage.fourier_gaussian, _fourier_gaussian),
    (ndimage.fourier_uniform, _fourier_uniform),
    (ndimage.fourier_shift, _fourier_shift),
):
    definition(_filter, _means, only=True, cases=FREQUENCIES)


def _ellipsoid_vjp(ct, input, size, n=-1, axis=-1):
    return unbroadcast(ndimage.fourier_ellipsoid(ct, size, n, axis), input)


linear(ndimage.fourier_ellipsoid, _ellipsoid_vjp, fixed=(1,), always_array=True, cases=FREQUENCIES)
