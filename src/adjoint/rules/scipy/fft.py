"""Definitions of ``scipy.fft`` by ``np.fft``; cosine and sine transforms, which are transposes of each other."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import fft
from scipy.fft import _fftlog_backend

from adjoint.rules.declare import case, definition, linear, no_derivative, sample
from adjoint.runtime.array_functions.arrays import fitted

LENGTHS = [
    case(sample(6)),
    case(sample(5), 8),
    case(sample(4, 3), axis=0, norm="ortho"),
    case(sample(4, kind="complex")),
]
OF_REAL = LENGTHS[:3]


def _declare_one(fn, means, calls):
    definition(
        fn,
        lambda x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None: means(x, n, axis, norm).copy(),
        cases=calls,
    )


_declare_one(fft.fft, np.fft.fft, LENGTHS)
_declare_one(fft.ifft, np.fft.ifft, LENGTHS)
_declare_one(fft.rfft, np.fft.rfft, OF_REAL)
_declare_one(fft.irfft, np.fft.irfft, LENGTHS)
_declare_one(fft.hfft, np.fft.hfft, LENGTHS)
_declare_one(fft.ihfft, np.fft.ihfft, OF_REAL)


def _declare_two(fn, means, calls):
    definition(
        fn,
        lambda x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None: means(x, s, axes, norm).copy(),
        cases=calls,
    )


def _declare_all(fn, means, calls):
    definition(
        fn,
        lambda x, s=None, axes=None, norm=None, overwrite_x=False, workers=None: means(x, s, axes, norm).copy(),
        cases=calls,
    )


PLANES = [case(sample(4, 3)), case(sample(4, 3), (3, 5), (-2, -1), norm="ortho")]
_declare_two(fft.fft2, np.fft.fft2, PLANES)
_declare_two(fft.ifft2, np.fft.ifft2, PLANES)
_declare_two(fft.rfft2, np.fft.rfft2, PLANES)
_declare_two(fft.irfft2, np.fft.irfft2, PLANES)
_declare_all(fft.fftn, np.fft.fftn, PLANES)
_declare_all(fft.ifftn, np.fft.ifftn, PLANES)
_declare_all(fft.rfftn, np.fft.rfftn, PLANES)
_declare_all(fft.irfftn, np.fft.irfftn, PLANES)
SHIFTS = [case(sample(5)), case(sample(4, 3), axes=0)]
definition(fft.fftshift, lambda x, axes=None: np.fft.fftshift(x, axes), cases=SHIFTS)
definition(fft.ifftshift, lambda x, axes=None: np.fft.ifftshift(x, axes), cases=SHIFTS)

# --- cosine and sine transforms ---------------------------------------------------------------------------------------


def _halves(n, places, axis, rank):
    """Ones along an axis, with halves at some places: what tells a transform from its transpose."""
    weights = np.ones(n)
    weights[places] = 0.5
    return np.reshape(weights, [n if k == axis % rank else 1 for k in range(rank)])


def _transposed(transform, inverse, place, ct, type, axis, norm):
    """The transpose of a cosine or sine transform, of the length of ``ct``.

    Orthogonal ones have their inverses. The matrices of the others are symmetric, or those of the types 2 and 3 are
    each other's, but for columns of half the size: the first and the last of cosines in type 1, one in type 3.
    """
    if norm == "ortho":
        return inverse(ct, type, axis=axis, norm=norm)
    if type == 4 or (type == 1 and place == -1):
        return transform(ct, type, axis=axis, norm=norm)
    weights = _halves(np.shape(ct)[axis], [0, -1] if type == 1 else [place], axis, np.ndim(ct))
    if type == 2:
        return transform(ct / weights, 3, axis=axis, norm=norm)
    if type == 3:
        return weights * transform(ct, 2, axis=axis, norm=norm)
    return weights * transform(ct / weights, type, axis=axis, norm=norm)


COSINES = [
    *[case(sample(6), type) for type in (1, 2, 3, 4)],
    *[case(sample(4, 3), type, axis=0, norm=norm) for type in (1, 2, 3, 4) for norm in ("ortho", "forward")],
    case(sample(5), 2, 8),
    case(sample(5), type=3, n=3),
]


def _declare_real(transform, inverse, place):
    """``place`` is where a column of type 3 has half its size."""

    def transposed(ct, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
        return fitted(_transposed(transform, inverse, place, ct, type, axis, norm), x)

    def transposed_inverse(ct, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None):
        """The inverse is a transform of the other type, with the other factor."""
        other = {1: 1, 2: 3, 3: 2, 4: 4}[type]
        opposite = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]
        return fitted(_transposed(transform, inverse, place, ct, other, axis, opposite), x)

    linear(transform, transposed, always_array=True, cases=COSINES)
    linear(inverse, transposed_inverse, always_array=True, cases=COSINES)


_declare_real(fft.dct, fft.idct, 0)
_declare_real(fft.dst, fft.idst, -1)


def _declare_real_of_axes(fn, along):
    def means(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
        if axes is None:
            chosen = tuple(range(np.ndim(x) if s is None else len(s)))
            chosen = tuple([axis - len(chosen) for axis in chosen])
        else:
            chosen = tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)
        found = x
        for place, axis in enumerate(chosen):
            found = along(found, type, None if s is None else s[place], axis, norm)
        return found

    definition(
        fn, means, cases=[case(sample(4, 3)), case(sample(4, 3), 3, (3, 5), norm="ortho"), case(sample(4, 3), axes=0)]
    )


_declare_real_of_axes(fft.dctn, fft.dct)
_declare_real_of_axes(fft.idctn, fft.idct)
_declare_real_of_axes(fft.dstn, fft.dst)
_declare_real_of_axes(fft.idstn, fft.idst)


def _hfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    """Of the last axis what ``hfft`` gives, of the others what ``fft`` does."""
    places = _axes(x, s, axes)
    sizes = (None,) * len(places) if s is None else tuple(s)
    for k in range(len(places) - 1):
        x = np.fft.fft(x, sizes[k], places[k], norm)
    return np.fft.hfft(x, sizes[-1], places[-1], norm)


def _ihfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None):
    places = _axes(x, s, axes)
    sizes = (None,) * len(places) if s is None else tuple(s)
    x = np.fft.ihfft(x, sizes[-1], places[-1], norm)
    for k in range(len(places) - 1):
        x = np.fft.ifft(x, sizes[k], places[k], norm)
    return x


def _axes(x, s, axes):
    if axes is not None:
        return tuple(axes)
    return tuple(range(-(np.ndim(x) if s is None else len(s)), 0))


_declare_all(fft.hfftn, _hfftn, PLANES)
_declare_all(fft.ihfftn, _ihfftn, PLANES)
_declare_two(fft.hfft2, _hfftn, PLANES)
_declare_two(fft.ihfft2, _ihfftn, PLANES)

# --- Hankel transforms of what is given at logarithmic steps ----------------------------------------------------------

HANKEL = [case(sample(8), 0.1, 0.5), case(sample(2, 7), 0.2, 0.3, offset=0.1, bias=0.2)]


def _fht(a, dln, mu, offset=0.0, bias=0.0):
    n = np.shape(a)[-1]
    places = (np.arange(n) - 0.5 * (n - 1)) * dln
    waves = np.fft.rfft(a * np.exp(-bias * places)) * hankel_factors(n, dln, mu, offset, bias)
    return np.flip(np.fft.irfft(waves, n).copy() * np.flip(np.exp(-bias * (places + offset))), axis=-1)


def _ifht(A, dln, mu, offset=0.0, bias=0.0):
    n = np.shape(A)[-1]
    places = (np.arange(n) - 0.5 * (n - 1)) * dln
    factors = np.conj(hankel_factors(n, dln, mu, offset, bias, inverse=True))
    waves = np.fft.rfft(A * np.exp(bias * (places + offset))) / factors
    return np.flip(np.fft.irfft(waves, n).copy() / np.exp(-bias * np.flip(places)), axis=-1)


def hankel_factors(n, dln, mu, offset, bias, inverse=False):
    """The factors of the waves, as SciPy computes them."""
    return _fftlog_backend.fhtcoeff(n, dln, mu, offset=offset, bias=bias, inverse=inverse)


no_derivative(hankel_factors)
definition(fft.fht, _fht, arrays=("a",), cases=HANKEL)
definition(fft.ifht, _ifht, arrays=("A",), cases=HANKEL)
