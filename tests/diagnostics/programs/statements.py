"""Statements that have no derivative."""

import numpy as np

import adjoint as ad


#: ad.grad(coroutine_inside)(2.0)
def coroutine_inside(x):
    async def later():  # error[AD0301]: 'async def' is not supported here
        return x

    return x * 2


#: ad.grad(yield_in_lambda)(2.0)
def yield_in_lambda(x):
    return list((lambda: (yield x))())[0]  # error[AD0104]: a 'lambda' that yields is not supported


#: ad.grad(exception_group)(2.0)
def exception_group(x):
    try:  # error[AD0301]: 'except*' is not supported here
        y = x * x
    except* ValueError:
        y = x
    return y


#: ad.grad(read_after_delete)(2.0)
def read_after_delete(x):
    y = x * x
    del y
    return y  # error[AD0304]: 'y' is read before it is assigned


#: ad.grad(unbound_name)(2.0)
def unbound_name(x):
    return x * unheard_of  # error[AD0310]: nothing is called 'unheard_of' here


#: ad.grad(evaluated)(2.0)
def evaluated(x):
    return eval("x * x")  # error[AD0301]: variables are read or written here by names that are not in the source


#: ad.grad(executed)(2.0)
def executed(x):
    exec("y = x")  # error[AD0301]: variables are read or written here by names that are not in the source
    return x


#: ad.grad(assigned_in_try)(2.0, 1.0)
def assigned_in_try(y, w):
    pair = (y, y)
    try:  # error[AD0308]: 'pair' is assigned before a statement that may raise: what it is then depends on where
        pair = (y * 2, y)
        z = 1 / w
    except ZeroDivisionError:
        z = 0.0
    return pair[0] * z


#: ad.grad(new_in_try)(2.0, 1.0)
def new_in_try(x, w):
    try:
        y = [x * 2]
        z = 1 / w
    except ZeroDivisionError:
        z = y[0]  # error[AD0308]: what 'y' holds here depends on where the exception was raised
    return z * x


#: ad.grad(recursion_in_try)(2.0, np.ones(3), 0)
def recursion_in_try(x, a, n):
    try:  # error[AD0308]: memory that varies is written here, before an exception that is handled
        filled(a, x, n)
    except ValueError:
        pass
    return a[0] * a[1]


def filled(a, x, i):
    a[i] = x / (i + 1.0)
    if a[i] > 10.0:
        raise ValueError
    if i < 2:
        filled(a, x, i + 1)


#: ad.grad(three_problems)(2.0)
def three_problems(x):
    async def later():  # error[AD0301]: 'async def' is not supported here
        pass

    y = scale(x)  # error[AD0203]: scale() is not given 'factor'
    z = float.fromhex(x.hex())  # error[AD0204]: a number that varies comes back from text here
    return x + y + z


def scale(x, factor):
    return x * factor


#: ad.grad(problem_in_each_branch)(2.0)
def problem_in_each_branch(x):
    if x > 0:
        y = scale(x)  # error[AD0203]: scale() is not given 'factor'
    else:
        y = scale(x, 1.0, 2.0)  # error[AD0203]: scale() takes 2 arguments, 3 are given
    return y
