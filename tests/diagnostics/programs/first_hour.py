"""What people write in their first hour."""

import math
import zlib
from dataclasses import dataclass

import adjoint as ad
import numpy as np



#: ad.grad(area, 2)(3.0, 4.0)
def area(width, height):  # error[AD0405]: wrt=2, but the call has 2 positional arguments
    return width * height


#: ad.grad(perimeter, wrt="hieght")(3.0, 4.0)
def perimeter(width, height):  # error[AD0405]: 'hieght' is not among its parameters: 'width', 'height'
    return 2.0 * (width + height)


#: ad.grad(kinetic, 3.0)  # error[AD0405]: wrt=3.0 is no index, name or key path
def kinetic(speed):
    return 0.5 * speed**2


#: ad.grad(momentum, np.ones(3))(np.ones(3))  # error[AD0405]: an object of class 'ndarray' is no index, name or key path
def momentum(speed):
    return np.sum(speed)


#: ad.grad(mean_square)([1, 2, 3])
def mean_square(samples):  # error[AD0403]: argument 0 is a list of integers
    return sum(s * s for s in samples) / len(samples)


#: ad.grad(weighted)({"a": 1, "b": 2})
def weighted(parameters):  # error[AD0403]: argument 0 is a dict of integers
    return parameters["a"] * parameters["b"]


@dataclass
class Counts:
    heads: int
    tails: int


#: ad.grad(odds)(Counts(3, 4))
def odds(counts):  # error[AD0403]: argument 0 is an object of class 'Counts' whose numbers are integers
    return counts.heads / counts.tails


#: ad.grad(parsed)("3.0")
def parsed(text):  # error[AD0404]: argument 0 is '3.0'
    return text * 2


#: ad.grad(labelled, wrt="label")(2.0, "abc")
def labelled(x, label):  # error[AD0404]: argument 1 is 'abc'
    return x * len(label)


class Settings:
    pass


#: ad.grad(configured)(Settings(), 3.0)
def configured(settings, x):  # error[AD0404]: argument 0 is an object of class 'Settings' in which there are no numbers
    return x * x


#: ad.grad(columns)(np.zeros(3, dtype=[("x", float), ("y", float)]))
def columns(table):  # error[AD0404]: argument 0 is an array of records
    return np.sum(table["x"])


#: ad.grad(objects)(np.array([1.0, None], dtype=object))
def objects(items):  # error[AD0404]: argument 0 is an array of objects
    return items[0] * 2.0


#: ad.grad(forgot_to_return)(3.0)
def forgot_to_return(x):  # error[AD0407]: this returns None
    y = x**2
    y = y + 1


#: ad.grad(prints_instead)(3.0)
def prints_instead(x):  # error[AD0407]: this returns None
    print(x**2)


#: ad.grad(elementwise)(np.ones(3))
def elementwise(x):  # error[AD0406]: this returns an array of rank 1, not a number
    return x**2


#: ad.grad(value_and_point)(3.0)
def value_and_point(x):  # error[AD0406]: this returns a tuple of 2, not a number
    return x**2, x


#: ad.grad(best)(np.ones(3))
def best(scores):  # error[AD0407]: this returns an integer
    return np.argmax(scores)


#: ad.grad(is_positive)(3.0)
def is_positive(x):  # error[AD0407]: this returns a boolean
    return x > 0.0


#: ad.grad(no_pair, has_aux=True)(2.0)
def no_pair(x):  # error[AD0407]: with has_aux=True the function must return a pair (value, aux)
    return x * x


#: ad.grad(rounded)(3.2)
def rounded(x):
    return round(x) * 1.0  # warning[AD0502]: what depends on 'x' goes through this


#: ad.grad(without_the_argument)(2.0)
def without_the_argument(x):  # warning[AD0501]: nothing of 'x' reaches the result
    y = x**2
    return 3.0


#: ad.grad(factorial)(3.0)
def factorial(x):
    return x * factorial(x - 1)  # error[AD0407]: 'factorial' calls itself without end


#: ad.grad(checksum)(np.ones(3))
def checksum(x):
    return zlib.crc32(bytes(x)) * x[0]  # error[AD0201]: the body of 'bytes' is not visible here



#: ad.grad(awaited)(3.0)
async def awaited(x):  # error[AD0104]: it is a coroutine
    return x * x


#: ad.vjp(a_vector, np.ones(3))[1](np.ones(4))  # error[AD0409]: the cotangent: expected an array of shape (3,) and dtype float64, got an array of shape (4,) and dtype float64
def a_vector(x):
    return x**2


#: ad.vjp(another_vector, np.ones(3))[1](1.0)  # error[AD0409]: the cotangent: expected an array of shape (3,) and dtype float64, got 1.0
def another_vector(x):
    return x**2


#: ad.vjp(a_pair, 2.0)[1](1.0)  # error[AD0409]: the cotangent: expected a tuple of length 2, got 1.0
def a_pair(x):
    return x**2, x


#: ad.jvp(without_tuples, 2.0, 1.0)  # error[AD0409]: the primals are a tuple with one entry per argument, here they are of class 'float'
def without_tuples(x):
    return x**2


#: ad.grad(called_already(3.0))  # error[AD0103]: ad.grad was given a value of type 'float'
def called_already(x):
    return x**2


#: ad.grad(of_two)(2.0)  # error[AD0203]: of_two() is not given 'y'
def of_two(x, y):
    return x * y


#: ad.grad(misspelt_function)(np.ones(3))
def misspelt_function(x):
    return np.sun(x)  # error[AD0211]: 'numpy' has no attribute 'sun'


@dataclass
class Box:
    width: float
    height: float


#: ad.grad(misspelt_field)(Box(2.0, 3.0))
def misspelt_field(box):
    return box.widht**2  # error[AD0211]: an object of class 'Box' has no attribute 'widht'


#: ad.grad(misspelt_key)({"weight": 2.0, "bias": 3.0})
def misspelt_key(p):
    return p["weight"] * p["bais"]  # error[AD0212]: the dict has no key 'bais'


#: ad.grad(another_key)({"weight": 2.0, "bias": 3.0})
def another_key(p):
    return p["scale"] * p["bias"]  # error[AD0212]: the dict has no key 'scale'


#: ad.grad(misspelt_variable)(2.0, 3.0)
def misspelt_variable(x, scale):
    return x * scael  # error[AD0310]: nothing is called 'scael' here


#: ad.grad(misspelt_keyword)(2.0)
def misspelt_keyword(x):
    return of_two(x, z=2.0)  # error[AD0203]: of_two() has no parameter 'z'


#: ad.grad(not_imported)(2.0)
def not_imported(x):
    return exp(x) * random.random()  # error[AD0310]: nothing is called 'exp' here


#: ad.grad(removed_from_numpy)(2.0)
def removed_from_numpy(x):
    a = np.float_(x)  # error[AD0211]: 'numpy' has no attribute 'float_'
    b = helper(  # error[AD0310]: nothing is called 'helper' here
        x,
        a,
    )
    return a + b


#: ad.grad(evaluated)(2.0)
def evaluated(x):
    return eval("x * x")  # error[AD0301]: variables are read or written here by names that are not in the source


#: ad.grad(array_of_objects)(2.0)
def array_of_objects(x):
    a = np.array([x, None, "a"], dtype=object)  # error[AD0401]: items of an array of objects may be anything
    return a[0] * 2


#: ad.grad(cut_off)(2.0)
def cut_off(x):
    a = np.zeros(3, dtype=int)
    a[0] = x  # error[AD0408]: a float is stored into an array of int64, which cuts it off
    return np.sum(a * x)


#: ad.hessian(hessian_of_a_vector)(np.ones(3))
def hessian_of_a_vector(x):  # error[AD0406]: this returns an array of rank 1, not a number
    return x**2


#: ad.source(source_of_the_function)  # error[AD0105]: ad.source takes what ad.grad and ad.value_and_grad return
def source_of_the_function(x):
    return x**2


#: ad.source(ad.grad(source_without_types))  # error[AD0401]: the types of the arguments are not known
def source_without_types(x):
    return x**2


#: ad.grad(math_of_an_array)(np.ones(3))
def math_of_an_array(x):
    return np.sum(x) * math.sin(x)  # error[AD0213]: math.sin() takes a number, and 'x' is an array


#: ad.grad(root_of_an_array)(np.ones(3))
def root_of_an_array(x):
    return np.sum(math.asin(x))  # error[AD0213]: math.asin() takes a number, and 'x' is an array


#: ad.grad(a_set)(2.0)
def a_set(x):
    return sum({x, x * x})  # error[AD0307]: what varies is put into a set here


def product(x, y):
    return x * y


#: ad.derivative_of(product)(values_of_slopes) and ad.grad(product)(2.0, 3.0)
def values_of_slopes(x, y):  # error[AD0205]: the second item that it returns is a number, not a pullback
    return y, x


#: ad.derivative_of(product)(one_cotangent)
def one_cotangent(x, y):
    return x * y, lambda ct: ct * y  # error[AD0205]: this returns 1 cotangent, not 2 cotangents, one for each argument of 'product'


#: ad.grad(only_decides)(2.0)
def only_decides(a):  # warning[AD0501]: 'a' only decides which way the function takes
    low, high = 0.0, 2.0
    for _ in range(50):
        middle = (low + high) / 2
        if middle * middle < a:
            low = middle
        else:
            high = middle
    return low


#: ad.grad(iterator_or_list)(2.0)
def iterator_or_list(x):
    if x > 0:
        y = iter([x])
    else:
        y = [x]
    return sum(y) * 2.0  # error[AD0402]: this is no list, or not the same, on each path that leads here


#: ad.source(ad.grad(printed_in_part), "printed_in_parts_grad")  # error[AD0106]: the text has no function 'printed_in_parts_grad'
def printed_in_part(x: float) -> float:
    return x**2
