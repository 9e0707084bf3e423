"""The functions that the sketches of the reference cases use, in plain NumPy."""

import numpy as np

import adjoint as ad
from adjoint import nn

absolute = np.abs
acos = np.arccos
acosh = np.arccosh
asin = np.arcsin
asinh = np.arcsinh
atan = np.arctan
atanh = np.arctanh
cos = np.cos
cosh = np.cosh
exp = np.exp
expm1 = np.expm1
log = np.log
log1p = np.log1p
maximum = np.maximum
minimum = np.minimum
sin = np.sin
sinh = np.sinh
sqrt = np.sqrt
tan = np.tan
tanh = np.tanh
stop = ad.stop_gradient
without_derivative = ad.stop_gradient


def squared(x):
    return x * x


def rsqrt(x):
    return 1.0 / np.sqrt(x)


def relu(x):
    return np.maximum(x, 0.0)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0)


def rsum(x, axis=None, keepdims=False):
    return np.sum(x, axis=axis, keepdims=keepdims)


def rmean(x, axis=None, keepdims=False):
    return np.mean(x, axis=axis, keepdims=keepdims)


def rprod(x, axis=None, keepdims=False):
    return np.prod(x, axis=axis, keepdims=keepdims)


def rmax(x, axis=None, keepdims=False):
    return np.max(x, axis=axis, keepdims=keepdims)


def rmin(x, axis=None, keepdims=False):
    return np.min(x, axis=axis, keepdims=keepdims)


def rvar(x, axis=None, keepdims=False):
    mean = np.mean(x, axis=axis, keepdims=True)
    return np.mean((x - mean) ** 2, axis=axis, keepdims=keepdims)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def log_softmax(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def _map(f, x):
    return np.array([f(v) for v in x.ravel()]).reshape(x.shape)


def pad(x, widths):
    return np.pad(x, widths)


def convnd(x, filter, strides, padding="valid", dilations=None):
    return nn.convolution(x, filter, strides=strides, padding=padding, dilations=dilations)


def depthwise_conv2d(x, filter, strides, padding):
    return nn.depthwise_convolution(x, filter, strides=strides, padding=padding)


def transposed_conv2d(x, filter, strides):
    return nn.transposed_convolution(x, filter, strides=strides, padding="same")


def pool(x, window, strides, kind):
    return nn.max_pool(x, window, strides) if kind == "max" else nn.avg_pool(x, window, strides)
