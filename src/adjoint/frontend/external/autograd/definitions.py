"""What autograd's operators and declared derivatives are, in Python: read by the compiler."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.frontend.entry.operator_marks import MARK
from adjoint.runtime.array_functions.arrays import unbroadcast as summed_to


def vjp(function, *args):
    """Stands for the operator of this name in what follows."""
    raise NotImplementedError


def jvp(function, primals, tangents):
    """Stands for the operator of this name in what follows."""
    raise NotImplementedError


for _operator in (vjp, jvp):
    setattr(_operator, MARK, _operator.__name__)


def same(value):
    return value


def with_one_argument(function, place, args, kwargs):
    """A function of one argument, or of a tuple of several, with the others as they are."""
    if type(place) is int:

        def of_one(x):
            return function(*args[:place], x, *args[place + 1 :], **kwargs)

        return of_one

    def of_several(xs):
        given = list(args)
        for i in range(len(place)):
            given[place[i]] = xs[i]
        return function(*given, **kwargs)

    return of_several


def chosen(args, place):
    return args[place] if type(place) is int else tuple([args[i] for i in place])


def summed(function):
    """What `elementwise_grad` differentiates: the sum of all that a function gives."""

    def total(*args, **kwargs):
        return np.sum(function(*args, **kwargs))

    return total


def real_part(function):
    def real(*args, **kwargs):
        return np.real(function(*args, **kwargs))

    return real


def make_vjp(function, place=0):
    def made(*args, **kwargs):
        return vjp_at(with_one_argument(function, place, args, kwargs), chosen(args, place))

    return made


def vjp_at(function, x):
    value, pullback = vjp(function, x)

    def mapped(ct):
        return pullback(ct)[0]

    return mapped, value


def make_jvp(function, place=0):
    def made(*args, **kwargs):
        return jvp_at(with_one_argument(function, place, args, kwargs), chosen(args, place))

    return made


def jvp_at(function, x):
    def mapped(tangent):
        return jvp(function, (x,), (tangent,))

    return mapped


def deriv(function, place=0):
    def made(*args, **kwargs):
        x = args[place]
        ones = np.ones_like(x) if np.ndim(x) > 0 else 1.0
        return jvp(with_one_argument(function, place, args, kwargs), (x,), (ones,))[1]

    return made


def hessian_product(gradient, place=0):
    """The second derivative along what is handed over behind the arguments."""

    def made(*args, **kwargs):
        inside = with_one_argument(gradient, place, args[:-1], kwargs)
        return jvp(inside, (args[place],), (args[-1],))[1]

    return made


def jacobian_product(function, place=0):
    """The pullback of what is handed over behind the arguments."""

    def made(*args, **kwargs):
        inside = with_one_argument(function, place, args[:-1], kwargs)
        return vjp(inside, args[place])[1](args[-1])[0]

    return made


# Flat vectors


def table(keys, values):
    return {key: value for key, value in zip(keys, values)}  # noqa: B905, C416


def stretch(flat, start, stop, shape):
    return np.reshape(flat[start:stop], shape)


def element(flat, place):
    return flat[place]


# What derivatives are declared with


def unbroadcast(x, target_meta, broadcast_idx=0):
    """A cotangent summed to the shape of what was broadcast, which stands first in what `metadata` tells."""
    if broadcast_idx != 0:
        raise NotImplementedError("axes that were broadcast behind the others")
    return summed_to(x, np.zeros(target_meta[0]))


def unbroadcast_f(target, function):
    def summed(ct):
        return summed_to(function(ct), target)

    return summed


# Declared derivatives


def original_of(function: Any) -> Any:
    """The function inside of a primitive, of which a derivative is declared."""

    def original(*args, **kwargs):
        return function(*args, **kwargs)

    return original


def handed(value):
    """An argument of a primitive, as what is declared of it sees it: the compiler knows."""
    return value


def pullback_of(function: Any, makers: Any) -> Any:
    """What is declared by `defvjp`: one function for each argument, which takes the value and the arguments."""

    def with_pullback(*args, each_of_=makers, **kwargs):
        value = function(*args, **kwargs)
        given = [handed(arg) for arg in args]
        maps = [maker(value, *given, **kwargs) for maker in each_of_]

        def pullback(ct):
            return tuple([each(ct) for each in maps])

        return value, pullback

    return with_pullback


def pullback_of_all(function: Any, maker: Any, places: Any) -> Any:
    """What is declared by `defvjp_argnums`: one function for all arguments."""

    def with_pullback(*args, places_=places, **kwargs):
        value = function(*args, **kwargs)
        mapped = maker(places_, value, tuple([handed(arg) for arg in args]), kwargs)

        def pullback(ct):
            return tuple(mapped(ct))

        return value, pullback

    return with_pullback


def for_place(maker, place):
    """What `defvjp_argnum` says of one argument."""

    def made(value, *args, place_=place, **kwargs):
        return maker(place_, value, args, kwargs)

    return made


def nothing(value, *args, **kwargs):
    def zero(ct):
        return None

    return zero


def differential_of(function: Any, makers: Any) -> Any:
    """What is declared by `defjvp`: one function for each argument, of its tangent, the value and the arguments."""

    def with_differential(*args, each_of_=makers, **kwargs):
        value = function(*args, **kwargs)
        given = [handed(arg) for arg in args]

        def differential(*tangents):
            parts = [made(tangent, value, *given, **kwargs) for made, tangent in zip(each_of_, tangents)]  # noqa: B905
            return sum(parts[1:], parts[0])

        return value, differential

    return with_differential


def tangent_for_place(maker, place):
    """What `defjvp_argnum` says of one argument."""

    def made(tangent, value, *args, place_=place, **kwargs):
        return maker(place_, tangent, value, args, kwargs)

    return made


def no_part(tangent, value, *args, **kwargs):
    return np.zeros_like(value)


def in_its_place(function: Any, place: Any) -> Any:
    """The differential of an argument in which a function is linear."""

    def made(tangent, value, *args, place_=place, **kwargs):
        return function(*args[:place_], tangent, *args[place_ + 1 :], **kwargs)

    return made
