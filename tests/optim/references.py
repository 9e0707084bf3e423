"""Optimizers in plain NumPy, one array at a time, written from their formulas and not from the library."""

import math

import numpy as np


def sgd(p, gradients, rate=0.01, momentum=0.0, decay=0.0, nesterov=False, weight_decay=0.0):
    v = np.zeros_like(p)
    for t, g in enumerate(gradients, 1):
        g = g + weight_decay * p
        lr = rate / (1 + decay * t)
        v = momentum * v - lr * g
        p = p + (momentum * v - lr * g if nesterov else v)
    return p


def rmsprop(p, gradients, rate=1e-3, rho=0.9, epsilon=1e-8, decay=0.0, weight_decay=0.0):
    a = np.zeros_like(p)
    for t, g in enumerate(gradients, 1):
        g = g + weight_decay * p
        a = rho * a + (1 - rho) * g**2
        p = p - rate / (1 + decay * t) * g / (np.sqrt(a) + epsilon)
    return p


def adagrad(p, gradients, rate=1e-3, start=0.1, epsilon=1e-8, weight_decay=0.0):
    a = np.full_like(p, start)
    for g in gradients:
        g = g + weight_decay * p
        a = a + g**2
        p = p - rate * g / (np.sqrt(a) + epsilon)
    return p


def adadelta(p, gradients, rate=1.0, rho=0.95, epsilon=1e-6, decay=0.0, weight_decay=0.0):
    a, d = np.zeros_like(p), np.zeros_like(p)
    for t, g in enumerate(gradients, 1):
        g = g + weight_decay * p
        a = rho * a + (1 - rho) * g**2
        s = g * np.sqrt(d + epsilon) / np.sqrt(a + epsilon)
        p = p - rate / (1 + decay * t) * s
        d = rho * d + (1 - rho) * s**2
    return p


def adam(p, gradients, rate=1e-3, b1=0.9, b2=0.999, epsilon=1e-8, decay=0.0, weight_decay=0.0, keep_largest=False):
    m, v, largest = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
    for t, g in enumerate(gradients, 1):
        g = g + weight_decay * p
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g**2
        largest = np.maximum(largest, v)
        lr = rate / (1 + decay * t) * math.sqrt(1 - b2**t) / (1 - b1**t)
        p = p - lr * m / (np.sqrt(largest if keep_largest else v) + epsilon)
    return p


def amsgrad(p, gradients, **options):
    return adam(p, gradients, keep_largest=True, **options)


def adamax(p, gradients, rate=0.002, b1=0.9, b2=0.999, epsilon=1e-8, decay=0.0, weight_decay=0.0):
    m, u = np.zeros_like(p), np.zeros_like(p)
    for t, g in enumerate(gradients, 1):
        g = g + weight_decay * p
        m = b1 * m + (1 - b1) * g
        u = np.maximum(b2 * u, np.abs(g))
        p = p - rate / (1 + decay * t) / (1 - b1**t) * m / (u + epsilon)
    return p


def radam(p, gradients, rate=1e-3, b1=0.9, b2=0.999, epsilon=1e-8, decay=0.0, weight_decay=0.0):
    m, v = np.zeros_like(p), np.zeros_like(p)
    longest = 2 / (1 - b2) - 1
    for t, g in enumerate(gradients, 1):
        g = g + weight_decay * p
        lr = rate / (1 + decay * t)
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g**2
        length = longest - 2 * t * b2**t / (1 - b2**t)
        if length >= 5:
            r = math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
            p = p - r * lr / (1 - b1**t) * math.sqrt(1 - b2**t) * m / (np.sqrt(v) + epsilon)
        else:
            p = p - lr / (1 - b1**t) * m
    return p


def lars(p, gradients, rate=0.01, momentum=0.9, trust=0.001, epsilon=0.0, weight_decay=0.0, nesterov=False):
    v = np.zeros_like(p)
    for g in gradients:
        p_norm, g_norm = np.linalg.norm(p), np.linalg.norm(g)
        scaled = rate * trust * p_norm / (g_norm + weight_decay * p_norm + epsilon) * (g + weight_decay * p)
        v = momentum * v + scaled
        p = p - (scaled + momentum * v if nesterov else v)
    return p


def adamw(p, gradients, rate=1e-3, b1=0.9, b2=0.999, epsilon=1e-8, weight_decay=0.01, corrects=True):
    m, v = np.zeros_like(p), np.zeros_like(p)
    for t, g in enumerate(gradients, 1):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g**2
        m_hat, v_hat = (m / (1 - b1**t), v / (1 - b2**t)) if corrects else (m, v)
        p = p - rate * weight_decay * p
        p = p - rate * m_hat / (np.sqrt(v_hat) + epsilon)
    return p


def lion(p, gradients, rate=1e-4, b1=0.9, b2=0.99, weight_decay=0.0):
    m = np.zeros_like(p)
    for g in gradients:
        step = np.sign(b1 * m + (1 - b1) * g) + weight_decay * p
        m = b2 * m + (1 - b2) * g
        p = p - rate * step
    return p
