"""Rules of SciPy's older transforms: those of `scipy.fft` by other names, without the scale of the inverse cosines."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import fft, fftpack

from adjoint.rules.declare import case, definition, sample

_LINES = [case(sample(4)), case(sample(4, 3), 5, 0), case(sample(5), n=3)]
_PLANES = [case(sample(4, 3)), case(sample(4, 3), (5, 2), axes=(1, 0))]
_TURNED = {1: 1, 2: 3, 3: 2, 4: 4}
"""Of which type the inverse of a cosine or sine transform is."""

definition(fftpack.fft, lambda x, n=None, axis=-1, overwrite_x=False: fft.fft(x, n, axis), cases=_LINES)
definition(fftpack.ifft, lambda x, n=None, axis=-1, overwrite_x=False: fft.ifft(x, n, axis), cases=_LINES)
definition(fftpack.fftn, lambda x, shape=None, axes=None, overwrite_x=False: fft.fftn(x, shape, axes), cases=_PLANES)
definition(fftpack.ifftn, lambda x, shape=None, axes=None, overwrite_x=False: fft.ifftn(x, shape, axes), cases=_PLANES)
definition(
    fftpack.fft2, lambda x, shape=None, axes=(-2, -1), overwrite_x=False: fft.fft2(x, shape, axes), cases=_PLANES
)
definition(
    fftpack.ifft2, lambda x, shape=None, axes=(-2, -1), overwrite_x=False: fft.ifft2(x, shape, axes), cases=_PLANES
)


def _rfft(x, n=None, axis=-1, overwrite_x=False):
    """Real and imaginary parts by turns, behind the first real part."""
    size = np.shape(x)[axis] if n is None else n
    found = np.moveaxis(np.fft.rfft(x, n, axis), axis, -1)
    pairs = np.stack([np.real(found)[..., 1:], np.imag(found)[..., 1:]], axis=-1)
    rest = np.reshape(pairs, (*np.shape(pairs)[:-2], -1))
    return np.moveaxis(np.concatenate([np.real(found)[..., :1], rest], axis=-1)[..., :size], -1, axis).copy()


definition(fftpack.rfft, _rfft, cases=_LINES)


def _declare_real(fn, inverse, plain):
    cases = [case(sample(4)), case(sample(5), 3), case(sample(4, 3), 2, 5, 0, "ortho")]
    definition(
        fn, lambda x, type=2, n=None, axis=-1, norm=None, overwrite_x=False: plain(x, type, n, axis, norm), cases=cases
    )
    definition(
        inverse,
        lambda x, type=2, n=None, axis=-1, norm=None, overwrite_x=False: plain(x, _TURNED[type], n, axis, norm),
        cases=cases,
    )


_declare_real(fftpack.dct, fftpack.idct, fft.dct)
_declare_real(fftpack.dst, fftpack.idst, fft.dst)
