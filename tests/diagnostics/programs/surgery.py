"""Derivative surgery: what is refused, and what is warned of."""

import adjoint as ad
import numpy as np

seen = []


#: ad.grad(a_text)(2.0)
def a_text(x):
    x = ad.with_derivative(x, lambda ct: "clipped")  # error[AD0230]: this returns 'clipped', not a number
    return x * x


#: ad.grad(an_array)(2.0)
def an_array(x):
    x = ad.with_derivative(x, lambda ct: np.ones(3))  # error[AD0230]: this returns an array of rank 1, not a number
    return x * x


#: ad.grad(one_of_two)(2.0)
def one_of_two(x):
    y, z = ad.with_derivative((x, x * x), lambda ct: ct[0])  # error[AD0230]: this returns a number, not a tuple of 2
    return y * z


#: ad.grad(no_function)(2.0)
def no_function(x):
    x = ad.with_derivative(x, 1.0)  # error[AD0230]: this is the number 1.0, not a function of the cotangent
    return x * x


#: ad.grad(one_argument)(2.0)
def one_argument(x):
    x = ad.with_derivative(x)  # error[AD0203]: ad.with_derivative takes a value and a function of its cotangent
    return x * x


#: ad.grad(a_list)([2.0, 3.0])
def a_list(xs):
    xs = ad.with_derivative(xs, sum)  # error[AD0230]: this is a list whose items are told apart when the program runs
    return xs[0] * xs[-1]


#: ad.jvp(clipped, (2.0,), (1.0,))
def clipped(x):
    x = ad.with_derivative(x, lambda ct: max(ct, 0.0))  # error[AD0208]: forward mode has no cotangents: the function is transposed here, and is not known to be linear
    return x * x


#: ad.grad(another_name)(2.0)
def another_name(x):
    y = np.zeros(2)
    y[0] = x
    z = ad.with_derivative(y, np.negative)  # error[AD0303]: what 'with_derivative' returns is not its own, and is written
    y[1] = x * x
    return np.sum(y * z)


#: ad.grad(read_before)(2.0)
def read_before(x):
    count = len(seen)
    x = ad.with_derivative(x, seen.append)  # error[AD0303]: the function of the cotangent writes what it captures
    return x * x + count


#: ad.grad(not_used)(2.0)
def not_used(x):
    ad.with_derivative(x, np.negative)  # warning[AD0507]: this does not reach the result
    return x * x


#: ad.grad(by_another)(2.0, 3.0)
def by_another(x, y):
    y = ad.with_derivative(y, np.negative)  # warning[AD0507]: nothing that is differentiated reaches this
    return x * y


#: ad.grad(of_a_constant)(2.0)
def of_a_constant(x):
    return x * ad.with_derivative(3.0, np.negative)  # warning[AD0507]: nothing that is differentiated reaches this


#: ad.grad(assigned)(2.0)
def assigned(x):
    largest = 0.0
    with ad.backward(x) as x_bar:
        largest = max(largest, x_bar)  # error[AD0231]: 'largest' is a variable from outside the block, which runs later, in the reverse sweep
    return x * x + largest


#: ad.grad(left)(2.0)
def left(x):
    for _ in range(3):
        with ad.backward(x) as x_bar:
            if x_bar > 1.0:
                break  # error[AD0231]: the block runs in the reverse sweep, which 'break' cannot leave
    return x * x


#: ad.grad(no_variable)(2.0)
def no_variable(x):
    with ad.backward(x * x):  # error[AD0231]: this is no variable
        print("here")
    return x * x


#: ad.grad(no_statement)(2.0)
def no_statement(x):
    block = ad.backward(x)  # error[AD0231]: this is no 'with' statement of its own
    with block:
        print("here")
    return x * x


#: ad.grad(two_names)(2.0)
def two_names(x):
    y = x * x
    with ad.backward((x, y)) as (x_bar, y_bar):  # error[AD0231]: the cotangent is given to one variable
        print(x_bar, y_bar)
    return x * y


#: ad.grad(two_items)(2.0)
def two_items(x):
    with ad.backward(x) as x_bar, np.errstate():  # error[AD0231]: this is no 'with' statement of its own
        print(x_bar)
    return x * x
