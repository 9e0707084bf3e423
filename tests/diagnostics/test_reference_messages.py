"""The messages of the reference system: each mistake is refused with its cause, or is no mistake here.

The ids are those of the reference's list. ``SAID`` has the code or the exception, and words of the message; ``WORKS``
has what the reference refuses and Adjoint differentiates, with the derivative.
"""

from __future__ import annotations

import decimal
import enum
import functools
import json
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from typing import Any, Final

import numpy as np
import pytest

import adjoint as ad


def two(x, y):
    return x * y


def up(s):
    return s.upper()


def rounded(x):
    return float(int(x))


def through_text(x):
    return json.loads(json.dumps(x))


def without_return(x):
    if x > 0:
        return x


def executed(x):
    exec("y = x")
    return x


def outermost(x):
    return between(x) * 2.0


def between(x):
    return innermost(x) + 1.0


def innermost(x):
    return math.nextafter(x, 2.0)


def of_time(x):
    import datetime

    return datetime.datetime.fromtimestamp(x).hour * x


def constant(x):
    return math.sqrt(3.0)


def generated(x):
    yield x


counter = 0.0


def counted(x):
    def step(y):
        global counter
        counter = counter + y
        return counter * y

    return ad.grad(step)(x)


def takes_function(f, x):
    return f(x) * 2.0


def gradient_at_zero(f):
    return ad.grad(f)(0.0)


def opaque_in(x):
    return two(x, 3.0)


class Layer:
    def __init__(self, w):
        self.w = w

    def call(self, x):
        return self.w * x


class Protocol(ABC):
    @abstractmethod
    def area(self, x): ...


@dataclass
class Stored:
    __slots__ = ("stored",)
    stored: float


def nothing(x):
    print(x)


def without_parameters():
    return 1.0


def declared(pair: Callable[..., Any], target: Any = None, **options: Any) -> Callable[..., Any]:
    """A function of two arguments with a declared derivative."""
    if target is None:

        def target(x, y):
            return x * y

    ad.derivative_of(target, **options)(pair)
    return target


def good(x, y):
    return x * y, lambda ct: (y * ct, x * ct)


def bare(x, y):
    return x * y


def no_pullback(x, y):
    return x * y, 3.0


def one_too_many(x, y, z):
    return x * y, lambda ct: (ct, ct)


def one_cotangent(x, y):
    return x * y, lambda ct: ct


def for_x(x, y):
    return x * y, lambda ct: y * ct


def declared_twice() -> None:
    def target(x, y):
        return x * y

    declared(good, target)
    declared(lambda x, y: (x * y, lambda ct: (ct * y, ct * x)), target)


def squared_cotangent(x):
    return x * x, lambda ct: ct * ct * x


def with_a_pullback_that_is_not_linear(x):
    return 2.0 * x


ad.derivative_of(with_a_pullback_that_is_not_linear)(squared_cotangent)


def scaled(x: float, n: int) -> float:
    return x * n


def transposed_for_an_integer() -> None:
    @ad.transpose_of(scaled, wrt=1)
    def scaled_transpose(x, ct):
        return x * ct


Marked = ad.Fn[[float, ad.NoDerivative[float]], float]


def active_argument_of_a_marked_parameter(x):
    f = Marked(two)
    return f(2.0, x)


def typed(annotations: dict[str, Any], **options: Any) -> Callable[[], Any]:
    """Declares a function with these annotations differentiable."""

    def declare() -> Any:
        def f(x, y=1.0):
            return x * y

        f.__annotations__ = annotations
        return ad.differentiable(**options)(f)

    return declare


def no_parameters() -> float:
    return 1.0


def no_result(x: float) -> None:
    print(x)


def tangent(cls: Any) -> Callable[[], Any]:
    """Declares a class with a TangentVector of its own."""

    def declare() -> Any:
        @dataclass
        class Whole:
            x: float
            y: ad.NoDerivative[float] = 0.0
            TangentVector = cls

        return ad.differentiable(Whole)

    return declare


class Added:
    def __add__(self, other):
        return self

    @classmethod
    def zero(cls):
        return cls(0.0)


@dataclass
class WithoutX(Added):
    z: float


@dataclass
class OfText(Added):
    x: str


@dataclass
class Computed(Added):
    z: float

    @property
    def x(self):
        return self.z


@dataclass
class WithoutSum:
    x: float


class Cases(enum.Enum):
    FIRST = 1


def declares_a_class(**annotations: Any) -> Callable[[], Any]:
    return lambda: ad.differentiable(make_dataclass("Made", annotations.items()))


class Area(ABC):
    @abstractmethod
    @ad.differentiable
    def area(self, x: float) -> float: ...


def overrides() -> None:
    class Overriding(Area):
        def area(self, x: float) -> float:
            return x * x

    ad.grad(lambda x: Overriding().area(x))(3.0)


def self_behind() -> None:
    class Method:
        @ad.differentiable(wrt=("x", "self"))
        def area(self, x: float) -> float:
            return x


def of_a_decimal(x):
    return float(decimal.Decimal(x).sqrt())


class Holder:
    def __init__(self, value):
        self.value = decimal.Decimal(value)


def of_a_property(x):
    return float(Holder(x).value)


FLOATS = {"x": float, "y": float, "return": float}

Case = tuple[Callable[[], Any], str, str]

SAID: dict[str, Case] = {
    "early.only_functions": (lambda: ad.grad(3.0), "AD0103", "it is not a function"),
    "early.index_out_of_bounds": (lambda: ad.grad(two, wrt=2)(1.0, 2.0), "AD0405", "has 2 positional arguments"),
    "early.expected_parameter": (lambda: ad.grad(two, wrt="z")(1.0, 2.0), "AD0405", "'z' is not among its parameters"),
    "early.expected_wrt_label": (lambda: ad.grad(two, withRespectTo=0), "TypeError", "withRespectTo"),
    "early.adjoint_name": (lambda: ad.derivative_of(3), "AD0206", "cannot be called"),
    "early.opaque": (lambda: ad.grad(math.nextafter)(1.0, 2.0), "AD0201", "'nextafter' is not visible"),
    "early.nondiff_operator": (lambda: ad.grad(up)("a"), "AD0404", "nothing in it can vary"),
    "early.property": (lambda: ad.grad(of_time)(1.0), "AD0201", "'fromtimestamp' is not visible"),
    "xform.opaque_function": (
        lambda: ad.grad(lambda x: math.nextafter(x, 1.0))(2.0),
        "AD0201",
        "declare its derivative",
    ),
    "xform.external_function": (lambda: ad.grad(lambda x: math.nextafter(x, 1.0))(2.0), "AD0201", "ad.derivative_of"),
    "xform.nondiff_result": (lambda: ad.grad(rounded)(2.5), "AD0502", "through a rounding"),
    "xform.nondiff_argument": (lambda: ad.grad(through_text)(2.5), "AD0204", "comes back from text here"),
    "xform.missing_return": (lambda: ad.grad(without_return)(2.5), "AD0407", "no 'return' follows"),
    "xform.unsupported_cf": (lambda: ad.grad(executed)(2.5), "AD0301", "not in the source"),
    "xform.coroutine": (lambda: ad.grad(generated)(2.5), "AD0104", "return a list"),
    "xform.write_global": (lambda: ad.grad(counted)(2.5), "AD0302", "memory that outlives the call"),
    "xform.indirect_chain": (lambda: ad.grad(outermost)(2.5), "AD0201", "called from"),
    "xform.nonvaried_result": (lambda: ad.grad(constant)(2.5), "AD0501", "with respect to 'x' is zero"),
    "xform.opaque_closure": (lambda: ad.compile(gradient_at_zero)(math.nextafter), "AD0201", "defined here"),
    "xform.member_subset": (
        lambda: ad.grad(declared(lambda self, x: (self.w * x, lambda ct: self.w * ct), Layer.call, wrt="x"))(
            Layer(2.0), 3.0
        ),
        "AD0204",
        "'self' varies, and the derivative that is declared",
    ),
    "xform.function_subset": (lambda: ad.grad(declared(for_x, wrt="x"), 1)(2.0, 3.0), "AD0204", "'y' varies"),
    "xform.noderivative_param": (
        lambda: ad.grad(active_argument_of_a_marked_parameter)(1.0),
        "AD0204",
        "marked NoDerivative",
    ),
    "xform.linear_conversion": (lambda: ad.transpose(lambda x: x * x, 1.0), "AD0425", "not linear in the arguments"),
    "xform.forward_disabled": (
        lambda: ad.jvp(with_a_pullback_that_is_not_linear, (1.0,), (1.0,)),
        "AD0208",
        "not known to be linear",
    ),
    "xform.forward_custom_vjp": (
        lambda: ad.jvp(ad.differentiable_function(squared_cotangent), (2.0,), (1.0,)),
        "AD0208",
        "not known to be linear",
    ),
    "early.tangent_member": (tangent(WithoutX), "AD0426", "has no field 'x'"),
    "xform.class_member": (
        lambda: ad.grad(of_a_decimal)(4.0),
        "AD0201",
        "class 'Decimal', which carries no derivative",
    ),
    "xform.property_not_diff": (
        lambda: ad.grad(of_a_property)(4.0),
        "AD0201",
        "class 'Decimal', which carries no derivative",
    ),
    "xform.tangent_not_struct": (tangent(Cases), "AD0426", "'Cases' declares no fields"),
    "xform.tangent_property_missing": (tangent(WithoutX), "AD0426", "has no field 'x'"),
    "xform.tangent_property_type": (tangent(OfText), "AD0426", "declared as str, whose values do not vary"),
    "xform.tangent_property_computed": (tangent(Computed), "AD0426", "Computed.x is a property, not a field"),
    "xform.other_file": (lambda: ad.grad(innermost)(2.0), "AD0201", "declare its derivative"),
    "attr.override_missing": (overrides, "AD0510", "overrides Area.area, which is declared"),
    "attr.witness_missing": (overrides, "AD0510", "it is declared here"),
    "attr.wrt_self_first": (self_behind, "AD0430", "'self' stands behind others"),
    "attr.syntax": (lambda: ad.differentiable(vjp=two)(two), "TypeError", "vjp: for classes"),
    "synth.nondiff_property": (declares_a_class(flag=bool, x=float), "AD0503", "values of the type bool do not vary"),
    "synth.let_property": (declares_a_class(fixed=Final[float], x=float), "AD0503", "a Final field is not assigned"),
    "synth.custom_tangent": (tangent(WithoutX), "AD0426", "leave TangentVector out"),
    "synth.tangent_additive": (tangent(WithoutSum), "AD0426", "'WithoutSum'"),
    "attr.not_applicable": (lambda: ad.differentiable(3.0), "TypeError", "for classes, functions and methods"),
    "attr.no_params": (lambda: ad.differentiable(no_parameters), "AD0430", "it has no parameters"),
    "attr.void_result": (lambda: ad.differentiable(no_result), "AD0430", "it returns nothing"),
    "attr.no_inferable_params": (typed({"x": int, "y": str, "return": float}), "AD0430", "none of its parameters"),
    "attr.result_not_diff": (typed({**FLOATS, "return": str}), "AD0430", "its result of type 'str' cannot vary"),
    "attr.param_not_diff": (typed({**FLOATS, "y": str}, wrt="y"), "AD0430", "'y' of type 'str' cannot vary"),
    "attr.wrt_unknown": (typed(FLOATS, wrt="z"), "AD0430", "'z', which is not among its parameters"),
    "attr.wrt_order": (typed(FLOATS, wrt=("y", "x")), "AD0430", "in another order, or twice"),
    "attr.wrt_index": (typed(FLOATS, wrt=2), "AD0430", "it has 2 parameters, the first is 0"),
    "attr.wrt_expected": (typed(FLOATS, wrt=-1), "AD0430", "indices of parameters start at 0"),
    "attr.wrt_self_static": (typed(FLOATS, wrt="self"), "AD0430", "no method of an object"),
    "attr.duplicate": (lambda: ad.differentiable(typed(FLOATS)()), "AD0430", "declared twice"),
    "deriv.original_not_found": (lambda: ad.derivative_of("missing"), "AD0206", "cannot be called"),
    "deriv.result_tuple": (lambda: declared(bare), "AD0205", "not a pair (value, pullback)"),
    "deriv.second_label": (lambda: declared(no_pullback), "AD0205", "not a pullback, which is a function"),
    "deriv.original_unresolved": (lambda: declared(one_too_many), "AD0205", "does not take the 2 arguments"),
    "deriv.pullback_type": (lambda: ad.grad(declared(one_cotangent))(1.0, 2.0), "AD0205", "not a tuple of 2"),
    "deriv.duplicate": (declared_twice, "AD0210", "declared"),
    "deriv.stored_property": (lambda: ad.derivative_of(Stored.stored), "AD0206", "it is a stored field"),
    "deriv.protocol_requirement": (lambda: ad.derivative_of(Protocol.area), "AD0206", "it is an abstract method"),
    "deriv.void": (lambda: declared(lambda x: (None, lambda ct: ct), nothing), "AD0206", "it returns nothing"),
    "deriv.no_params": (lambda: declared(lambda: (1.0, tuple), without_parameters), "AD0206", "it has no parameters"),
    "deriv.syntax_name": (lambda: ad.derivative_of(3), "AD0206", "cannot be called"),
    "transp.param": (transposed_for_an_integer, "AD0209", "annotated as int"),
    "type.not_function": (lambda: ad.Fn[float], "AD0220", "does not list the types of the parameters"),
    "type.param": (lambda: ad.Fn[[float, str], float], "AD0220", "its parameter of type 'str' cannot vary"),
    "type.noderivative_place": (
        lambda: ad.Fn[[float], ad.NoDerivative[float]],
        "AD0220",
        "its result is marked NoDerivative",
    ),
    "type.noderivative_variadic": (lambda: ad.Fn[[float, ...], float], "AD0220", "any number of parameters"),
    "type.all_noderivative": (lambda: ad.Fn[[ad.NoDerivative[float]], float], "AD0220", "no parameter that varies"),
    "type.form_from_value": (
        lambda: ad.grad(takes_function, 1)(math.nextafter, 2.0),
        "AD0201",
        "ad.Fn[[float], float]",
    ),
    "run.non_scalar": (lambda: ad.grad(lambda x: x)(np.ones((2, 2))), "AD0406", "an array of rank 2, not a number"),
    "run.array_count_move": (
        lambda: ad.moved([1.0, 2.0, 3.0], [1.0, 2.0]),
        "ValueError",
        "not along a list",
    ),
    "run.array_count_add": (
        lambda: ad.tangents.add([1.0, 2.0], [1.0, 2.0, 3.0]),
        "ValueError",
        "a list of 2 and a list of 3",
    ),
    "run.array_concat_count": (
        lambda: ad.vjp(lambda a, b: a + b, [1.0, 2.0], [1.0, 2.0, 3.0])[1]([1.0, 2.0]),
        "AD0409",
        "expected a list of length 5, got a list of length 2",
    ),
    "run.lr_negative": (lambda: ad.optim.SGD(learning_rate=-1), "ValueError", "learning_rate must be non-negative"),
    "run.momentum_negative": (lambda: ad.optim.SGD(momentum=-0.1), "ValueError", "momentum must be non-negative"),
    "run.decay_negative": (lambda: ad.optim.Adam(decay=-1), "ValueError", "decay must be non-negative"),
    "run.beta_range": (lambda: ad.optim.Adam(beta1=1.5), "ValueError", "beta1 must be between 0 and 1"),
    "run.rho_range": (lambda: ad.optim.AdaDelta(rho=2), "ValueError", "rho must be between 0 and 1"),
}


@pytest.mark.parametrize("name", SAID)
def test_the_mistake_is_told(name: str) -> None:
    run, code, words = SAID[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run()
        except ad.DifferentiationError as refusal:
            said, codes = str(refusal), [problem.code for problem in refusal.diagnostics]
        except (TypeError, ValueError) as mistake:
            said, codes = str(mistake), [type(mistake).__name__]
        else:
            said = "\n".join(str(each.message) for each in caught)
            codes = [problem.code for each in caught for problem in getattr(each.message, "diagnostics", ())]
    assert code in codes
    assert words in said


def nested(x):
    return ad.grad(lambda y: y * y * x)(x)


def branching(x):
    return x * x if x > 1.0 else -x


@dataclass
class Model:
    w: float

    def twice(self):
        return self.w * 2.0


def of_a_member(x):
    return Model(x).twice()


def pair(x):
    a, b = divided(x)
    return a * b


def divided(x):
    return x, 1.0 + x


def summed(x):
    total = 0.0
    for item in [x, x * x]:
        total += item
    return total


def of_two_kinds(x):
    match Model(x):
        case Model(w=w):
            return w * w


def optional(x):
    maybe = 10.0
    maybe = x if maybe is not None else None
    return maybe * maybe


def coalesced(x):
    maybe = None
    return (maybe if maybe is not None else x) * x


def captured(x):
    total = 0.0

    def add(y):
        nonlocal total
        total += y

    add(x)
    add(x * x)
    return total


def lazily(x, a=1.0, b=2.0):
    fallback = functools.partial(lambda p, q: p + q * x, a, b)
    return x * fallback()


def stored(x):
    items = [0.0, 1.0]
    items[0] = x
    array = np.zeros(2)
    array[1] = x
    return items[0] * array[1]


def accumulated(x):
    result = 1.0
    result += x * x
    return result


class Shape(ABC):
    @abstractmethod
    def area(self, x): ...


class Square(Shape):
    def area(self, x):
        return x * x


def of_a_protocol(x):
    shape: Shape = Square()
    return shape.area(x)


WORKS: dict[str, tuple[Callable[[float], float], float]] = {
    "early.nested": (nested, 4.0 * 1.5),
    "early.control_flow": (branching, 3.0),
    "early.class_members": (of_a_member, 2.0),
    "early.multiple_results": (pair, 4.0),
    "xform.for_in_array": (summed, 4.0),
    "xform.protocol_member": (of_a_protocol, 3.0),
    "xform.enum_value": (of_two_kinds, 3.0),
    "xform.optional_assign": (optional, 3.0),
    "xform.nil_coalescing": (coalesced, 3.0),
    "xform.curry_inout_capture": (captured, 4.0),
    "xform.curry_many_captures": (lazily, 1.0 + 2.0 * 2.0 * 1.5),
    "xform.multiple_results": (pair, 4.0),
    "xform.wrapper_projection": (stored, 3.0),
}


@pytest.mark.parametrize("name", WORKS)
def test_what_the_reference_refuses_works(name: str) -> None:
    f, expected = WORKS[name]
    assert ad.grad(f)(1.5) == pytest.approx(expected)


@pytest.mark.parametrize("f", [branching, accumulated])  # xform.forward_cf, xform.forward_inout
def test_forward_mode_has_control_flow_and_assignments(f: Callable[[float], float]) -> None:
    assert ad.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(3.0)


def test_one_of_an_array_tangent():  # run.one_array
    start, gradient = [1.0, np.ones(2)], [0.5, np.full(2, 0.5)]
    moved = ad.optim.AdaGrad(learning_rate=0.1).updated(start, along=gradient)
    assert moved[0] == moved[1][0] < 1.0


def narrow(x):
    return x * 2.0


@ad.derivative_of(narrow)
def narrow_derivative(x: float):
    return 2.0 * x, lambda ct: 2.0 * ct


def test_a_derivative_serves_whatever_its_code_does():  # xform.generic_requirements, deriv.local
    assert ad.grad(lambda x: narrow(x)[0])(np.ones(3)).tolist() == [2.0, 0.0, 0.0]


WITHOUT_COUNTERPART = """
attr.dynamic_self attr.init_nonfinal attr.inout_and_result attr.layout_requirement attr.opaque_result
attr.protocol_where attr.syntax_comma deriv.access_level deriv.ambiguous deriv.class_setter deriv.first_label
deriv.modify_accessor deriv.syntax_colon deriv.syntax_wrt early.expected_of early.expected_wrt
early.generic_tangent_size synth.tangent_protocol synth.wrapper_property synth.other_file transp.result
transp.unresolved type.linear type.result xform.default_argument xform.inlinable_gradient
""".split()
"""What Python has no word for: labels, access levels, accessors, layouts; types may be registered from any file."""

OF_LAYERS = ["run.batchnorm_features", "run.dropout_probability"]
"""There is no library of layers."""

BY_NAME = """
xform.forward_cf xform.forward_inout run.one_array xform.generic_requirements deriv.local
early.noderivative_property synth.tangent_of_tangent
""".split()
"""Those with a test of their own."""


def test_all_of_the_list_are_here():
    names = [*SAID, *WORKS, *WITHOUT_COUNTERPART, *OF_LAYERS, *BY_NAME]
    assert len(set(names)) == len(names) == 128
