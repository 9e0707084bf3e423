"""Arguments, options and results that do not fit."""

import adjoint as ad
import numpy as np


#: ad.grad(integer)(3)
def integer(x):
    return x * x


#: ad.grad(numpy_integer)(np.int64(3))
def numpy_integer(x):
    return x * x


#: ad.grad(integers)(np.arange(3))
def integers(x):
    return x.sum()


#: ad.grad(string)("relu")
def string(name):
    return name


#: ad.grad(none)(None)
def none(x):
    return 1.0


#: ad.grad(boolean)(True)
def boolean(flag):
    return flag * 2.0


#: ad.grad(complex_number)(1 + 2j)
def complex_number(z):
    return z * z


#: ad.grad(a_set)({1.0, 2.0})
def a_set(items):
    return sum(items)


#: ad.grad(second_is_a_string, wrt=(0, 1))(1.0, "relu")
def second_is_a_string(x, name):
    return x


#: ad.grad(unknown_name, wrt="z")(2.0)
def unknown_name(x, y=1.0):
    return x * y


#: ad.grad(not_given, wrt="y")(2.0)
def not_given(x, y=1.0):
    return x * y


#: ad.grad(out_of_range, wrt=3)(2.0)
def out_of_range(x):
    return x


#: ad.grad(not_an_index, wrt=1.5)(2.0)
def not_an_index(x):
    return x


#: ad.grad(named_twice, wrt=(0, "x"))(2.0)
def named_twice(x):
    return x


#: ad.grad(array_result)(np.ones(3))
def array_result(x):
    return 2 * x


#: ad.grad(tuple_result)(2.0)
def tuple_result(x):
    return x, 2 * x


#: ad.grad(dict_result)(2.0)
def dict_result(x):
    return {"loss": x}


#: ad.grad(no_result)(2.0)
def no_result(x):
    y = x * x  # noqa: F841


#: ad.grad(no_result_on_a_path)(2.0)
def no_result_on_a_path(x):
    if x > 0:
        return x * x


#: ad.grad(string_result)(2.0)
def string_result(x):
    return f"{x}"


#: ad.grad(integer_result)(2.0)
def integer_result(x):
    return int(x)


#: ad.grad(boolean_result)(2.0)
def boolean_result(x):
    return x > 1


#: ad.grad(not_a_pair, has_aux=True)(2.0)
def not_a_pair(x):
    return x * x


#: ad.grad(always_raises)(2.0)
def always_raises(x):
    raise ValueError("no")


#: ad.grad(two_kinds)(2.0, 3)
def two_kinds(x, n):
    state = x
    for _ in range(n):
        state = [state, x]
    return state[1]


#: ad.grad(number_or_list)(2.0)
def number_or_list(x):
    y = x if x > 0 else [x]
    return y * 2


#: ad.vjp(pullback_of_pair, 3.0)[1](1.0)
def pullback_of_pair(x):
    return x, 2.0 * x


#: ad.vjp(pullback_of_array, np.ones(3))[1](np.ones(2))
def pullback_of_array(x):
    return 2.0 * x


#: ad.jvp(tangent_of_wrong_shape, (np.ones(3),), (np.ones(2),))
def tangent_of_wrong_shape(x):
    return x.sum()


#: ad.jvp(too_few_tangents, (1.0, 2.0), (1.0,))
def too_few_tangents(x, y):
    return x * y


#: ad.jvp(tangent_of_string, ("relu",), (1.0,))
def tangent_of_string(name):
    return 1.0


#: ad.jacobian(jacobian_for_integers)(np.arange(3))
def jacobian_for_integers(x):
    return x * 2


#: ad.grad(3.0)(1.0)


#: ad.grad("loss")(1.0)
