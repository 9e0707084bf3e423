"""Arguments, options and results that do not fit."""

import adjoint as ad
import numpy as np


#: ad.grad(integer)(3)
def integer(x):  # error[AD0403]: argument 0 is the integer 3
    return x * x


#: ad.grad(numpy_integer)(np.int64(3))
def numpy_integer(x):  # error[AD0403]: argument 0 is the integer 3
    return x * x


#: ad.grad(integers)(np.arange(3))
def integers(x):  # error[AD0403]: argument 0 is an array of int64
    return x.sum()


#: ad.grad(string)("relu")
def string(name):  # error[AD0404]: argument 0 is 'relu'
    return name


#: ad.grad(none)(None)
def none(x):  # error[AD0404]: argument 0 is None
    return 1.0


#: ad.grad(boolean)(True)
def boolean(flag):  # error[AD0404]: argument 0 is True
    return flag * 2.0


#: ad.grad(complex_number)(1 + 2j)
def complex_number(z):  # error[AD0407]: this returns a complex number
    return z * z


#: ad.grad(a_set)({1.0, 2.0})
def a_set(items):  # error[AD0404]: argument 0 is a set
    return sum(items)


#: ad.grad(second_is_a_string, wrt=(0, 1))(1.0, "relu")
def second_is_a_string(x, name):  # error[AD0404]: argument 1 is 'relu'
    return x


#: ad.grad(unknown_name, wrt="z")(2.0)
def unknown_name(x, y=1.0):  # error[AD0405]: 'z' is not among its parameters: 'x', 'y'
    return x * y


#: ad.grad(not_given, wrt="y")(2.0)
def not_given(x, y=1.0):  # error[AD0405]: 'y' is not given in this call: 'x', 'y'
    return x * y


#: ad.grad(out_of_range, wrt=3)(2.0)
def out_of_range(x):  # error[AD0405]: wrt=3, but the call has 1 positional argument
    return x


#: ad.grad(not_an_index, wrt=1.5)(2.0)  # error[AD0405]: wrt=1.5 is no index, name or key path
def not_an_index(x):
    return x


#: ad.grad(named_twice, wrt=(0, "x"))(2.0)
def named_twice(x):  # error[AD0405]: wrt=(0, 'x') names the argument 'x' twice
    return x


#: ad.grad(array_result)(np.ones(3))
def array_result(x):  # error[AD0406]: this returns an array of rank 1, not a number
    return 2 * x


#: ad.grad(tuple_result)(2.0)
def tuple_result(x):  # error[AD0406]: this returns a tuple of 2, not a number
    return x, 2 * x


#: ad.grad(dict_result)(2.0)
def dict_result(x):  # error[AD0406]: this returns a dict, not a number
    return {"loss": x}


#: ad.grad(no_result)(2.0)
def no_result(x):  # error[AD0407]: this returns None
    y = x * x


#: ad.grad(no_result_on_a_path)(2.0)
def no_result_on_a_path(x):  # error[AD0407]: this returns a number or None
    if x > 0:
        return x * x


#: ad.vjp(pair_or_number, 2.0)
def pair_or_number(x):  # error[AD0407]: this returns a tuple of 2 or a number
    if x > 0:
        return x, x * x
    return x


#: ad.jvp(dict_or_number, (2.0,), (1.0,))
def dict_or_number(x):  # error[AD0407]: this returns a dict or a number
    if x > 0:
        return {"square": x * x}
    return x


#: ad.grad(string_result)(2.0)
def string_result(x):  # error[AD0407]: this returns a string
    return f"{x}"


#: ad.grad(integer_result)(2.0)
def integer_result(x):  # error[AD0407]: this returns an integer
    return int(x)


#: ad.grad(boolean_result)(2.0)
def boolean_result(x):  # error[AD0407]: this returns a boolean
    return x > 1


#: ad.grad(not_a_pair, has_aux=True)(2.0)
def not_a_pair(x):  # error[AD0407]: with has_aux=True the function must return a pair (value, aux)
    return x * x


#: ad.grad(always_raises)(2.0)
def always_raises(x):  # error[AD0407]: this never returns: every path raises an exception, or has no end
    raise ValueError("no")


#: ad.grad(two_kinds)(2.0, 3)
def two_kinds(x, n):
    state = x
    for _ in range(n):  # error[AD0402]: what a variable holds gets another structure in each iteration
        state = [state, x]
    return state[1]


#: ad.grad(number_or_list)(2.0)
def number_or_list(x):  # error[AD0407]: this returns a number or a list
    y = x if x > 0 else [x]
    return y * 2


#: ad.vjp(pullback_of_pair, 3.0)[1](1.0)  # error[AD0409]: the cotangent: expected a tuple of length 2, got 1.0
def pullback_of_pair(x):
    return x, 2.0 * x


#: ad.vjp(pullback_of_array, np.ones(3))[1](np.ones(2))  # error[AD0409]: the cotangent: expected an array of shape (3,) and dtype float64, got an array of shape (2,) and dtype float64
def pullback_of_array(x):
    return 2.0 * x


#: ad.jvp(tangent_of_wrong_shape, (np.ones(3),), (np.ones(2),))  # error[AD0409]: tangent 0: expected an array of shape (3,) and dtype float64, got an array of shape (2,) and dtype float64
def tangent_of_wrong_shape(x):
    return x.sum()


#: ad.jvp(too_few_tangents, (1.0, 2.0), (1.0,))  # error[AD0409]: 2 primals, but 1 tangents
def too_few_tangents(x, y):
    return x * y


#: ad.jvp(tangent_of_string, ("relu",), (1.0,))  # error[AD0409]: tangent 0: expected None, because the value there does not vary, got 1.0
def tangent_of_string(name):
    return 1.0


#: ad.jacobian(jacobian_for_integers)(np.arange(3))  # error[AD0403]: argument 0 is an array of int64; a matrix of derivatives needs floats, or an array of floats
def jacobian_for_integers(x):
    return x * 2


#: ad.grad(3.0)(1.0)  # error[AD0103]: ad.grad was given a value of type 'float'


#: ad.grad("loss")(1.0)  # error[AD0103]: ad.grad was given a value of type 'str'
