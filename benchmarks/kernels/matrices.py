"""Factorisations, solvers and models on matrices."""

import numpy as np


def eliminated(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for i in range(n - 1):
        factors = a[i + 1 :, i] / a[i, i]
        a[i + 1 :, i:] -= np.outer(factors, a[i, i:])
        b[i + 1 :] -= factors * b[i]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x * x)


def reflected(a):
    a = a.copy()
    for k in range(a.shape[1]):
        v = a[k:, k].copy()
        v[0] += np.sqrt(v @ v)
        v = v / np.sqrt(v @ v)
        a[k:, k:] -= 2.0 * np.outer(v, v @ a[k:, k:])
    return np.sum(np.log(np.abs(np.diag(a))))


def factored(a):
    n = len(a)
    l = np.zeros((n, n))
    for j in range(n):
        l[j, j] = np.sqrt(a[j, j] - l[j, :j] @ l[j, :j])
        l[j + 1 :, j] = (a[j + 1 :, j] - l[j + 1 :, :j] @ l[j, :j]) / l[j, j]
    return np.sum(np.log(np.diag(l)))


def orthogonal(a):
    q = a.copy()
    for j in range(a.shape[1]):
        for i in range(j):
            q[:, j] -= (q[:, i] @ q[:, j]) * q[:, i]
        q[:, j] /= np.sqrt(q[:, j] @ q[:, j])
    return np.sum(q * a)


def power_step(v, a):
    v = a.T @ (a @ v)
    return v / np.sqrt(v @ v), a


def power_method(v, a):
    for _ in range(60):
        v, a = power_step(v, a)
    return v @ (a.T @ (a @ v))


def gaussian_process(x, y, length):
    distance = x[:, None] - x[None, :]
    k = np.exp(-0.5 * (distance / length) ** 2) + 0.01 * np.eye(len(x))
    l = np.linalg.cholesky(k)
    return 0.5 * y @ np.linalg.solve(k, y) + np.sum(np.log(np.diag(l)))


def implicit_step(u, a):
    return np.linalg.solve(a, u), a


def implicit(u, a):
    for _ in range(20):
        u, a = implicit_step(u, a)
    return u @ u


def newton_step(u, a):
    r = a @ u + u**3 - 1.0
    return u - np.linalg.solve(a + np.diag(3.0 * u**2), r), a


def newton(u, a):
    for _ in range(10):
        u, a = newton_step(u, a)
    return u @ u


def sinkhorn_step(f, g, cost):
    f = -np.log(np.mean(np.exp((g[None, :] - cost) / 0.1), axis=1)) * 0.1
    return f, -np.log(np.mean(np.exp((f[:, None] - cost) / 0.1), axis=0)) * 0.1, cost


def sinkhorn(f, g, cost):
    for _ in range(20):
        f, g, cost = sinkhorn_step(f, g, cost)
    return np.sum(f) + np.sum(g)


def logistic(w, x, y):
    z = x @ w
    return np.mean(np.log(1.0 + np.exp(-y * z))) + 0.01 * w @ w


def attention(q, k, v):
    scores = q @ k.T / 8.0
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return np.sum((weights / np.sum(weights, axis=1, keepdims=True) @ v) ** 2)


def recurrent_step(h, w, b, x):
    return np.tanh(h @ w + b + x), w, b, x


def recurrent(h, w, b, x):
    for _ in range(60):
        h, w, b, x = recurrent_step(h, w, b, x)
    return np.sum(h * h)


def filter_step(m, p, a, noise):
    m, p = a @ m, a @ p @ a.T + noise
    s = p[:4, :4] + np.eye(4)
    gain = np.linalg.solve(s, p[:4, :]).T
    return m + gain @ (0.5 - m[:4]), p - gain @ p[:4, :], a, noise


def kalman(m, p, a, noise):
    for _ in range(200):
        m, p, a, noise = filter_step(m, p, a, noise)
    return np.sum(m * m) + np.sum(p)


def triangle_by_columns(l, b):
    x = b.copy()
    for j in range(len(b)):
        x[j] = x[j] / l[j, j]
        x[j + 1 :] -= x[j] * l[j + 1 :, j]
    return np.sum(x * x)


def correlations(x):
    x = x - np.mean(x, axis=0)
    total = 0.0
    for i in range(x.shape[1] - 1):
        total += np.sum((x[:, i] @ x[:, i + 1 :]) ** 2)
    return total
