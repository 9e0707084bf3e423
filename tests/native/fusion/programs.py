"""Programs made of array statements, each with the shapes it takes: one letter for each extent."""

import numpy as np

PROGRAMS = {}


def takes(*shapes):
    def register(function):
        PROGRAMS[function.__name__] = (function, shapes)
        return function

    return register


@takes("i")
def polynomial(x):
    y = 1.0 + x * (2.0 + x * (3.0 + x * 4.0))
    return np.sum(y * y)


@takes("i")
def log_sum_exp(x):
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


@takes("ik", "jk")
def nearest(points, centres):
    apart = points[:, None, :] - centres[None, :, :]
    return np.sum(np.min(np.sum(apart * apart, axis=2), axis=1))


@takes("ij", "j", "ij")
def log_softmax(z, b, weights):
    z = z + b
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(np.sum(log_p * weights, axis=1))


@takes("ij", "j", "i")
def linear_model(a, x, b):
    r = a @ x - b
    return 0.5 * np.sum(r * r)


@takes("ij")
def standardised(x):
    mean = np.mean(x, axis=0)
    centred = x - mean
    spread = np.sqrt(np.mean(centred**2, axis=0) + 0.1)
    return np.sum(np.tanh(centred / spread) ** 3)


@takes("ij", "ji")
def transposed(a, b):
    return np.sum((a * 2.0 + b.T) * np.transpose(b) - a.T.sum(axis=0, keepdims=True).T)


@takes("ij")
def both_ways(x):
    rows = np.sum(x, axis=1, keepdims=True)
    columns = np.sum(x, axis=0)
    return np.sum(x * rows * columns) + np.sum(rows) * np.max(columns)


@takes("i", "i")
def chosen(x, y):
    low = np.where(x > y, x * y, y - x)
    return np.sum(np.maximum(low, 0.25) + np.minimum(x, y) * np.abs(x) + np.clip(x, -0.5, 0.5))


@takes("ijk", "k", "jk")
def three_axes(x, a, b):
    y = x * a + b
    z = np.mean(y, axis=(0, 2))
    return np.sum(np.exp(-(z**2))) + np.sum(np.max(y, axis=1))


@takes("i")
def written(x):
    y = np.zeros_like(x)
    y[:] = x * x
    y += np.sin(x)
    y *= 2.0
    return np.sum(y * x)


@takes("ij", "j")
def written_rows(x, b):
    y = np.zeros(x.shape)
    y[:, :] = x + b
    y[0] = b * b
    y[:, 0] += 1.0
    return np.sum(y * y)


@takes("i")
def neighbours(x):
    d = x[1:] - x[:-1]
    return np.sum(d * d) + np.sum(x[2:] * 0.5)


@takes("i")
def read_then_written(x):
    y = x.copy()
    z = y * 3.0
    y[:] = x * x
    return np.sum(z * y)


@takes("i")
def shifted_in_place(x):
    y = x.copy()
    y[1:] = 2.0 * y[:-1]
    y[1:] += y[:-1]
    return np.sum(y * y)


@takes("ij", "j")
def rows_in_a_loop(x, w):
    total = 0.0
    state = np.zeros(w.shape)
    for i in range(len(x)):
        state = np.tanh(state * 0.5 + x[i] * w)
        total = total + np.sum(state * x[i])
    return total


@takes("ij", "j")
def weighted_rows(x, w):
    total = 0.0
    for i in range(len(x)):
        total += np.sum(x[i] * w)
    return total


@takes("ij", "j")
def buffer_in_a_loop(x, w):
    state = np.zeros(w.shape)
    for i in range(len(x)):
        row = x[i] - state
        state[:] = state + 0.1 * row * w
    return np.sum(state * state)


@takes("i", "")
def with_a_number(x, a):
    y = a * x + a
    return np.sum(y / (1.0 + x * x)) * a


@takes("ij", "ij")
def ratios(x, y):
    return np.mean(x / (1.0 + y * y)) + np.mean(np.exp(x) ** 0.5, axis=0).sum() + np.sqrt(np.sum(y**2) + 1.0)


@takes("i", "j")
def outer(x, y):
    table = x[:, None] * y - y
    return np.sum(np.log1p(table**2)) + np.sum(np.min(0.1 * table + 1.0, axis=1))


@takes("i")
def branches(x):
    y = x * x
    if np.sum(y) > 3.0:
        z = y - 1.0
    else:
        z = np.exp(-y)
    return np.sum(z * x)


@takes("ij")
def flags(x):
    positive = x > 0
    return np.sum(x * positive) + np.sum(np.where(np.any(positive, axis=1), 2.0, 3.0) * x[:, 0])


@takes("ij", "")
def heat(u, rate):
    u = u.copy()
    for _ in range(3):
        inside = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += rate * inside
    return np.sum(u**3)


@takes("i")
def ends(x):
    y = np.zeros(len(x) + 2)
    y[1 : len(x) + 1] = x * x
    return np.sum(y[: len(x)] * x) + np.sum(y[2:] * x)


@takes("i")
def only_finite(x):
    root = np.sqrt(x)
    return np.sum(np.where(np.isnan(root), -x, root) * np.isfinite(x))


@takes("ij", "ij")
def squeezed(x, y):
    columns = np.max(x, axis=0, keepdims=True)
    rows = np.sum(y, axis=1, keepdims=True)
    down = np.squeeze(columns, 0) + np.log(np.sum(np.exp(x - columns), axis=0))
    return np.sum(down * y) + np.sum(np.squeeze(rows, axis=-1) ** 2) + np.max(x, keepdims=True).squeeze()


@takes("ij", "j")
def reshaped(x, b):
    columns = np.min(x, axis=0, keepdims=True)
    column = np.reshape(columns, (-1, 1)) * b
    return np.sum(np.reshape(x * b, -1) ** 2) + np.sum(np.tanh(column)) + np.sum(x.T.reshape(x.shape) * columns)


@takes("ij", "k")
def into_parts_of_rows(x, y):
    out = np.zeros((x.shape[0], 5))
    for i in range(x.shape[0]):
        out[i, :3] = x[i]
        out[i, 2:] = y
        out[i, 1:] += y
        out[i, :1] = x[i]
    return np.sum(out * out * out)


@takes("ij", "ij")
def rolled(x, y):
    around = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -2, -1)
    return np.sum((around - 4.0 * x) * y) + np.sum(np.roll(x * y, (1, -1), (0, 1)) ** 2)


@takes("i", "i")
def rolled_and_sliced(x, y):
    ahead = np.roll(x, -1) - x
    slope = np.where(ahead * y > 0.0, ahead, np.roll(np.roll(ahead, 2), 1))
    return np.sum(np.roll(slope, 1)[1:] * y[:-1]) + np.max(np.roll(y, 7) * x)


@takes("ij", "j")
def rolled_and_spread(x, b):
    return np.sum(np.roll(b, 1) * x) + np.sum(np.exp(np.roll(x, -1, 1)) * np.roll(np.sum(x, axis=0), 2))


@takes("i", "i")
def rolled_in_steps(u, speed):
    for _ in range(3):
        u = u - 0.1 * speed * (u - np.roll(u, 1))
    return np.sum(u * u)


@takes("ij", "kl")
def windows(image, weights):
    rows, columns = image.shape[0] - weights.shape[0] + 1, image.shape[1] - weights.shape[1] + 1
    out = np.zeros((rows, columns))
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            out = out + weights[i, j] * image[i : i + rows, j : j + columns]
    return np.sum(out * out)


@takes("i", "")
def running(x, scale):
    total = 0.0
    for i in range(1, len(x) - 2):
        total += np.sum((x[i : i + 3] * scale - x[i - 1 : i + 2]) ** 2) * x[i]
    return total


@takes("ij", "i")
def columns_below(l, b):
    x = b.copy()
    for j in range(min(len(b), l.shape[1])):
        x[j + 1 :] -= x[j] * l[j + 1 :, j]
    return np.sum(x * x)


@takes("ij")
def rows_above(x):
    x = x.copy()
    for i in range(1, x.shape[0]):
        x[i, 1:i] += x[i - 1, : i - 1] * 0.5
        x[i, i:] *= x[i, 0]
    return np.sum(np.sin(x))


@takes("i", "i", "i")
def quotient_of_polynomials(t, s, p):
    slow = t * np.tanh(t)
    other = np.sqrt(s * s + 1.0)
    stiff = 2.0 + p * p * slow * slow
    return np.sum((slow * slow + s * other * other) / (1.0 + p / stiff))


@takes("i", "i")
def read_before_it_is_overwritten(x, y):
    a = x.copy()
    early = np.exp(np.tanh(a))
    other = np.tanh(y)
    a[1:] = y[1:] * other[1:]
    late = early * other * early + np.sin(a)
    a[:-1] += late[1:]
    return np.sum(late * early + a * other)
