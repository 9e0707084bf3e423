"""Programs whose derivatives are kept as text beside this file, so that their readability is reviewed.

Each entry of ``GOLDEN`` is a name, what makes the derivative's text, and nothing else: to add one, write the function,
add a line, run ``make golden`` and read what it wrote.
"""

import math
from dataclasses import dataclass

import numpy as np

import adjoint as ad
from golden.programs_of_functions import TEXTS


def damped(x, k):
    e = math.exp(-k * x)
    return e * math.sin(x)


def huber(r, delta):
    a = abs(r)
    if a <= delta:
        loss = 0.5 * r * r
    else:
        loss = delta * (a - 0.5 * delta)
    return loss


def energy(x, w):
    total = 0.0
    for i in range(len(x)):
        d = x[i] - w[i]
        if d > 0:
            total += d * d
        else:
            total -= d
    return total


def logistic(y, r, n):
    for _ in range(n):
        y = r * y * (1.0 - y)
    return y


def newton(a, x):
    while True:
        step = (x * x - a) / (2.0 * x)
        x = x - step
        if abs(step) < 1e-12:
            return x


def products(a, b):
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * math.sin(b[k, j])
    return np.sum(out * out)


def smooth(u, c):
    u = u.copy()
    for i in range(1, len(u)):
        u[i] = u[i] + c * u[i - 1] * u[i]
    return u @ u


@dataclass
class Dense:
    w: np.ndarray
    b: np.ndarray


def loss(layer, x, y):
    h = np.tanh(x @ layer.w + layer.b)
    r = h - y
    return np.mean(r * r)


def horner(coefficients, x):
    value = 0.0
    for c in coefficients:
        value = value * x + c
    return value


def product(x):
    p = 1.0
    for i in range(len(x)):
        p *= x[i]
    return p


def fibonacci_like(x, y, n):
    for _ in range(n):
        x, y = y, x * y + 1.0
    return x


def first_above(x, bound):
    for i in range(100):
        x = x * 1.5
        if x > bound:
            return x * i
    return 0.0


def collatz_like(x):
    steps = 0
    while x > 1.0:
        if x > 3.0:
            x = x / 2.0
        else:
            x = x * 0.75
            if x < 0.5:
                break
        steps += 1
    return x * steps


def appended(x, n):
    xs = [x]
    for i in range(n):
        xs.append(xs[i] * x)
    return xs[n]


def sum_of_squares(xs):
    return sum(x * x for x in xs)


def factorial_like(x, n):
    if n == 0:
        return 1.0
    return x * factorial_like(x, n - 1)


def clamp(x, low, high):
    return low if x < low else high if x > high else x


def polar(x, y):
    def norm(a, b):
        return math.sqrt(a * a + b * b)

    r = norm(x, y)
    return r * math.atan2(y, x)


def matched(shape):
    match shape:
        case ("circle", r):
            return math.pi * r * r
        case ("rectangle", a, b):
            return a * b
        case _:
            raise ValueError(shape)


@dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __rmul__(self, factor):
        return Vector(factor * self.x, factor * self.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


def thrown(position, velocity, n):
    gravity = Vector(0.0, -9.81)
    for _ in range(n):
        velocity = velocity + 0.01 * gravity
        position = position + 0.01 * velocity
    return position.dot(position)


def weighted(parameters, x):
    return parameters["scale"] * math.tanh(parameters["shift"] + x)


def recurrent(w, u, xs):
    h = np.zeros(w.shape[0])
    for x in xs:
        h = np.tanh(w @ h + u * x)
    return np.sum(h)


def softmax_cross_entropy(logits, target):
    shifted = logits - np.max(logits)
    return np.log(np.sum(np.exp(shifted))) - shifted[target]


def distances(a, b):
    difference = a[:, None] - b[None, :]
    return np.sum(np.sqrt(1.0 + difference**2))


def lorenz(x, y, z, n):
    for _ in range(n):
        dx = 10.0 * (y - x)
        dy = x * (28.0 - z) - y
        dz = x * y - 8.0 / 3.0 * z
        x, y, z = x + 0.01 * dx, y + 0.01 * dy, z + 0.01 * dz
    return x


def captured_variable(x):
    return x * ad.grad(lambda y: x * y * y)(x)


def scatter(x, where):
    bins = np.zeros(3)
    for i in range(len(x)):
        bins[where[i]] += x[i] * x[i]
    return np.sum(bins**2)


def nested_loops(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(i):
            total += a[i, j] * a[j, i]
    return total


def heat(u, steps, dt):
    for _ in range(steps):
        u[1:-1] += dt * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def burgers(u, steps, dt):
    u = u.copy()
    for _ in range(steps):
        u[1:] -= dt * u[1:] * (u[1:] - u[:-1])
    return np.sum(u**2)


def wave(u, steps, c):
    before, now = u.copy(), u.copy()
    for _ in range(steps):
        after = np.zeros_like(u)
        after[1:-1] = 2.0 * now[1:-1] - before[1:-1] + c * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        before, now = now, after
    return np.sum(now**2)


def forward_substitution(a, b):
    x = np.zeros(len(b))
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s -= a[i, j] * x[j]
        x[i] = s / a[i, i]
    return np.sum(x)


def prefix_products(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] *= y[i - 1]
    return y[-1]


def halving(x, n):
    t = 0.0
    for _ in range(n):
        yield t, x
        t += x
        x *= 0.5


def moment(x, n):
    total = 0.0
    for t, dt in halving(x, n):
        total += t * t * dt
    return total


def iterates(a):
    x = a
    while True:
        yield x
        x = 0.5 * (x + a / x)


def root_by_iterates(a):
    for x in iterates(a):
        if abs(x * x - a) < 1e-12:
            return x


V = np.array([1.0, 2.0, 3.0])
M = np.array([[1.0, 2.0], [3.0, 4.0]])
LAYER = Dense(np.ones((3, 2)), np.zeros(2))
BATCH = (np.ones((5, 3)), np.ones((5, 2)))


def halves_sorted(a):
    if len(a) <= 1:
        return a
    middle = len(a) // 2
    left, right = halves_sorted(a[:middle]), halves_sorted(a[middle:])
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    return out + left[i:] + right[j:]


def sorted_by_merging(a):
    return sum(k * item for k, item in enumerate(halves_sorted(a)))


def powers(x, n):
    if n == 0:
        return [1.0]
    found = powers(x, n - 1)
    found.append(found[-1] * x)
    return found


def sum_of_powers(x, n):
    return sum(powers(x, n))


def chained(x, y):
    slope = np.empty(len(x))
    slope[0] = x[0]
    for i in range(1, len(x)):
        slope[i] = x[i] * y[i - 1]
    return slope


def by_heun(x, steps):
    h = 1.0 / steps
    y = np.zeros(len(x))
    for _ in range(steps):
        first = chained(x, y)
        y = y + 0.5 * h * (first + chained(x, y + h * first))
    return y[-1]


def vibrating(c, steps):
    n = len(c)
    u, v = np.cos(np.arange(n)), np.zeros(n)
    for _ in range(steps):
        a = np.zeros(n)
        for i in range(1, n - 1):
            a[i] = c[i] * (u[i + 1] - 2 * u[i] + u[i - 1])
        for i in range(n):
            v[i] += 0.1 * a[i]
        for i in range(n):
            u[i] += 0.1 * v[i]
    return np.sum(u * u)


GOLDEN = {
    "damped_grad": lambda: ad.source(ad.grad(damped, wrt=("x", "k")), 0.7, 0.3),
    "damped_jvp": lambda: ad.source(ad.jvp, damped, (0.7, 0.3), (1.0, 2.0)),
    "damped_second": lambda: ad.source(ad.grad(ad.grad(damped)), 0.7, 0.3),
    "huber_grad": lambda: ad.source(ad.grad(huber), 0.4, 1.0),
    "huber_vjp": lambda: ad.source(ad.vjp(huber, 0.4, 1.0)[1]),
    "energy_grad": lambda: ad.source(ad.grad(energy, wrt=("x", "w")), V, V),
    "energy_value_and_grad": lambda: ad.source(ad.value_and_grad(energy, wrt=("x", "w")), V, V),
    "logistic_grad": lambda: ad.source(ad.grad(logistic, wrt=("y", "r")), 0.3, 3.1, 8),
    "logistic_jvp": lambda: ad.source(ad.jvp, logistic, (0.3, 3.1, 8), (1.0, None, None)),
    "newton_grad": lambda: ad.source(ad.grad(newton), 2.0, 1.0),
    "products_grad": lambda: ad.source(ad.grad(products, wrt=("a", "b")), np.ones((2, 3)), np.ones((3, 2))),
    "smooth_grad": lambda: ad.source(ad.grad(smooth, wrt=("u", "c")), V, 0.3),
    "loss_grad": lambda: ad.source(ad.grad(loss), LAYER, *BATCH),
    "horner_grad": lambda: ad.source(ad.grad(horner, wrt="x"), [1.0, 2.0, 3.0], 0.5),
    "product_grad": lambda: ad.source(ad.grad(product), V),
    "fibonacci_like_grad": lambda: ad.source(ad.grad(fibonacci_like, wrt=(0, 1)), 0.5, 0.25, 5),
    "first_above_grad": lambda: ad.source(ad.grad(first_above), 1.0, 20.0),
    "collatz_like_grad": lambda: ad.source(ad.grad(collatz_like), 7.3),
    "appended_grad": lambda: ad.source(ad.grad(appended), 1.1, 3),
    "sum_of_squares_grad": lambda: ad.source(ad.grad(sum_of_squares), [1.0, 2.0]),
    "factorial_like_grad": lambda: ad.source(ad.grad(factorial_like), 1.5, 4),
    "clamp_grad": lambda: ad.source(ad.grad(clamp), 0.5, 0.0, 1.0),
    "polar_grad": lambda: ad.source(ad.grad(polar, wrt=(0, 1)), 1.0, 2.0),
    "matched_grad": lambda: ad.source(ad.grad(matched), ("rectangle", 2.0, 3.0)),
    "thrown_grad": lambda: ad.source(ad.grad(thrown, wrt=(0, 1)), Vector(0.0, 0.0), Vector(1.0, 1.0), 10),
    "weighted_grad": lambda: ad.source(ad.grad(weighted), {"scale": 2.0, "shift": 0.1}, 0.5),
    "recurrent_grad": lambda: ad.source(ad.grad(recurrent, wrt=("w", "u")), M, np.ones(2), V),
    "softmax_cross_entropy_grad": lambda: ad.source(ad.grad(softmax_cross_entropy), V, 1),
    "distances_grad": lambda: ad.source(ad.grad(distances, wrt=(0, 1)), V, V),
    "lorenz_grad": lambda: ad.source(ad.grad(lorenz, wrt=(0, 1, 2)), 1.0, 1.0, 1.0, 100),
    "captured_variable_grad": lambda: ad.source(ad.grad(captured_variable), 1.5),
    "scatter_grad": lambda: ad.source(ad.grad(scatter), V, np.array([0, 2, 0])),
    "heat_grad": lambda: ad.source(ad.grad(heat), np.ones(9), 10, 0.1),
    "burgers_grad": lambda: ad.source(ad.grad(burgers), np.ones(9), 10, 0.1),
    "wave_grad": lambda: ad.source(ad.grad(wave, wrt=("u", "c")), np.ones(9), 10, 0.1),
    "forward_substitution_grad": lambda: ad.source(ad.grad(forward_substitution, wrt=("a", "b")), M, np.ones(2)),
    "prefix_products_grad": lambda: ad.source(ad.grad(prefix_products), V),
    "moment_grad": lambda: ad.source(ad.grad(moment), 0.7, 4),
    "moment_jvp": lambda: ad.source(ad.jvp, moment, (0.7, 4), (1.0, None)),
    "root_by_iterates_grad": lambda: ad.source(ad.grad(root_by_iterates), 2.0),
    "root_by_iterates_jvp": lambda: ad.source(ad.jvp, root_by_iterates, (2.0,), (1.0,)),
    "sorted_by_merging_grad": lambda: ad.source(ad.grad(sorted_by_merging), [3.0, 1.0, 2.0]),
    "sum_of_powers_grad": lambda: ad.source(ad.grad(sum_of_powers), 1.1, 3),
    "by_heun_grad": lambda: ad.source(ad.grad(by_heun), V, 10),
    "nested_loops_grad": lambda: ad.source(ad.grad(nested_loops), M),
    **TEXTS,
}
