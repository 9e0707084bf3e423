"""Small scientific programs as people write them."""

import math
from dataclasses import dataclass

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@dataclass
class Body:
    x: float
    y: float
    vx: float
    vy: float
    mass: float


@program([Body(0.0, 0.0, 0.0, 0.1, 3.0), Body(1.0, 0.2, 0.0, 1.5, 0.5)], 0.01)
def two_body(bodies, dt):
    for _ in range(5):
        for b in bodies:
            ax, ay = 0.0, 0.0
            for o in bodies:
                if o is b:
                    continue
                dx, dy = o.x - b.x, o.y - b.y
                r3 = (dx * dx + dy * dy + 1e-3) ** 1.5
                ax += o.mass * dx / r3
                ay += o.mass * dy / r3
            b.vx += dt * ax
            b.vy += dt * ay
        for b in bodies:
            b.x += dt * b.vx
            b.y += dt * b.vy
    return bodies[0].x * bodies[1].y + bodies[1].x


@program(0.3, 0.05, 0.1)
def sir_epidemic(beta, gamma, infected):
    s, i, r = 1.0 - infected, infected, 0.0
    for _ in range(10):
        new = beta * s * i
        recovered = gamma * i
        s, i, r = s - new, i + new - recovered, r + recovered
    return i * i + r


@program(lambda rng: np.array([1.0, 0.5]), 0.1)
def lotka_volterra(z, h):
    def rhs(u):
        return np.array([u[0] * (1.0 - u[1]), u[1] * (u[0] - 1.0)])

    for _ in range(4):
        k1 = rhs(z)
        k2 = rhs(z + 0.5 * h * k1)
        z = z + h * k2
    return z


@program(np.array([10.0, 28.0, 8.0 / 3.0]), (1.0, 1.0, 1.0))
def lorenz(parameters, state):
    sigma, rho, beta = parameters
    x, y, z = state
    for _ in range(5):
        dx = sigma * (y - x)
        dy = x * (rho - z) - y
        dz = x * y - beta * z
        x, y, z = x + 0.01 * dx, y + 0.01 * dy, z + 0.01 * dz
    return x, y, z


@program(normal(3, 4))
def attention(x):
    scores = x @ x.T / np.sqrt(x.shape[1])
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    return np.sum((weights @ x) ** 2)


@program(normal(5), normal(5), 0.5)
def logistic_regression(x, w, b):
    margin = x @ w + b
    return math.log1p(math.exp(-margin)) + 0.1 * (w @ w)


@program([0.5, 0.2, -0.4], [1.0, 0.0, 1.0], 0.3)
def mean_squared_error(xs, ys, w):
    losses = [(w * x - y) ** 2 for x, y in zip(xs, ys)]
    return sum(losses) / len(losses)


@program(np.array([0.2, 0.5, 0.3]), lambda rng: rng.uniform(0.1, 1.0, size=(3, 3)))
def hidden_markov_forward(start, transition):
    emission = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    t = transition / np.sum(transition, axis=1, keepdims=True)
    alpha = start * emission[:, 0]
    log_likelihood = 0.0
    for symbol in (1, 0, 1, 1):
        alpha = (alpha @ t) * emission[:, symbol]
        scale = np.sum(alpha)
        alpha = alpha / scale
        log_likelihood += np.log(scale)
    return log_likelihood


@program(0.9, 0.2, 1.3)
def ar1_log_likelihood(phi, mu, sigma):
    data = [0.1, 0.4, -0.2, 0.3, 0.8]
    total = 0.0
    previous = data[0]
    for value in data[1:]:
        error = value - mu - phi * (previous - mu)
        total -= math.log(sigma) + 0.5 * (error / sigma) ** 2
        previous = value
    return total


@program(100.0, 105.0, 0.2, 0.05)
def binomial_option(spot, strike, volatility, rate):
    n = 4
    dt = 0.25
    u = math.exp(volatility * math.sqrt(dt))
    d = 1.0 / u
    p = (math.exp(rate * dt) - d) / (u - d)
    values = [max(spot * u**j * d ** (n - j) - strike, 0.0) for j in range(n + 1)]
    for step in range(n, 0, -1):
        values = [math.exp(-rate * dt) * (p * values[j + 1] + (1.0 - p) * values[j]) for j in range(step)]
    return values[0]


@program((0.3, -0.5, 0.8), (1.0, 0.7, 0.4))
def arm_kinematics(angles, lengths):
    x = y = total = 0.0
    for a, l in zip(angles, lengths):
        total += a
        x += l * math.cos(total)
        y += l * math.sin(total)
    return x, y


@program(normal(4))
def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@program([1.2, 0.3], 0.4)
def gradient_descent_by_hand(start, rate):
    a, b = start
    for _ in range(5):
        ga = 2.0 * (a - 1.0) + b
        gb = 4.0 * b + a
        a -= 0.1 * rate * ga
        b -= 0.1 * rate * gb
    return (a - 1.0) ** 2 + a * b + 2.0 * b * b


@program(0.3, 1.1)
def kepler_equation(mean_anomaly, scale):
    e = 0.4 * scale
    anomaly = mean_anomaly
    while True:
        delta = (anomaly - e * math.sin(anomaly) - mean_anomaly) / (1.0 - e * math.cos(anomaly))
        anomaly -= delta
        if abs(delta) < 1e-13:
            break
    return anomaly


@program(normal(6), normal(6))
def dynamic_time_warping(a, b):
    big = 1e6
    previous = [0.0] + [big] * len(b)
    for x in a:
        row = [big]
        for j, y in enumerate(b):
            row.append((x - y) ** 2 + min(row[j], previous[j], previous[j + 1]))
        previous = row
    return previous[-1]


@program(lambda rng: rng.uniform(0.2, 1.0, size=(2, 3)))
def sinkhorn(k):
    u = np.ones(2)
    for _ in range(3):
        v = 1.0 / (k.T @ u)
        u = 1.0 / (k @ v)
    return np.sum(u[:, None] * k * v[None, :] * k)


@program(0.1, 0.7)
def ray_sphere(dx, radius):
    norm = math.sqrt(dx * dx + 1.0)
    ux, uz = dx / norm, 1.0 / norm
    b = -3.0 * uz
    disc = b * b - (9.0 - radius * radius)
    if disc < 0:
        return 0.0
    t = -b - math.sqrt(disc)
    return t * ux + t


@program(normal(4, 3), normal(3), normal(3))
def batch_norm(x, gamma, beta):
    mean = np.mean(x, axis=0)
    var = np.mean((x - mean) ** 2, axis=0)
    return gamma * (x - mean) / np.sqrt(var + 1e-3) + beta


@program(normal(2, 2), normal(2, 2), normal(3, 2))
def lstm_like(w, u, xs):
    h, c = np.zeros(2), np.zeros(2)
    for x in xs:
        z = w @ h + u @ x
        gate = 1.0 / (1.0 + np.exp(-z))
        c = gate * c + (1.0 - gate) * np.tanh(z)
        h = gate * np.tanh(c)
    return h


@program(lambda rng: rng.normal(size=(5, 5)), lambda rng: rng.normal(size=(2, 2)))
def image_convolution(image, kernel):
    out = 0.0
    for i in range(4):
        for j in range(4):
            out += np.sum(image[i : i + 2, j : j + 2] * kernel) ** 2
    return out


@program(0.5, 0.25, 0.8)
def continued_fraction(a, b, c):
    value = 1.0
    for _ in range(6):
        value = a + b / (c + value)
    return value


@program(1.3)
def gamma_by_lanczos(x):
    coefficients = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155]
    t = x + 5.5
    t -= (x + 0.5) * math.log(t)
    s = 1.000000000190015
    y = x
    for c in coefficients:
        y += 1
        s += c / y
    return -t + math.log(2.5066282746310005 * s / x)
