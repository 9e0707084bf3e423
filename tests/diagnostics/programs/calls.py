"""Calls that cannot be followed."""

import math
import pickle

import adjoint as ad
import numpy as np
from scipy.linalg._solve_toeplitz import levinson
import scipy.special


#: ad.grad(opaque_function)(2.0)
def opaque_function(x):
    return scipy.special.kolmogi(x) * x  # error[AD0201]: the body of 'kolmogi' is not visible here


#: ad.grad(opaque_library_function)(np.ones(3))
def opaque_library_function(y):
    c = np.nextafter(y, 9.0)  # error[AD0201]: the body of 'nextafter' is not visible here
    return c[0]


#: ad.grad(result_of_opaque_function_is_used)(np.ones(3))
def result_of_opaque_function_is_used(x):
    values, counts = scipy.special.obl_rad2(0, 1, 1.5, x)  # error[AD0201]: the body of 'obl_rad2' is not visible here
    return counts.sum() * 1.0 + values[0]


#: ad.jvp(opaque_in_forward_mode, (2.0,), (1.0,))
def opaque_in_forward_mode(x):
    return scipy.special.kolmogi(x) * x  # error[AD0201]: the body of 'kolmogi' is not visible here


#: ad.vjp(opaque_in_pullback, 2.0)
def opaque_in_pullback(x):
    return scipy.special.kolmogi(x), x  # error[AD0201]: the body of 'kolmogi' is not visible here


#: ad.grad(number_from_text)(2.0)
def number_from_text(x):
    return float.fromhex(float.hex(x)) * x  # error[AD0204]: a number that varies comes back from text here


#: ad.grad(number_from_f_string)(2.0)
def number_from_f_string(x):
    text = f"{x:.3f}"
    return float(text) * x  # error[AD0204]: a number that varies comes back from text here


#: ad.grad(missing_argument)(2.0)
def scale(x, factor):
    return x * factor


def missing_argument(x):
    return scale(x)  # error[AD0203]: scale() is not given 'factor'


#: ad.grad(too_many_arguments)(2.0)
def too_many_arguments(x):
    return scale(x, 2.0, 3.0)  # error[AD0203]: scale() takes 2 arguments, 3 are given


#: ad.grad(unknown_keyword)(2.0)
def unknown_keyword(x):
    return scale(x, factor=2.0, offset=3.0)  # error[AD0203]: scale() has no parameter 'offset'


#: ad.grad(given_twice)(2.0)
def given_twice(x):
    return scale(x, x=3.0, factor=2.0)  # error[AD0203]: scale() is given 'x' twice


#: ad.grad(too_many_for_a_rule)(2.0)
def too_many_for_a_rule(x):
    return math.sin(x, x)  # error[AD0203]: math.sin() takes 1 argument, 2 are given


#: ad.grad(option_without_derivative)(np.ones(3))
def option_without_derivative(x):
    return np.sum(x, foo=3)  # error[AD0203]: numpy.sum() has no parameter 'foo'


#: ad.grad(number_called)(2.0)
def number_called(x):
    return x(3.0)  # error[AD0213]: 'x' is a number or an array, and cannot be called


#: ad.grad(no_such_attribute)(np.ones(3))
def no_such_attribute(x):
    return x.total().sum()  # error[AD0211]: a value of class 'ndarray' has no attribute 'total'


#: ad.grad(no_such_name_in_module)(2.0)
def no_such_name_in_module(x):
    return math.sine(x)  # error[AD0211]: 'math' has no attribute 'sine'


#: ad.grad(too_many_to_unpack)((1.0, 2.0, 3.0))
def too_many_to_unpack(point):
    x, y = point  # error[AD0213]: 3 values are unpacked into 2 names
    return x * y


#: ad.grad(number_unpacked)(2.0)
def number_unpacked(x):
    first, second = x  # error[AD0213]: a value of class 'float' cannot be iterated over
    return first * second


#: ad.grad(number_indexed)(2.0)
def number_indexed(x):
    return x[0]  # error[AD0213]: a value of class 'float' has no items


#: ad.grad(number_iterated)(2.0)
def number_iterated(x):
    total = 0.0
    for part in x:  # error[AD0213]: a value of class 'float' cannot be iterated over
        total += part
    return total


#: ad.grad(length_of_number)(2.0)
def length_of_number(x):
    return len(x) * x  # error[AD0213]: a value of class 'float' has no length


#: ad.grad(through_calls)(2.0)
def innermost(x):
    return scale(x)  # error[AD0203]: scale() is not given 'factor'


def between(x):
    y = innermost(x * x)
    return y + 1.0


def through_calls(x):
    return 2.0 * between(x)


#: ad.grad(through_calls_to_opaque)(2.0)
def special(x):
    return scipy.special.kolmogi(x)  # error[AD0201]: the body of 'kolmogi' is not visible here


def through_calls_to_opaque(x):
    return 2.0 * special(x)


#: ad.grad(without_end)(2.0)
def without_end(x):
    return without_end(x) * x  # error[AD0407]: 'without_end' calls itself without end


#: ad.grad(not_a_class)(2.0)
def not_a_class(x):
    return x if isinstance(x, "float") else 2.0 * x  # error[AD0213]: the second argument of 'isinstance' is not a class


#: ad.grad(unknown_keywords)(2.0, pickle.dumps)
def unknown_keywords(x, getter):
    return scale(x, **getter(x))  # error[AD0301]: '**' of something whose keys are not known


#: ad.grad(compiled_by_cython)(np.ones(5))
def compiled_by_cython(x):
    inverse, _ = levinson(x, x[:3])  # error[AD0201]: 'levinson' is a function of Cython, of which there is machine code only
    return np.sum(inverse)
