"""Linear systems of ``scipy.signal``: their forms, their answers in time, and at frequencies.

A system is a tuple, an object from outside, or one of the classes here, which stand for SciPy's. Characteristic
polynomials are found without eigenvalues (Faddeev and Le Verrier), which have no derivatives where they meet.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import interpolate, linalg, signal

from adjoint import ir
from adjoint.rules.declare import case, constant, definition, sample
from adjoint.runtime.arithmetic.numbers import is_real
from adjoint.runtime.numerical_methods.of_scipy.signal import together

# --- roots that are taken for one -------------------------------------------------------------------------------------

constant(
    together,
    typed=lambda arguments: (
        ir.Array(np.dtype(np.float64), ("any", "any")),
        ir.Array(np.dtype(np.int64), ("any",)),
    ),
    results=2,
)

constant(signal.findfreqs, typed=lambda arguments: (ir.Array(np.dtype(np.float64), ("any",)),))


def _unique_roots(p, tol=1e-3, rtype="min"):
    if rtype not in ("max", "maximum", "min", "minimum", "avg", "mean"):
        raise NotImplementedError("this 'rtype'")
    roots = np.asarray(p)
    chosen, counts = together(roots, tol, rtype)
    return chosen @ roots, counts


definition(
    signal.unique_roots,
    _unique_roots,
    arrays=("p",),
    cases=[case(sample(3, kind="distinct")), case(np.array([1.0, 2.0, 1.0]), 0.1), case([1j, 2.0, 1j], rtype="avg")],
)

# --- forms ------------------------------------------------------------------------------------------------------------


class StateSpace:
    """A system by its matrices."""

    __adjoint_stands_for__ = signal.StateSpace

    def __init__(self, A, B, C, D, dt=None):
        self.A, self.B, self.C, self.D = [np.atleast_2d(np.asarray(part)) for part in (A, B, C, D)]
        self.dt = dt

    def to_ss(self):
        return self

    def to_tf(self):
        num, den = _ss2tf(self.A, self.B, self.C, self.D)
        return TransferFunction(num, den, self.dt)

    def step(self, X0=None, T=None, N=None):
        return _step(self, X0, T, N)

    def impulse(self, X0=None, T=None, N=None):
        return _impulse(self, X0, T, N)

    def output(self, U, T, X0=None):
        return _lsim(self, U, T, X0)

    def freqresp(self, w=None, n=10000):
        return _freqresp(self, w, n)

    def bode(self, w=None, n=100):
        return _bode(self, w, n)


class TransferFunction(StateSpace):
    """A system by the polynomials of a ratio."""

    __adjoint_stands_for__ = signal.TransferFunction

    def __init__(self, num, den, dt=None):
        self.num, self.den, self.dt = np.asarray(num), np.asarray(den), dt

    def to_ss(self):
        a, b, c, d = _tf2ss(self.num, self.den)
        return StateSpace(a, b, c, d, self.dt)

    def to_tf(self):
        return self


class ZerosPolesGain(StateSpace):
    """A system by the roots of a ratio, and its factor."""

    __adjoint_stands_for__ = signal.ZerosPolesGain

    def __init__(self, zeros, poles, gain, dt=None):
        self.zeros, self.poles, self.gain, self.dt = np.asarray(zeros), np.asarray(poles), gain, dt

    def to_tf(self):
        num, den = signal.zpk2tf(self.zeros, self.poles, self.gain)
        return TransferFunction(num, den, self.dt)

    def to_ss(self):
        return self.to_tf().to_ss()


def _system(parts, dt=None):
    if len(parts) == 2:
        return TransferFunction(parts[0], parts[1], dt)
    if len(parts) == 3:
        return ZerosPolesGain(parts[0], parts[1], parts[2], dt)
    if len(parts) == 4:
        return StateSpace(parts[0], parts[1], parts[2], parts[3], dt)
    raise ValueError("a system has 2, 3 or 4 parts")


def _known(system, steps=False):
    """An object for a system: one of the classes above; ``steps`` tells whether a tuple ends in its time step."""
    if isinstance(system, (tuple, list)):
        return _system(system[:-1], system[-1]) if steps else _system(system)
    if isinstance(system, (StateSpace, TransferFunction, ZerosPolesGain)):
        return system
    if isinstance(system, signal.StateSpace):
        return StateSpace(system.A, system.B, system.C, system.D, system.dt)
    if isinstance(system, signal.TransferFunction):
        return TransferFunction(system.num, system.den, system.dt)
    if isinstance(system, signal.ZerosPolesGain):
        return ZerosPolesGain(system.zeros, system.poles, system.gain, system.dt)
    raise NotImplementedError("this system")


def _monic(num, den):
    """Rows of numerators as long as the denominator, and the denominator, which begins with one."""
    rows, den = np.atleast_2d(num), np.atleast_1d(den)
    if den[0] == 0.0:
        raise ValueError("derivatives are known where the denominator begins with another number than zero")
    missing = np.size(den) - np.shape(rows)[1]
    if missing < 0:
        raise ValueError("Improper transfer function. `num` is longer than `den`.")
    rows = np.concatenate([np.zeros((np.shape(rows)[0], missing)), rows], axis=1)
    return rows / den[0], den / den[0]


def _tf2ss(num, den):
    rows, den = _monic(num, den)
    order = np.size(den) - 1
    if order == 0:
        raise ValueError("derivatives are known of systems with states")
    a = np.concatenate([-np.reshape(den[1:], (1, order)), np.eye(order - 1, order)])
    return a, np.eye(order, 1), rows[:, 1:] - np.outer(rows[:, 0], den[1:]), rows[:, :1]


def _characteristic(a):
    """The coefficients of the characteristic polynomial."""
    n = np.shape(a)[0]
    found, matrix = [np.ones(1)], np.eye(n)
    for k in range(1, n + 1):
        product = a @ matrix
        coefficient = -np.trace(product) / k
        found.append(np.reshape(coefficient, (1,)))
        matrix = product + coefficient * np.eye(n)
    return np.concatenate(found)


def _ss2tf(A, B, C, D, input=0):
    a, b, c, d = [np.atleast_2d(np.asarray(part)) for part in (A, B, C, D)]
    den = _characteristic(a)
    rows = []
    for k in range(np.shape(c)[0]):
        inner = _characteristic(a - np.outer(b[:, input], c[k]))
        rows.append(inner + (d[k, input] - 1.0) * den)
    return np.stack(rows), den


def _zpk2ss(z, p, k):
    return _tf2ss(*signal.zpk2tf(z, p, k))


def _normalize(b, a):
    """The denominator begins with one; of what begins with zero SciPy leaves that out, which changes by steps."""
    num, den = np.atleast_1d(b), np.atleast_1d(a)
    if np.ndim(num) != 1:
        raise ValueError("derivatives are known of one numerator")
    if den[0] == 0.0 or np.abs(num[0] / den[0]) <= 1e-14:
        raise ValueError("derivatives are known where the polynomials begin with another number than zero")
    return num / den[0], den / den[0]


def _tf2zpk(b, a):
    num, den = np.ravel(b), np.ravel(a)
    if num[0] == 0.0 or den[0] == 0.0:
        raise ValueError("derivatives are known where the polynomials begin with another number than zero")
    return np.roots(num), np.roots(den), num[0] / den[0]


def _lti(*system):
    return _system(system)


def _dlti(*system, dt=True):
    return _system(system, dt)


STATES = (
    np.array([[-0.5, 1.0], [-0.2, -0.7]]),
    np.array([[0.3], [1.0]]),
    np.array([[1.0, 0.4]]),
    np.array([[0.2]]),
)
NUM, DEN = np.array([1.0, 0.4]), np.array([2.0, 0.6, 1.2])
definition(signal.lti, _lti, arrays=())
definition(signal.dlti, _dlti, arrays=())
for _class in (signal.StateSpace, signal.TransferFunction, signal.ZerosPolesGain):
    definition(_class, lambda *system, dt=None: _system(system, dt), arrays=())
definition(signal.tf2ss, _tf2ss, arrays=("num", "den"), cases=[case(NUM, DEN), case(sample(3), DEN)])
definition(signal.ss2tf, _ss2tf, arrays=("A", "B", "C", "D"), cases=[case(*STATES), case(sample(2, 2), *STATES[1:])])
definition(signal.zpk2ss, _zpk2ss, arrays=("z", "p"), cases=[case(NUM[1:], DEN[1:], 1.5)])
definition(signal.normalize, _normalize, only=True, arrays=("b", "a"), cases=[case(NUM, DEN), case(DEN, NUM)])
definition(signal.tf2zpk, _tf2zpk, arrays=("b", "a"), cases=[case(NUM, DEN), case(DEN, DEN)])

# --- answers in time --------------------------------------------------------------------------------------------------


def _rows(u):
    """The inputs in rows, one for each time: a vector is the column of one input."""
    rows = np.atleast_1d(u)
    return rows[:, None] if np.ndim(rows) == 1 else rows


def _time_step(known):
    return 1.0 if known.dt is True else known.dt


def _narrow(rows):
    """Without the axis of one output or state."""
    return rows[:, 0] if np.shape(rows)[1] == 1 else rows


def _real(x):
    if is_real(x):
        return x
    if np.any(np.imag(x) != 0.0):
        raise ValueError("derivatives are known of systems whose coefficients are real")
    return np.real(x) + 0.0


def _lsim(system, U, T, X0=None, interp=True):
    known = _known(system).to_ss()
    a, b, c, d = _real(known.A), _real(known.B), _real(known.C), _real(known.D)
    times = np.atleast_1d(T)
    count, states, inputs = np.size(times), np.shape(a)[0], np.shape(b)[1]
    if count < 2:
        raise ValueError("derivatives are known of two points of time and more")
    if times[0] < 0:
        raise ValueError("Initial time must be nonnegative")
    dt = times[1] - times[0]
    if not np.allclose(np.diff(times), dt):
        raise ValueError("Time steps are not equally spaced.")
    start = np.zeros(states) if X0 is None else np.ravel(X0)
    x = np.zeros((count, states))
    x[0] = linalg.expm(a * times[0]) @ start
    if U is None or (isinstance(U, (int, float)) and U == 0.0):
        forth = linalg.expm(a * dt)
        for i in range(1, count):
            x[i] = forth @ x[i - 1]
        return times, _narrow(x @ np.transpose(c)), _narrow(x)
    rows = _rows(U)
    if np.shape(rows)[0] != count:
        raise ValueError("U must have the same number of rows as elements in T.")
    both = np.concatenate([a, b], axis=1) * dt
    if interp:
        above = np.concatenate([both, np.zeros((states, inputs))], axis=1)
        middle = np.concatenate([np.zeros((inputs, states + inputs)), np.eye(inputs)], axis=1)
        whole = linalg.expm(np.concatenate([above, middle, np.zeros((inputs, states + 2 * inputs))]))
        later = whole[:states, states + inputs :]
        forth, before = whole[:states, :states], whole[:states, states : states + inputs] - later
    else:
        whole = linalg.expm(np.concatenate([both, np.zeros((inputs, states + inputs))]))
        forth, before = whole[:states, :states], whole[:states, states:]
        later = np.zeros((states, inputs))
    for i in range(1, count):
        x[i] = forth @ x[i - 1] + before @ rows[i - 1] + later @ rows[i]
    return times, _narrow(x @ np.transpose(c) + rows @ np.transpose(d)), _narrow(x)


def _times(known, T, N):
    """The points of time that SciPy takes: as far as the slowest mode needs."""
    if T is not None:
        return np.asarray(T)
    slowest = np.min(np.abs(np.real(np.linalg.eigvals(known.A))))
    return np.linspace(0.0, 7.0 / np.where(slowest == 0.0, 1.0, slowest), 100 if N is None else N)


def _impulse(system, X0=None, T=None, N=None):
    known = _known(system).to_ss()
    start = np.ravel(known.B) if X0 is None else np.ravel(known.B) + X0
    times, y, _ = _lsim(known, None, _times(known, T, N), start)
    return times, y


def _step(system, X0=None, T=None, N=None):
    known = _known(system).to_ss()
    times = _times(known, T, N)
    _, y, _ = _lsim(known, np.ones(np.shape(times)), times, X0, False)
    return times, y


def _dlsim(system, u, t=None, x0=None):
    given = _known(system, steps=True)
    known = given.to_ss()
    a, b, c, d = _real(known.A), _real(known.B), _real(known.C), _real(known.D)
    dt = _time_step(known)
    rows = _rows(u)
    count = np.shape(rows)[0] if t is None else int(np.floor(t[-1] / dt)) + 1
    times = np.linspace(0.0, (count - 1) * dt if t is None else t[-1], count)
    if t is not None:
        rows = interpolate.make_interp_spline(t, rows, k=1)(times)
    x = np.zeros((count, np.shape(a)[0]))
    if x0 is not None:
        x[0] = np.asarray(x0)
    for i in range(1, count):
        x[i] = a @ x[i - 1] + b @ rows[i - 1]
    y = x @ np.transpose(c) + rows @ np.transpose(d)
    return (times, y, x) if isinstance(given, StateSpace) and hasattr(given, "A") else (times, y)


def _each_input(system, x0, t, n, held):
    """What a step, or an impulse, of each input is answered with."""
    known = _known(system, steps=True).to_ss()
    dt = _time_step(known)
    count, inputs = 100 if n is None else n, np.shape(known.B)[1]
    times = np.linspace(0.0, count * dt, count, endpoint=False) if t is None else np.asarray(t)
    answers = []
    for place in range(inputs):
        given = np.zeros((np.size(times), inputs))
        if held:
            given[:, place] = 1.0
        else:
            given[0, place] = 1.0
        answers.append(_dlsim(known, given, times, x0))
    return answers[0][0], tuple([answer[1] for answer in answers])


def _dstep(system, x0=None, t=None, n=None):
    return _each_input(system, x0, t, n, True)


def _dimpulse(system, x0=None, t=None, n=None):
    return _each_input(system, x0, t, n, False)


for _fn, _means in ((signal.dstep, _dstep), (signal.dimpulse, _dimpulse)):
    definition(
        _fn, _means, only=True, arrays=("x0", "t"), cases=[case((NUM, DEN, 0.5), n=4), case((*STATES, 0.5), n=3)]
    )
definition(
    signal.lsim,
    _lsim,
    only=True,
    arrays=("U", "T", "X0"),
    cases=[
        case(STATES, sample(5), np.linspace(0.0, 1.0, 5)),
        case((NUM, DEN), sample(5), np.linspace(0.2, 1.0, 5), np.array([0.3, -0.2]), False),
        case(STATES, None, np.linspace(0.0, 1.0, 5), sample(2)),
    ],
)
definition(
    signal.impulse,
    _impulse,
    only=True,
    arrays=("X0", "T"),
    cases=[case((NUM, DEN), T=np.linspace(0.0, 1.0, 5)), case(STATES)],
)
definition(
    signal.step,
    _step,
    only=True,
    arrays=("X0", "T"),
    cases=[case((NUM, DEN), T=np.linspace(0.0, 1.0, 5)), case(STATES, N=5)],
)
definition(
    signal.dlsim,
    _dlsim,
    only=True,
    arrays=("u", "t", "x0"),
    cases=[
        case((*STATES, 0.5), sample(4)),
        case((NUM, DEN, 0.5), sample(4)),
        case((*STATES, 0.5), sample(3), np.array([0.0, 0.9, 2.0]), sample(2)),
    ],
)

# --- answers at frequencies -------------------------------------------------------------------------------------------


def _ratio(known, at):
    """What the ratio of a system is at places of the complex plane."""
    ratio = known.to_tf()
    return np.polyval(np.ravel(ratio.num), at) / np.polyval(np.ravel(ratio.den), at)


def _freqresp(system, w=None, n=10000):
    if w is None:
        raise NotImplementedError("frequencies that SciPy chooses")
    return np.asarray(w), _ratio(_known(system), 1j * np.asarray(w))


def _dfreqresp(system, w=None, n=10000, whole=False):
    if w is None:
        raise NotImplementedError("frequencies that SciPy chooses")
    return np.array(w), _ratio(_known(system, steps=True), np.exp(1j * np.asarray(w)))


def _decibels(y):
    return 20.0 * np.log10(np.abs(y)), np.unwrap(np.arctan2(np.imag(y), np.real(y))) * 180.0 / np.pi


def _bode(system, w=None, n=100):
    w, y = _freqresp(system, w, n)
    return (w, *_decibels(y))


FREQUENCIES = np.array([0.1, 0.7, 2.0])
definition(
    signal.freqresp, _freqresp, only=True, arrays=("w",), cases=[case((NUM, DEN), sample(3)), case(STATES, FREQUENCIES)]
)
definition(
    signal.dfreqresp, _dfreqresp, only=True, arrays=("w",), cases=[case((NUM, DEN, 0.5), sample(3, kind="positive"))]
)
definition(signal.bode, _bode, only=True, arrays=("w",), cases=[case((NUM, DEN), sample(3, kind="positive"))])
