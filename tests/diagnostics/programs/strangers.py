"""What people write who come from other systems, and from other fields."""

import dataclasses
import functools
import math

import adjoint as ad
import numpy as np
from scipy.integrate import quad


#: ad.grad(oscillator)((1.0, 0.0), 0.1)
def oscillator(state, dt):  # error[AD0406]: this returns a tuple of 2, not a number
    x, v = state
    return (x + v * dt, v - x * dt)


#: ad.grad(wave)(0.5)
def wave(k):  # error[AD0407]: this returns a complex number
    return np.exp(1j * k)


#: ad.grad(trajectory)(1.0)
def trajectory(x):
    xs = np.array([])
    for _ in range(3):
        x = x * 0.9
        xs.append(x)  # error[AD0211]: a value of class 'ndarray' has no attribute 'append'
    return xs[-1]


#: ad.grad(grows_by_a_number)(1.0)
def grows_by_a_number(x):
    xs = [x]
    for _ in range(3):
        xs += xs[-1] * 0.9  # error[AD0213]: a list is extended by a number, not by items
    return xs[-1]


#: ad.grad(integral)(1.0)
def integral(a):  # error[AD0406]: this returns a tuple of 2, not a number
    return quad(lambda x: np.exp(-a * x), 0, 1)


#: ad.grad(Oscillator(2.0).energy)(1.0)  # error[AD0203]: energy() takes 1 argument, 2 are given
class Oscillator:
    def __init__(self, k):
        self.k = k

    def energy(x):
        return 0.5 * self.k * x * x


#: ad.grad(keys_as_attributes)({"k": 1.0, "m": 2.0})
def keys_as_attributes(p):
    return p.k * p.m  # error[AD0211]: a dict has no attribute 'k'


#: ad.grad(mean_of_a_list, wrt="data")(2.0, [1.0, 2.0])
def mean_of_a_list(theta, data):
    return theta * data.mean()  # error[AD0211]: a list has no attribute 'mean'


#: ad.grad(drawn)(0.5)
def drawn(mu):
    return np.mean(np.random.wald(mu, 1.0, 100))  # error[AD0201]: 'wald' draws at random, and a parameter of it varies


RNG = np.random.default_rng(0)


#: ad.grad(counts_drawn)(2.0)
def counts_drawn(rate):
    return np.mean(RNG.poisson(rate, 100))  # error[AD0201]: 'poisson' draws at random, and a parameter of it varies


#: ad.grad(backward)(np.ones(3))
def backward(w):
    loss = np.sum(w**2)
    loss.backward()  # error[AD0211]: a value of class 'float64' has no attribute 'backward'
    return w.grad  # error[AD0211]: a value of class 'ndarray' has no attribute 'grad'


#: ad.grad(axes)(np.ones((2, 2)))
def axes(x):
    return np.max(np.exp(x) / np.sum(np.exp(x), axes=1))  # error[AD0203]: numpy.sum() has no parameter 'axes'


#: ad.vjp(primals_as_a_tuple, (2.0, 3.0))  # error[AD0203]: primals_as_a_tuple() is not given 'y'
def primals_as_a_tuple(x, y):
    return x * y


#: ad.grad(part_of_parameters, wrt="hidden")({"hidden": {"w": 2.0}})
def part_of_parameters(parameters):  # error[AD0405]: 'hidden' is not among its parameters: 'parameters'
    return parameters["hidden"]["w"] ** 2


#: ad.grad(misspelt_method)(np.ones(3))
def misspelt_method(x):
    return np.sum(x**2).itme()  # error[AD0211]: a value of class 'float64' has no attribute 'itme'


#: ad.hvp(without_tuples, np.ones(3), np.ones(3))  # error[AD0409]: the primals are a tuple with one entry per argument, here they are of class 'ndarray'
def without_tuples(x):
    return np.sum(x**3)


@functools.lru_cache
def powers(x, n):
    return [x] if n == 1 else [x, *powers(x * x, n - 1)]


#: ad.grad(cached)(2.0)
def cached(x):
    return powers(x, 3)[1] * 2.0  # error[AD0303]: what this returned before it returns again, and that may be written


#: ad.grad(Model())(2.0)  # error[AD0103]: ad.grad was given a value of type 'Model'
class Model:
    def __init__(self):
        self.k = 2.0

    def loss(self, x):
        return self.k * x * x


#: ad.grad(Model.loss)(2.0)  # error[AD0203]: loss() is not given 'x'
#: ad.grad(by_name_only)(2.0, 3.0)  # error[AD0203]: by_name_only() takes 1 argument, 2 are given
def by_name_only(x, *, gain):
    return x * gain


#: ad.grad(through_text)(2.0)
def through_text(x):
    return float("%.2f" % (x * x))  # error[AD0204]: a number that varies comes back from text here


#: ad.grad(report)(2.0)
def report(x):  # error[AD0407]: this returns a string
    return "result: " + str(x * x)


#: ad.grad(row_of_a_file)(("1.0", "2.0"))
def row_of_a_file(row):  # error[AD0404]: argument 0 is a tuple in which there are no floats
    return row[0] * row[1]


#: ad.grad(forgot_to_import)(3.0)
def forgot_to_import(x):
    return scipy.special.gamma(x)  # error[AD0310]: nothing is called 'scipy' here


#: ad.grad(list_of_one)(3.0)
def list_of_one(x):  # error[AD0406]: this returns a list, not a number
    return [x**2]


@dataclasses.dataclass(frozen=True)
class Spring:
    k: float


#: ad.grad(writes_what_is_frozen)(Spring(2.0))
def writes_what_is_frozen(spring):
    spring.k = spring.k * 2  # error[AD0213]: 'Spring' is frozen: its fields cannot be assigned
    return spring.k**2


#: ad.grad(writes_a_tuple)((1.0, 2.0))
def writes_a_tuple(items):
    items[0] = items[0] * 2  # error[AD0213]: 'tuple' object does not support item assignment
    return items[0]


#: ad.grad(forgot_to_call)(np.ones(2))
def forgot_to_call(x):  # error[AD0407]: this returns a method, which is not called
    return x.sum


#: ad.export("nowhere.py", ad.grad(exported))  # error[AD0401]: the types of the arguments are not known
def exported(x):
    return x * x


#: ad.jacobian(of_names)({"name": "x"})  # error[AD0404]: argument 0 is of class 'dict', and holds no floats
def of_names(settings):
    return 1.0


#: ad.vjp(no_pair, 2.0, has_aux=True)
def no_pair(x):  # error[AD0407]: with has_aux=True the function must return a pair (value, aux)
    return x * x


#: ad.grad(math_of_a_list)([1.0, 2.0])
def math_of_a_list(xs):
    return math.sqrt(xs)  # error[AD0213]: math.sqrt() takes a number, and 'xs' is a list


#: ad.grad(number_of_rows)(np.ones((3, 2)))
def number_of_rows(x):  # warning[AD0501]: nothing of 'x' reaches the result
    return x.shape[0]


#: ad.grad(one_of_two_is_whole)({"w": 1, "b": 2.0})
def one_of_two_is_whole(m):  # warning[AD0501]: none of the floats in 'm' reaches the result; integers count as constants
    return m["w"] ** 2


#: ad.grad(by_another_name)(y=2.0)
def by_another_name(x):  # error[AD0203]: the call gives 'y', which is not among its parameters: 'x'
    return x**2


#: ad.grad(two_in_one_text, wrt="a, b")(1.0, 2.0)
def two_in_one_text(a, b):  # error[AD0405]: 'a, b' is not among its parameters: 'a', 'b'
    return a * b


#: ad.grad(not_written_yet)(1.0)
def not_written_yet(x):  # error[AD0407]: this never returns: every path raises an exception, or has no end
    raise NotImplementedError("to do")


#: ad.grad(needs_what_is_not_there)(1.0)
def needs_what_is_not_there(x):  # error[AD0407]: this never returns: every path raises an exception, or has no end
    import no_such_module

    return no_such_module.sin(x)


#: ad.grad(drawn_together)(2.0)
def drawn_together(spread):
    return RNG.multivariate_normal(np.zeros(2), np.eye(2) * spread)[0]  # error[AD0201]: 'multivariate_normal' draws at random, and a parameter of it varies
