"""Derivatives that are zero whatever the argument: warned of."""

import math

import adjoint as ad
import numpy as np


#: ad.grad(constant)(2.0)
def constant(x):  # warning[AD0501]: nothing of 'x' reaches the result
    return math.sqrt(3.0)


#: ad.grad(unused, wrt=(0, 1))(2.0, 1.0)
def unused(x, y):  # warning[AD0501]: nothing of 'y' reaches the result
    return x * 2


#: ad.grad(steps)(2.0)
def steps(x):  # warning[AD0501]: 'x' only decides which way the function takes
    return 1.0 if x > 0 else 0.0


#: ad.grad(truncated)(2.0)
def truncated(x):
    return 2.0 * int(x)  # warning[AD0502]: what depends on 'x' goes through this


#: ad.grad(rounded)(1.234)
def rounded(x):
    return 2.0 * round(x, 2)  # warning[AD0502]: what depends on 'x' goes through this


#: ad.grad(rounded_in_part)(1.234)
def rounded_in_part(x):
    return round(3.0 * x, 2) + x * x  # warning[AD0512]: this is rounded to decimals, and counts as a constant


#: ad.grad(rounded_for_the_value)(1.234)
def rounded_for_the_value(x):
    y = 3.0 * x
    return y + ad.stop_gradient(round(y, 2) - y) + x * x


#: ad.value_and_grad(floored)(np.ones(3))
def floored(x):
    return np.sum(np.floor(x))  # warning[AD0502]: what depends on 'x' goes through this


#: ad.grad(only_in_part)(2.0)
def only_in_part(x):
    return x * int(x)


#: ad.grad(used_through_memory)(np.ones(3))
def used_through_memory(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] + math.floor(x[i])
    return y.sum()
