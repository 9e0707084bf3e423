"""Rules of ``np.fft``. All transforms are linear; their matrices are symmetric, up to what real signals leave out."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, definition, general, linear, number, sample
from adjoint.rules.registry import UNKNOWN
from adjoint.runtime.array_functions.arrays import fitted, unbroadcast
from adjoint.runtime.array_functions.spectra import times_pairs

LENGTHS = [
    case(sample(6)),
    case(sample(5)),
    case(sample(1)),
    case(sample(5), 8),
    case(sample(6), 3, norm="ortho"),
    case(sample(2, 4, 3), axis=1, norm="forward"),
    case(sample(4, 3), 7, 0, "backward"),
    case(sample(4, kind="complex")),
    case(sample(5, kind="complex"), 3, norm="ortho"),
    case(sample(3, 5, kind="complex"), 8, 0, norm="forward"),
]
OF_REAL = [call for call in LENGTHS if call.args[0].kind == "plain"]


def _fft(ct, a, n=None, axis=-1, norm=None):
    if n is None:
        return unbroadcast(np.fft.fft(ct, axis=axis, norm=norm), a)
    return fitted(np.fft.fft(ct, axis=axis, norm=norm), a)


def _ifft(ct, a, n=None, axis=-1, norm=None):
    if n is None:
        return unbroadcast(np.fft.ifft(ct, axis=axis, norm=norm), a)
    return fitted(np.fft.ifft(ct, axis=axis, norm=norm), a)


def _rfft(ct, a, n=None, axis=-1, norm=None):
    if n is None:
        n = np.shape(a)[axis]
    return fitted(np.fft.hfft(times_pairs(ct, 0.5, n, axis), n, axis=axis, norm=norm), a)


def _ihfft(ct, a, n=None, axis=-1, norm=None):
    if n is None:
        n = np.shape(a)[axis]
    return fitted(np.fft.irfft(times_pairs(ct, 0.5, n, axis), n, axis=axis, norm=norm), a)


def _irfft(ct, a, n=None, axis=-1, norm=None):
    return fitted(times_pairs(np.fft.ihfft(ct, axis=axis, norm=norm), 2.0, np.shape(ct)[axis], axis), a)


def _hfft(ct, a, n=None, axis=-1, norm=None):
    return fitted(times_pairs(np.fft.rfft(ct, axis=axis, norm=norm), 2.0, np.shape(ct)[axis], axis), a)


linear(np.fft.fft, _fft, always_array=True, cases=LENGTHS)
linear(np.fft.ifft, _ifft, always_array=True, cases=LENGTHS)
linear(np.fft.rfft, _rfft, always_array=True, cases=OF_REAL)
linear(np.fft.ihfft, _ihfft, always_array=True, cases=OF_REAL)
TO_REAL = [case(sample(2), 1), *[call for call in LENGTHS if call.args[0].shape != (1,)]]
linear(np.fft.irfft, _irfft, always_array=True, cases=TO_REAL)
linear(np.fft.hfft, _hfft, always_array=True, cases=TO_REAL)


# --- several axes -----------------------------------------------------------------------------------------------------


def _fftn(ct, a, s=None, axes=None, norm=None):
    if s is None:
        return unbroadcast(np.fft.fftn(ct, axes=axes, norm=norm), a)
    if axes is None:
        axes = range(-len(s), 0)
    return fitted(np.fft.fftn(ct, axes=axes, norm=norm), a)


def _ifftn(ct, a, s=None, axes=None, norm=None):
    if s is None:
        return unbroadcast(np.fft.ifftn(ct, axes=axes, norm=norm), a)
    if axes is None:
        axes = range(-len(s), 0)
    return fitted(np.fft.ifftn(ct, axes=axes, norm=norm), a)


def _fft2(ct, a, s=None, axes=(-2, -1), norm=None):
    if s is None:
        return unbroadcast(np.fft.fft2(ct, axes=axes, norm=norm), a)
    return fitted(np.fft.fft2(ct, axes=axes, norm=norm), a)


def _ifft2(ct, a, s=None, axes=(-2, -1), norm=None):
    if s is None:
        return unbroadcast(np.fft.ifft2(ct, axes=axes, norm=norm), a)
    return fitted(np.fft.ifft2(ct, axes=axes, norm=norm), a)


PLANES = [
    case(sample(4, 3)),
    case(sample(2, 4, 3), norm="ortho"),
    case(sample(2, 4, 3), s=(5, 2), axes=(2, 0), norm="forward"),
    case(sample(4, 3, kind="complex"), (3, 5), (-2, -1)),
    case(sample(2, 4, 3, kind="complex"), axes=(0, 1)),
    case(sample(2, 4, 3), axes=(1, 1)),
]
SPACES = [*PLANES, case(sample(5)), case(sample(2, 4, 3), axes=(1,)), case(sample(2, 4, 3), (4,), (1,))]
linear(np.fft.fft2, _fft2, always_array=True, cases=PLANES)
linear(np.fft.ifft2, _ifft2, always_array=True, cases=PLANES)
linear(np.fft.fftn, _fftn, always_array=True, cases=SPACES)
linear(np.fft.ifftn, _ifftn, always_array=True, cases=SPACES)


def _axis_by_axis(transform):
    """The transform of given lengths over axes of which one may be named twice: from the last to the first."""

    def over_axes(a, s=None, axes=(-2, -1), norm=None):
        y = a
        for k in range(len(axes) - 1, -1, -1):
            y = transform(y, np.shape(a)[axes[k]] if s[k] == -1 else s[k], axes[k], norm)
        return y

    return over_axes


def _may_name_one_twice(given):
    """Whether lengths are given for axes that are not all told apart by their numbers."""
    axes = given.get("axes")
    if given.get("s") is None or axes is None:
        return False
    return axes is UNKNOWN or len(set(axes)) < len(axes) or len({axis < 0 for axis in axes}) > 1


TWICE = [
    case(sample(2, 4, 3), (3, 5), (1, 1)),
    case(sample(4, 3, kind="complex"), (5, -1, 2), axes=(0, -2, 1), norm="ortho"),
]
for _whole, _one in ((np.fft.fftn, np.fft.fft), (np.fft.ifftn, np.fft.ifft)):
    definition(_whole, _axis_by_axis(_one), when=_may_name_one_twice, cases=TWICE)
for _whole, _one in ((np.fft.fft2, np.fft.fft), (np.fft.ifft2, np.fft.ifft)):
    definition(_whole, _axis_by_axis(_one), when=_may_name_one_twice, cases=TWICE[:1])


def _rfftn(a, s=None, axes=None, norm=None):
    axes = _axes(a, s, axes)
    y = np.fft.rfft(a, _last_length(a, s, axes), axes[-1], norm)
    return y if len(axes) == 1 else np.fft.fftn(y, None if s is None else s[:-1], axes[:-1], norm)


def _irfftn(a, s=None, axes=None, norm=None):
    axes = _axes(a, s, axes)
    y = a if len(axes) == 1 else np.fft.ifftn(a, None if s is None else s[:-1], axes[:-1], norm)
    return np.fft.irfft(y, _last_length(a, s, axes), axes[-1], norm)


def _axes(a, s, axes):
    if axes is not None:
        return axes
    return tuple(range(-np.ndim(a), 0)) if s is None else tuple(range(-len(s), 0))


def _last_length(a, s, axes):
    """How long the transform over the last axis is, None for what the array has."""
    if s is None:
        return None
    return np.shape(a)[axes[-1]] if s[-1] == -1 else s[-1]


REAL_PLANES = [
    case(sample(4, 3)),
    case(sample(2, 4, 3), norm="ortho"),
    case(sample(2, 4, 3), s=(5, 2), axes=(2, 0), norm="forward"),
    case(sample(4, 3), (-1, 5), (-2, -1)),
]
REAL_SPACES = [*REAL_PLANES, case(sample(5)), case(sample(2, 4, 3), axes=[1]), case(sample(4, 3), (2, 4), (0, 1))]
COMPLEX_PLANES = [
    case(sample(4, 3, kind="complex")),
    case(sample(2, 4, 3, kind="complex"), norm="ortho"),
    case(sample(2, 4, 3, kind="complex"), s=(5, 3), axes=(2, 0), norm="forward"),
    case(sample(4, 3), (-1, 5), (-2, -1)),
]
COMPLEX_SPACES = [*COMPLEX_PLANES, case(sample(5, kind="complex")), case(sample(2, 4, 3), axes=[1])]
definition(np.fft.rfftn, _rfftn, cases=REAL_SPACES)
definition(np.fft.irfftn, _irfftn, cases=COMPLEX_SPACES)
definition(np.fft.rfft2, lambda a, s=None, axes=(-2, -1), norm=None: _rfftn(a, s, axes, norm), cases=REAL_PLANES)
definition(np.fft.irfft2, lambda a, s=None, axes=(-2, -1), norm=None: _irfftn(a, s, axes, norm), cases=COMPLEX_PLANES)


# --- order and frequencies --------------------------------------------------------------------------------------------

SHIFTS = [case(sample(5)), case(sample(4, 3)), case(sample(4, 3), 1), case(sample(2, 4, 3), (0, 2))]
linear(np.fft.fftshift, lambda ct, x, axes=None: np.fft.ifftshift(ct, axes), cases=SHIFTS)
linear(np.fft.ifftshift, lambda ct, x, axes=None: np.fft.fftshift(ct, axes), cases=SHIFTS)
for _frequencies in (np.fft.fftfreq, np.fft.rfftfreq):
    general(
        _frequencies,
        lambda dots, y, n, d=1.0: -y * (dots[1] / d),
        lambda ct, y, n, d=1.0: (None, unbroadcast(np.sum(-ct * y) / d, d)),
        always_array=True,
        cases=[case(5, number()), case(6, number())],
    )

# what these rules are made of

linear(fitted, lambda ct, x, like: fitted(ct, x), view_of=0, cases=[case(sample(4, 3), sample(2, 5))])
linear(
    times_pairs,
    lambda ct, x, factor, n, axis: times_pairs(ct, factor, n, axis),
    cases=[case(sample(4, kind="complex"), 2.0, 6, -1), case(sample(3, 4), 0.5, 5, 0)],
)
