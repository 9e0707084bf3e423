"""Recursive filters of ``scipy.signal``, smoothing, trends, and analytic signals.

Filters are linear in the signal; their transposes run backwards.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import fft, ndimage, signal

from adjoint.rules.declare import case, definition, general, no_derivative, number, sample
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.numerical_methods.of_scipy.signal import polynomial_ends

# --- recursive filters ------------------------------------------------------------------------------------------------


def _backwards(b, a, x, axis):
    return np.flip(signal.lfilter(b, a, np.flip(x, axis), axis), axis)


def _lfilter_jvp(dots, y, b, a, x, axis=-1):
    moved = signal.lfilter(b, a, dots[2], axis) + signal.lfilter(dots[0], a, x, axis)
    return moved - signal.lfilter(dots[1], a, y, axis)


def _lags(u, x, taps, axis):
    """Sums of products of ``u`` with ``x`` as it was some steps before, for as many steps as there are taps."""
    rows, before = np.moveaxis(u, axis, -1), np.moveaxis(x, axis, -1)
    n = np.shape(rows)[-1]
    return np.stack([np.sum(rows[..., min(k, n) :] * before[..., : max(n - k, 0)]) for k in range(np.size(taps))])


def _lfilter_vjp(ct, y, b, a, x, axis=-1):
    free = _backwards(np.ones(1), a, ct, axis)
    return (
        unbroadcast(_lags(free, x, b, axis), b),
        unbroadcast(-_lags(free, y, a, axis), a),
        unbroadcast(_backwards(b, a, ct, axis), x),
    )


B, A = np.array([0.4, 0.3, -0.2]), np.array([1.5, -0.6, 0.2])
general(
    signal.lfilter,
    _lfilter_jvp,
    _lfilter_vjp,
    cases=[
        case(B, A, sample(6)),
        case(B, A, sample(5, 3), axis=0),
        case(np.array([0.5, 0.2]), np.array([1.0, 0.3, 0.1, -0.2]), sample(2, 6)),
        case(B, np.array([2.0]), sample(2, 2), -1),
    ],
)
no_derivative(signal.savgol_coeffs, polynomial_ends)


def _lfilter_from(b, a, x, axis=-1, zi=None):
    """From a state, which is what the filter still adds: a response beside that to the signal, and what is left."""
    b, a = np.asarray(b), np.asarray(a)
    order = max(np.size(a), np.size(b)) - 1
    numerator = np.append(b / a[0], np.zeros(order + 1 - np.size(b)))
    denominator = np.append(a / a[0], np.zeros(order + 1 - np.size(a)))
    rows, states = np.moveaxis(x, axis, -1), np.moveaxis(zi, axis, -1)
    n = np.shape(rows)[-1]
    response = signal.lfilter(np.ones(1), denominator, np.append(np.ones(1), np.zeros(max(n - 1, 0))))
    found = signal.lfilter(numerator, denominator, rows)
    left = np.zeros((*np.shape(rows)[:-1], order)) + 0.0 * np.sum(found[..., :1], axis=-1, keepdims=True)
    for k in range(min(order, n)):
        found[..., k:] += states[..., k : k + 1] * response[: n - k]
    for k in range(order):
        for place in range(k + 1, min(order, k + n) + 1):
            before = n - (place - k)
            left[..., k] += numerator[place] * rows[..., before] - denominator[place] * found[..., before]
        if k + n < order:
            left[..., k] += states[..., k + n]
    return np.moveaxis(found, -1, axis).copy(), np.moveaxis(left, -1, axis).copy()


definition(
    signal.lfilter,
    _lfilter_from,
    when=lambda given: given.get("zi") is not None,
    cases=[
        case(B, A, sample(6), zi=sample(2)),
        case(B[:2], A, sample(1), zi=sample(2)),
        case([1], A, sample(4), zi=sample(2)),
        case(B, A, sample(2, 5), -1, sample(2, 2)),
        case(B, A, sample(5, 2), axis=0, zi=sample(2, 2)),
        case(np.array([0.5, 0.2]), np.array([1.0, 0.3, 0.1, -0.2]), sample(2), zi=sample(3)),
    ],
)


def _sosfilt(sos, x, axis=-1):
    found = np.moveaxis(x, axis, -1).copy()
    for section in range(np.shape(sos)[0]):
        found = signal.lfilter(sos[section, :3], sos[section, 3:], found)
    return np.moveaxis(found, -1, axis)


SECTIONS = np.array([[2, 1, -1, 1, 0, 0], [1, 3, 2, 1, 1, 0]])
definition(signal.sosfilt, _sosfilt, cases=[case(SECTIONS, sample(6)), case(SECTIONS, sample(5, 2), axis=0)])


def _sosfilt_from(sos, x, axis=-1, zi=None):
    """The same from a state of each section; and what is left of it."""
    found = np.moveaxis(x, axis, -1)
    states = np.moveaxis(zi, [0, axis % np.ndim(x) + 1], [0, -1])
    left = []
    for section in range(np.shape(sos)[0]):
        found, rest = signal.lfilter(sos[section, :3], sos[section, 3:], found, zi=states[section])
        left.append(np.moveaxis(rest, -1, axis))
    return np.moveaxis(found, -1, axis), np.stack(left)


definition(
    signal.sosfilt,
    _sosfilt_from,
    when=lambda given: given.get("zi") is not None,
    cases=[
        case(SECTIONS, sample(6), zi=sample(2, 2)),
        case(SECTIONS, sample(5, 3), 0, sample(2, 2, 3)),
        case(SECTIONS, sample(3, 5), zi=sample(2, 3, 2)),
    ],
)


def _extended(rows, padtype, edge):
    if padtype is None or edge == 0:
        return rows
    n = np.shape(rows)[-1]
    first, last = rows[..., :1], rows[..., n - 1 :]
    before, after = np.flip(rows[..., 1 : edge + 1], -1), np.flip(rows[..., n - edge - 1 : n - 1], -1)
    if padtype == "odd":
        return np.concatenate([2 * first - before, rows, 2 * last - after], axis=-1)
    if padtype == "constant":
        return np.concatenate([first + 0.0 * before, rows, last + 0.0 * after], axis=-1)
    return np.concatenate([before, rows, after], axis=-1)


def _in_steady_state(b, a, rows):
    """Filtered as if the first value had been there for ever: a state is a filter of an impulse."""
    impulse = np.concatenate([np.ones(1), np.zeros(np.shape(rows)[-1] - 1)])
    response = signal.lfilter(signal.lfilter_zi(b, a), a / a[0], impulse)
    return signal.lfilter(b, a, rows) + rows[..., :1] * response


def _filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad"):
    if method != "pad":
        raise NotImplementedError("the method of Gustafsson")
    edge = 0 if padtype is None else 3 * max(np.size(a), np.size(b)) if padlen is None else padlen
    n = np.shape(x)[axis]
    if n <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    forth = _in_steady_state(b, a, _extended(np.moveaxis(x, axis, -1), padtype, edge))
    back = np.moveaxis(_in_steady_state(b, a, np.flip(forth, -1)), -1, axis).copy()
    return np.moveaxis(np.moveaxis(np.flip(back, axis), axis, -1)[..., edge : edge + n], -1, axis)


ONE = np.array([1.0, -0.6])
definition(
    signal.filtfilt,
    _filtfilt,
    arrays=("b", "a", "x"),
    cases=[
        case(B, A, sample(12)),
        case(B[:2], ONE, sample(9, 2), axis=0),
        case(B, ONE, sample(6), padlen=2),
        *[case(B, ONE, sample(2, 6), padtype=padtype, padlen=3) for padtype in ("even", "constant", None)],
    ],
)

# --- smoothing, trends ------------------------------------------------------------------------------------------------


def _savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    weights = signal.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta)
    if mode != "interp":
        return ndimage.convolve1d(x, weights, axis, mode=mode, cval=cval)
    rows = np.moveaxis(x, axis, -1)
    n, half = np.shape(rows)[-1], window_length // 2
    if window_length > n:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    inner = ndimage.convolve1d(rows, weights, -1, mode="constant")[..., half : n - half]
    ends = polynomial_ends(window_length, polyorder, deriv, delta)
    first = rows[..., :window_length] @ ends[:, :half]
    last = rows[..., n - window_length :] @ ends[:, window_length - half :]
    return np.moveaxis(np.concatenate([first, inner, last], axis=-1), -1, axis).copy()


definition(
    signal.savgol_filter,
    _savgol_filter,
    arrays=("x",),
    cases=[
        case(sample(9), 5, 2),
        case(sample(9), 5, 3, 1, 0.5),
        case(sample(7, 2), 3, 1, axis=0),
        case(sample(9), 5, 2, mode="nearest"),
        case(sample(9), 4, 2, mode="mirror"),
    ],
)


def _detrend(data, axis=-1, type="linear", bp=0, overwrite_data=False):
    if type == "constant" or type == "c":
        return data - np.mean(data, axis, keepdims=True)
    if type != "linear" and type != "l":
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    rows = np.moveaxis(data, axis, -1)
    n = np.shape(rows)[-1]
    places = np.arange(n) - 0.5 * (n - 1)
    slope = np.sum(rows * places, axis=-1, keepdims=True) / np.sum(places * places)
    left = rows - np.mean(rows, axis=-1, keepdims=True) - slope * places
    return np.moveaxis(np.moveaxis(left, -1, 0).copy(), 0, axis)


definition(
    signal.detrend,
    _detrend,
    when=lambda given: given.get("bp", 0) == 0,
    cases=[case(sample(6)), case(sample(5, 3), axis=0), case(sample(5, 3), 0, "constant")],
)


def _hilbert(x, N=None, axis=-1):
    spectrum = np.moveaxis(fft.fft(x, N, axis), axis, -1)
    n = np.shape(spectrum)[-1]
    weights = np.zeros(n)
    weights[0] = 1.0
    weights[1 : (n + 1) // 2] = 2.0
    if n % 2 == 0:
        weights[n // 2] = 1.0
    return fft.ifft(np.moveaxis(spectrum * weights, -1, axis), axis=axis)


definition(signal.hilbert, _hilbert, cases=[case(sample(6)), case(sample(5)), case(sample(4, 3), 6, 0)])


# --- splines of equidistant numbers, windows --------------------------------------------------------------------------

POLE = 3.0**0.5 - 2.0


def _cspline1d(signal, lamb=0.0):
    """A filter forth and another back, each in the state in which a mirrored signal would have left it."""
    if lamb != 0.0:
        raise NotImplementedError("smoothing")
    values = np.asarray(signal)
    n = np.size(values)
    if n == 1:
        return POLE / (POLE - 1.0) * (1.0 + POLE) * values  # SciPy leaves a factor of six out here
    powers = POLE ** np.arange(n)
    line = np.array([1.0, -POLE])
    forth = lfilter(np.ones(1), line, values) + POLE * powers * np.sum(powers * values)
    last = POLE / (POLE - 1.0) * forth[-1]
    back = lfilter(np.array([-POLE]), line, np.flip(forth[:-1])) + POLE * powers[:-1] * last
    return 6.0 * np.concatenate([np.flip(back), np.reshape(last, (1,))])


def _tukey(M, alpha=0.5, sym=True, *, xp=None, device=None):
    if M <= 1 or alpha <= 0:
        return np.ones(M)
    last = M - 1 if sym else M
    place = np.arange(M) * 1.0
    if alpha >= 1.0:
        return 0.5 - 0.5 * np.cos(2.0 * np.pi * place / last)
    width = np.floor(alpha * last / 2.0)
    rise = 0.5 * (1 + np.cos(np.pi * (-1 + 2.0 * place / alpha / last)))
    fall = 0.5 * (1 + np.cos(np.pi * (-2.0 / alpha + 1 + 2.0 * place / alpha / last)))
    return np.where(place <= width, rise, np.where(place >= last - width, fall, 1.0))


lfilter = signal.lfilter
definition(signal.cspline1d, _cspline1d, only=True, arrays=("signal",), cases=[case(sample(6)), case(sample(1))])
definition(
    signal.windows.tukey,
    _tukey,
    arrays=(),
    cases=[case(8, number()), case(7, 0.4, False), case(6, 1.2), case(5, 0.0), case(9, 0.3)],
)

# --- splines at places ------------------------------------------------------------------------------------------------


def _cubic(x):
    far = np.abs(x)
    inner, outer = 2.0 / 3.0 - 0.5 * far * far * (2.0 - far), (2.0 - far) ** 3 / 6.0
    return np.where(far < 1.0, inner, np.where(far < 2.0, outer, 0.0))


def _quadratic(x):
    far = np.abs(x)
    return np.where(far < 0.5, 0.75 - far * far, np.where(far < 1.5, 0.5 * (1.5 - far) ** 2, 0.0))


def _spline_at(cj, newx, dx, x0, bump, reach):
    """A spline as sums of bumps; the coefficients go on mirrored beyond the ends."""
    last = np.size(cj) - 1
    if last < 0:
        raise ValueError("Spline coefficients 'cj' must not be empty.")
    at = (np.asarray(newx) - x0) / dx
    turns = np.floor(at / (2.0 * max(last, 1)))
    folded = at - 2.0 * last * turns
    at = np.where(folded > last, 2.0 * last - folded, folded) if last > 0 else 0.0 * at
    low = np.floor(at - 0.5 * reach).astype(int) + 1
    return sum([np.take(cj, np.clip(low + i, 0, last)) * bump(at - (low + i)) for i in range(reach)])


def _lp2hp(b, a, wo=1.0):
    """Both polynomials backwards, their terms times powers of the frequency, and as long as each other."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    count = max(len(b), len(a))
    powers = wo ** np.arange(count)
    of_b = np.concatenate([np.flip(b) * powers[: len(b)], np.zeros(count - len(b))])
    of_a = np.concatenate([np.flip(a) * powers[: len(a)], np.zeros(count - len(a))])
    return signal.normalize(of_b, of_a)


definition(
    signal.cspline1d_eval,
    lambda cj, newx, dx=1.0, x0=0: _spline_at(cj, newx, dx, x0, _cubic, 4),
    arrays=("cj", "newx"),
    cases=[case(sample(5), np.array([0.3, 2.2, -0.7, 4.9, 11.3])), case(sample(5), np.array([1.4]), 0.5, 0.2)],
)
definition(
    signal.qspline1d_eval,
    lambda cj, newx, dx=1.0, x0=0: _spline_at(cj, newx, dx, x0, _quadratic, 3),
    arrays=("cj", "newx"),
    cases=[case(sample(5), np.array([0.3, 2.2, -0.7, 4.9, 11.3])), case(sample(5), np.array([1.4]), 0.5, 0.2)],
)
definition(
    signal.lp2hp,
    _lp2hp,
    arrays=("b", "a"),
    cases=[
        case(sample(2, kind="positive"), sample(3, kind="positive"), 2.0),
        case(sample(3, kind="positive"), sample(3, kind="positive")),
    ],
)
