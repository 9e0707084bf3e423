"""What ``@differentiable`` gives a dataclass, and what functions of such classes have as gradients."""

import copy
import dataclasses
import math
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Generic, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

import adjoint as ad
from sampling import check_grads

T = TypeVar("T")
U = TypeVar("U")


@ad.differentiable
class Vector(ad.VectorNumeric):
    x: float
    y: float
    z: float


@ad.differentiable
class DenseLayer:
    weight: np.ndarray
    bias: np.ndarray
    use_bias: ad.NoDerivative[bool] = True
    previous_weight: np.ndarray = ad.no_derivative(default_factory=lambda: np.zeros(()))

    def __call__(self, x):
        return x @ self.weight + self.bias


@ad.differentiable
class GenericWrapper(Generic[T, U]):
    x: T
    y: U
    custom_flag: ad.NoDerivative[bool]
    helper: Annotated[T, ad.no_derivative]


def layer() -> DenseLayer:
    return DenseLayer(np.ones((2, 2)), np.zeros(2))


# -- what is synthesised


def test_the_class_is_its_own_tangent_where_that_is_possible():
    assert Vector.TangentVector is Vector is Vector.DifferentiableVariables
    v = Vector(1.0, 2.0, 3.0)
    assert repr(ad.grad(lambda v: (v + v).x)(v)) == "Vector(x=2.0, y=0.0, z=0.0)"
    assert v.moved(along=Vector(0.5, 0.0, -1.0)) == Vector(1.5, 2.0, 2.0)
    assert v.differentiable_variables == v and v.zero == Vector(0.0, 0.0, 0.0)


def test_one_member_struct_where_it_is_not():
    assert DenseLayer.TangentVector is DenseLayer.DifferentiableVariables is not DenseLayer
    assert DenseLayer.TangentVector.TangentVector is DenseLayer.TangentVector
    assert DenseLayer.TangentVector.DifferentiableVariables is DenseLayer.TangentVector
    gradient = ad.grad(lambda dense: np.sum(dense(np.array([[3.0, 3.0]]))))(layer())
    assert type(gradient) is DenseLayer.TangentVector
    assert repr(gradient).replace("\n      ", "") == (
        "DenseLayer.TangentVector(weight=array([[3., 3.], [3., 3.]]), bias=array([1., 1.]))"
    )
    assert not hasattr(gradient, "use_bias") and not hasattr(gradient, "previous_weight")


def test_generic_classes():
    value = GenericWrapper((1.0, 2.0), np.ones(2), True, (5.0, 6.0))
    gradient = ad.grad(lambda w: w.x[0] * w.x[1] * np.sum(w.y) * w.helper[0])(value)
    assert gradient.x == (20.0, 10.0) and not hasattr(gradient, "helper")
    moved = value.moved(along=gradient)
    assert moved.x == (21.0, 12.0) and moved.custom_flag is True and moved.helper == (5.0, 6.0)


def test_members_by_position_and_in_patterns():
    tangent = DenseLayer.TangentVector(np.ones(1), bias=np.zeros(1))
    match tangent:
        case DenseLayer.TangentVector(weight, bias):
            assert weight[0] == 1.0 and bias[0] == 0.0
    with pytest.raises(TypeError, match="2 fields by position"):
        DenseLayer.TangentVector(1.0, 2.0, 3.0)


def test_options_of_dataclasses():
    @ad.differentiable(frozen=True, slots=True, kw_only=True)
    class Point:
        x: float
        y: float = 2.0

    p = Point(x=3.0)
    assert dataclasses.is_dataclass(Point) and not hasattr(p, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        p.x = 1.0
    gradient = ad.grad(lambda p: p.x * p.y)(p)
    assert gradient == Point.TangentVector(x=2.0, y=3.0)
    assert p.moved(along=gradient) == Point(x=5.0, y=5.0)


def test_a_dataclass_stays_as_it_is():
    @ad.differentiable
    @dataclass(order=True)
    class Point:
        x: float

    assert Point(1.0) < Point(2.0) and Point.TangentVector(x=1.0).x == 1.0
    with pytest.raises(TypeError, match="a dataclass already"):
        ad.differentiable(order=True)(Point)
    with pytest.raises(TypeError, match="for classes"):
        ad.differentiable(3.0)


def test_inheritance():
    @ad.differentiable
    class Base:
        a: float
        name: ad.NoDerivative[str] = "base"

    @ad.differentiable
    class Sub(Base):
        b: float = 1.0

        def loss(self):
            return self.a * self.b

    class Plain(Base):
        pass

    gradient = ad.grad(Sub.loss)(Sub(2.0, b=3.0))
    assert gradient == Sub.TangentVector(a=3.0, b=2.0) and Sub.TangentVector is not Base.TangentVector
    assert Plain.TangentVector is type(ad.grad(lambda p: p.a)(Plain(1.0)))


def test_construction_goes_past_the_users_init():
    @ad.differentiable
    @dataclass
    class Guarded:
        x: float
        y: float

        def __init__(self):
            raise RuntimeError("never")

    value = ad.memberwise(Guarded, x=1.0, y=2.0)
    gradient = ad.grad(lambda g: g.x * g.y)(value)
    assert value.moved(along=gradient) == ad.memberwise(Guarded, x=3.0, y=3.0)


def test_static_attributes_never_take_part():
    from typing import ClassVar

    @ad.differentiable
    class Model:
        scale: ClassVar[float] = 2.0
        x: float

    assert ad.grad(lambda m: m.x * m.scale)(Model(3.0)) == Model.TangentVector(x=2.0)


# -- fields without derivative


def test_marked_fields_count_as_constants():
    @ad.differentiable
    class Model:
        x: float
        y: float = ad.no_derivative(default=2.0)
        z: Annotated[float, ad.no_derivative] = 3.0
        w: "ad.NoDerivative[float]" = 4.0

    m = Model(5.0)
    assert ad.grad(lambda m: m.x * m.y * m.z * m.w)(m) == Model.TangentVector(x=24.0)
    assert ad.jvp(lambda m: m.x * m.y, (m,), (Model.TangentVector(x=1.0),))[1] == 2.0
    check_grads(lambda m: m.x * m.y * math.sin(m.x * m.z), (m,))


def test_a_derivative_for_a_marked_field_is_refused():
    @ad.differentiable
    class Model:
        x: float
        y: float = ad.no_derivative(default=2.0)

    with pytest.raises(ad.DifferentiationError, match="no such field"):
        ad.jvp(lambda m: m.x * m.y, (Model(5.0),), (Model.TangentVector(x=1.0, y=1.0),))


@pytest.mark.filterwarnings("ignore:(?s).*AD0508")
def test_what_is_stored_in_a_marked_field_is_a_constant():
    @ad.differentiable
    class Model:
        x: float
        y: float = ad.no_derivative(default=0.0)

    def stored(m):
        m.y = m.x * m.x
        return m.x * m.y

    def constructed(x):
        return Model(x, x * x).y * x

    assert ad.grad(stored)(Model(3.0)).x == 9.0
    assert ad.grad(constructed)(3.0) == 9.0
    assert ad.jvp(constructed, (3.0,), (1.0,)) == (27.0, 9.0)


@pytest.mark.filterwarnings("ignore:(?s).*AD0508")
def test_marked_fields_of_objects_in_lists():
    @ad.differentiable
    class Cell:
        x: float
        seen: float = ad.no_derivative(default=1.0)

    def loss(x, n):
        cells = []
        for k in range(n):
            cells.append(Cell(x * k, x * x))
        return sum(cell.x * cell.seen for cell in cells)

    assert ad.grad(loss)(2.0, 3) == 3.0 * 4.0
    assert ad.jvp(loss, (2.0, 3), (1.0, None))[1] == 3.0 * 4.0

    def of_cells(cells):
        return sum(cell.x * cell.seen for cell in cells)

    assert ad.grad(of_cells)([Cell(1.0, 5.0), Cell(2.0, 6.0)]) == [Cell.TangentVector(x=5.0), Cell.TangentVector(x=6.0)]


def test_marked_arrays_and_functions():
    @ad.differentiable
    class Model:
        weight: np.ndarray
        mask: ad.NoDerivative[np.ndarray]
        activation: ad.NoDerivative[Callable] = np.tanh

    m = Model(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    gradient = ad.grad(lambda m: np.sum(m.activation(m.weight) * m.mask))(m)
    np.testing.assert_allclose(gradient.weight, [1 - math.tanh(1.0) ** 2, 0.0])
    assert not hasattr(gradient, "mask")


def test_fields_that_cannot_vary_are_warned_of_once_with_the_line_and_the_fix():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        @ad.differentiable
        class Model:
            x: float
            steps: int = 3
            names: list[str] = field(default_factory=list)
            where: NDArray[np.int64] | None = None
            free: Any = None
            maybe: float | None = None

        @ad.differentiable
        class Sub(Model):
            y: float = 1.0

        ad.grad(lambda m: m.x)(Model(1.0))
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 3
    assert all(warning.category is ad.DifferentiationWarning for warning in caught)
    assert "'Model.steps' carries no derivative" in texts[0].replace(Model.__qualname__, "Model")
    assert "            steps: int = 3\n" in texts[0] and "steps: ad.NoDerivative[int] = 3" in texts[0]
    assert "values of the type list[str] do not vary" in texts[1]
    assert "where: ad.NoDerivative[NDArray[np.int64] | None] = None" in texts[2]
    assert caught[0].filename == __file__


# -- variables


def test_variables_are_read_and_written():
    dense = layer()
    variables = dense.differentiable_variables
    assert type(variables) is DenseLayer.TangentVector
    variables.weight[0, 0] = 5.0
    assert dense.weight[0, 0] == 1.0
    dense.differentiable_variables = variables
    assert dense.weight[0, 0] == 5.0 and dense.use_bias is True
    other = dense.with_variables(DenseLayer.TangentVector(weight=np.zeros((2, 2)), bias=np.ones(2)))
    assert other.bias[0] == 1.0 and dense.bias[0] == 0.0
    with pytest.raises(ValueError, match=r"\.weight: expected an array of shape \(2, 2\)"):
        dense.differentiable_variables = DenseLayer.TangentVector(weight=np.zeros(3), bias=np.ones(2))


def test_variables_of_what_is_frozen_are_not_assigned():
    @ad.differentiable(frozen=True)
    class Frozen:
        x: float

    @ad.differentiable
    class Holder:
        inner: Frozen
        y: float

    frozen, holder = Frozen(1.0), Holder(Frozen(1.0), 2.0)
    with pytest.raises(AttributeError):
        frozen.differentiable_variables = Frozen.TangentVector(x=2.0)
    with pytest.raises(AttributeError, match=r"Holder\.inner is immutable"):
        holder.differentiable_variables = holder.differentiable_variables
    assert frozen.with_variables(Frozen.TangentVector(x=2.0)) == Frozen(2.0)
    variables = holder.differentiable_variables
    variables.inner.x = 7.0
    assert holder.with_variables(variables) == Holder(Frozen(7.0), 2.0)


def test_assigning_variables_keeps_the_identity_of_parts():
    @ad.differentiable
    class Model:
        layers: list[DenseLayer]

    model = Model([layer(), layer()])
    first, layers = model.layers[0], model.layers
    model.differentiable_variables = model.differentiable_variables * 2.0
    assert (model.layers is layers and model.layers[0] is first) or model.layers[0].weight[0, 0] == 2.0


def test_moving_in_place_and_anew():
    dense = layer()
    gradient = ad.grad(lambda dense: np.sum(dense(np.ones((1, 2)))))(dense)
    moved = dense.moved(along=-0.5 * gradient)
    assert moved.weight[0, 0] == 0.5 and dense.weight[0, 0] == 1.0
    weight = dense.weight
    dense.move(along=-0.5 * gradient)
    assert dense.weight is weight and weight[0, 0] == 0.5


def test_tangents_of_another_class_are_refused():
    dense = layer()
    with pytest.raises(ValueError, match=r"moves along a DenseLayer.TangentVector, not along a .*Other.TangentVector"):

        @ad.differentiable
        class Other:
            weight: np.ndarray
            bias: np.ndarray

        dense.moved(along=Other.TangentVector(weight=np.zeros((2, 2)), bias=np.zeros(2)))
    with pytest.raises(ad.DifferentiationError, match="AD0409"):
        ad.jvp(lambda d: np.sum(d.weight), (dense,), (Other.TangentVector(weight=np.zeros((2, 2))),))


def test_key_paths_of_declared_classes():
    dense = layer()
    path = ad.keypath(DenseLayer).weight
    dense[path] *= 3.0
    gradient = ad.grad(lambda dense: np.sum(dense.weight) + np.sum(dense.bias))(dense)
    assert dense.weight[0, 0] == 3.0 and gradient[path][0, 0] == 1.0
    assert ad.keypath(DenseLayer).weight.get(dense) is dense.weight


def test_gradients_are_pickled_and_copied():
    gradient = ad.grad(lambda dense: np.sum(dense.weight) + np.sum(dense.bias))(layer())
    assert pickle.loads(pickle.dumps(gradient)) == gradient == copy.deepcopy(gradient)
    v = ad.grad(lambda v: v.x * v.y)(Vector(1.0, 2.0, 3.0))
    assert pickle.loads(pickle.dumps(v)) == v


# -- tangent classes of the user's own


def test_a_tangent_class_of_ones_own():
    @ad.differentiable
    class Point:
        x: float
        y: float

        @dataclass
        class TangentVector:
            x: float
            y: float

            def __add__(self, other):
                return type(self)(self.x + other.x, self.y + other.y)

            @property
            def length(self):
                return math.hypot(self.x, self.y)

    gradient = ad.grad(lambda p: 3.0 * p.x + 4.0 * p.y)(Point(1.0, 2.0))
    assert type(gradient) is Point.TangentVector and gradient.length == 5.0
    assert Point(1.0, 2.0).moved(along=gradient) == Point(4.0, 6.0)
    _, pullback = ad.vjp(lambda x: Point(x, 2.0 * x), 1.0)
    assert pullback(Point.TangentVector(1.0, 10.0)) == (21.0,)
    assert ad.jvp(lambda p: p, (Point(1.0, 2.0),), (gradient,))[1] == gradient


def test_gradients_that_are_values_are_used_in_code_that_is_differentiated():
    def slope(v):
        g = ad.grad(lambda v: v.x * v.x * v.y)(v)
        return (g + v).x + g.y

    check_grads(slope, (Vector(1.0, 2.0, 3.0),))


def test_lists_of_own_tangents():
    def loss(vs):
        total = 0.0
        for v in vs:
            total += v.x * v.y
        return total

    assert ad.grad(loss)([Vector(1.0, 2.0, 3.0)]) == [Vector(2.0, 1.0, 0.0)]
    points = [Vector(float(k), 1.0, 0.0) for k in range(100)]
    assert ad.grad(loss)(points) == [Vector(1.0, float(k), 0.0) for k in range(100)]


def test_the_gradient_as_a_method():
    assert Vector(1.0, 2.0, 3.0).gradient(lambda v: v.x * v.y) == Vector(2.0, 1.0, 0.0)

    @ad.differentiable
    class Named:
        gradient: float
        moved: float

    assert ad.grad(lambda n: n.gradient * n.moved)(Named(2.0, 3.0)) == Named.TangentVector(gradient=3.0, moved=2.0)


def test_odd_dataclasses():
    @ad.differentiable(slots=True)
    class Odd(Generic[T]):
        x: T
        twice: float = field(init=False)
        start: dataclasses.InitVar[float] = 1.0
        kind: ad.NoDerivative[str] = field(default="odd", kw_only=True)

        def __post_init__(self, start):
            self.twice = 2.0 * start

        @property
        def product(self):
            return self.x * self.twice

    value = Odd(3.0, 2.0, kind="other")
    assert value.gradient(lambda odd: odd.product) == Odd.TangentVector(x=4.0, twice=3.0)
    assert value.moved(along=Odd.TangentVector(x=1.0, twice=0.5)).product == 18.0
    assert ad.grad(lambda x: Odd(x, x).product)(3.0) == 12.0
    ad.testing.check_type(value)


def test_generic_bases_and_frozen_subclasses():
    @ad.differentiable(frozen=True)
    class Base(Generic[T]):
        item: T

    @ad.differentiable(frozen=True)
    class Sub(Base[float]):
        other: float = 2.0

    value = Sub(3.0)
    assert value.gradient(lambda s: s.item * s.other) == Sub.TangentVector(item=2.0, other=3.0)
    assert value.moved(along=Sub.TangentVector(item=1.0)) == Sub(4.0, 2.0)
    ad.testing.check_type([value, Base((1.0, np.ones(2)))])


def test_a_class_that_is_defined_twice():
    def make(factor):
        @ad.differentiable
        class Twice(ad.VectorSpace):
            x: float

            def scaled(self):
                return self.x * factor

        return Twice

    first, second = make(2.0), make(3.0)
    assert ad.grad(lambda v: (v + v).scaled())(first(1.0)).x == 4.0
    assert ad.grad(lambda v: (v + v).scaled())(second(1.0)).x == 6.0
    assert first.TangentVector is first is not second.TangentVector


def test_statistics_that_are_kept_on_the_way():
    @ad.differentiable
    class Normalised:
        weight: np.ndarray
        running: ad.NoDerivative[np.ndarray]

        def __call__(self, x):
            self.running *= 0.9
            self.running += 0.1 * x
            return np.sum(self.weight * x)

        def against(self, x):
            self.running *= 0.9
            self.running += 0.1 * x
            return np.sum(self.weight * self.running)

        def anew(self, x):
            self.running = 0.9 * self.running + 0.1 * x
            return np.sum(self.weight * self.running)

    x, weight = np.array([0.3, 0.4]), np.array([1.0, 2.0])

    def model():
        return Normalised(weight.copy(), np.array([0.5, 0.6]))

    used = model()
    np.testing.assert_array_equal(ad.grad(Normalised.__call__, 1)(used, x), weight)
    np.testing.assert_allclose(used.running, [0.48, 0.58])
    assert ad.jvp(Normalised.__call__, (model(), x), (None, np.ones(2)))[1] == 3.0
    np.testing.assert_array_equal(ad.vjp(Normalised.anew, model(), x)[1](1.0)[1], np.zeros(2))
    assert ad.jvp(Normalised.anew, (model(), x), (None, np.ones(2)))[1] == 0.0
    for derive in (
        lambda: ad.vjp(Normalised.against, model(), x)[1](1.0),
        lambda: ad.jvp(Normalised.against, (model(), x), (None, np.ones(2))),
    ):
        with pytest.raises(ad.DifferentiationError, match="AD0303"):
            derive()


class TestTangentVectorsOfOnesOwn:
    """A ``TangentVector`` that is not the class of the tangents is refused at the class, and never passed over."""

    def refused(self, define):
        with pytest.raises(ad.DifferentiationError) as refusal:
            define()
        said = str(refusal.value)
        assert "is not the class of its tangents" in said
        assert "tests/differentiable_types/test_declaring.py" in said
        return said

    def test_without_a_field(self):
        def define():
            @ad.differentiable
            class Point:
                x: float
                y: float

                @dataclass
                class TangentVector:
                    x: float

                    def __add__(self, other):
                        return type(self)(self.x + other.x)

        assert "Point.TangentVector' has no field 'y'" in self.refused(define)

    def test_with_a_field_too_many(self):
        def define():
            @ad.differentiable
            class Point:
                x: float
                unit: ad.NoDerivative[str] = "m"

                @dataclass
                class TangentVector:
                    x: float
                    unit: float

        assert "Point.TangentVector.unit belongs to no field of" in self.refused(define)

    def test_with_a_property_for_a_field(self):
        def define():
            @ad.differentiable
            class Point:
                x: float

                class TangentVector:
                    @property
                    def x(self):
                        return 1.0

        assert "Point.TangentVector.x is a property, not a field" in self.refused(define)

    def test_with_a_field_that_does_not_vary(self):
        def define():
            @ad.differentiable
            class Point:
                x: float

                @dataclass
                class TangentVector:
                    x: str

        assert "Point.TangentVector.x is declared as str, whose values do not vary" in self.refused(define)

    def test_that_cannot_be_added(self):
        def define():
            @ad.differentiable
            class Point:
                x: float

                @dataclass
                class TangentVector:
                    x: float

        assert "Point.TangentVector' cannot be added" in self.refused(define)

    def test_whose_tangents_are_others(self):
        def define():
            class Other:
                pass

            @ad.differentiable
            class Point:
                x: float

                @dataclass
                class TangentVector:
                    x: float
                    TangentVector = Other

                    def __add__(self, other):
                        return self

        assert "the tangents of" in self.refused(define)

    def test_that_is_no_class_of_fields(self):
        def define():
            @ad.differentiable
            class Point:
                x: float
                TangentVector = float

        assert "'float' declares no fields" in self.refused(define)

    def test_of_a_class_that_is_not_declared(self):
        @dataclass
        class Point:
            x: float

            class TangentVector:
                pass

        assert "declares no fields" in self.refused(lambda: ad.grad(lambda p: p.x * p.x)(Point(3.0)))

    def test_gets_a_zero(self):
        @ad.differentiable
        class Point:
            x: float

            @dataclass
            class TangentVector:
                x: float

                def __add__(self, other):
                    return type(self)(self.x + other.x)

        assert Point.TangentVector.zero == Point.TangentVector(0.0)
        gradient = ad.grad(lambda p: p.x * p.x)(Point(3.0))
        assert gradient + Point.TangentVector.zero == gradient == Point.TangentVector(6.0)


class TestZeros:
    def test_of_classes(self):
        assert Vector.zero == Vector(0.0, 0.0, 0.0) == Vector(1.0, 2.0, 3.0).zero
        assert Vector.zero + Vector(1.0, 2.0, 3.0) == Vector(1.0, 2.0, 3.0)
        assert ad.grad(lambda v: (v + Vector.zero).x * v.x)(Vector(2.0, 0.0, 0.0)).x == 4.0

    def test_of_classes_with_arrays_have_any_shape(self):
        @ad.differentiable
        class Pair(ad.VectorNumeric, ad.AdditiveArithmetic):
            w: np.ndarray
            b: float

        np.testing.assert_array_equal((Pair.zero + Pair(np.ones(2), 1.0)).w, np.ones(2))

    def test_of_classes_of_tangents_have_no_fields(self):
        dense = layer()
        gradient = ad.grad(lambda dense: np.sum(dense.weight))(dense)
        assert DenseLayer.TangentVector.zero + gradient == gradient
        np.testing.assert_array_equal(dense.moved(along=DenseLayer.TangentVector.zero).weight, dense.weight)

    def test_of_lists_are_told_by_values_only(self):
        @ad.differentiable
        class Points(ad.AdditiveArithmetic):
            xs: list[float]

        assert Points([1.0, 2.0]).zero == Points([0.0, 0.0])
        with pytest.raises(AttributeError, match=r"only a value of .*Points tells the structure of its zero"):
            _ = Points.zero


class TestFinalFields:
    def test_do_not_move(self):
        with pytest.warns(ad.DifferentiationWarning, match="a Final field is not assigned again, so it does not move"):

            @ad.differentiable
            class Spring:
                x: float
                k: Final[float] = 2.0

        spring = Spring(3.0)
        gradient = ad.grad(lambda s: s.x * s.k)(spring)
        assert gradient == Spring.TangentVector(x=2.0)
        assert spring.moved(along=gradient) == Spring(5.0, 2.0)
        spring.move(along=gradient)
        assert (spring.x, spring.k) == (5.0, 2.0)

    def test_are_marked_without_a_word(self):
        with warnings.catch_warnings(action="error"):

            @ad.differentiable
            class Spring:
                x: float
                k: ad.NoDerivative[float] = 2.0

        assert Spring.TangentVector.__match_args__ == ("x",)


@pytest.mark.parametrize(
    ("value", "varies"),
    [
        (1.0, True),
        (1j, True),
        (np.float32(1), True),
        (np.ones(2), True),
        (np.ones(2, int), False),
        (3, False),
        (True, False),
        ("text", False),
    ],
)
def test_numbers_and_arrays_are_differentiable(value, varies):
    assert isinstance(value, ad.Differentiable) is varies


def test_classes_of_numbers_are_differentiable():
    assert issubclass(float, ad.Differentiable) and issubclass(DenseLayer, ad.Differentiable)
    assert not issubclass(int, ad.Differentiable)


@pytest.mark.parametrize(
    ("value", "along", "said"),
    [
        (1.0, "a", "1.0 moves along a real number, not along 'a'"),
        (1.0, 1j, "1.0 moves along a real number, not along 1j"),
        (1.0, True, "1.0 moves along a real number, not along True"),
        (np.ones(2), np.ones(3), "an array of shape (2,) moves along an array of shape (2,), not along"),
        (np.ones(2), np.ones(2) * 1j, "not along an array of complex128 of shape (2,)"),
        (np.ones(2), np.array(["a", "b"]), "not along an array of <U1 of shape (2,)"),
        (np.ones(2, int), np.ones(2), "an array of int64 of shape (2,) does not move along anything"),
        ("a", 1.0, "'a' does not move along anything, not along 1.0"),
        (math.sin, 1.0, "does not move along anything"),
        ([1.0, 2.0], [1.0], "a list of length 2 moves along a list of length 2"),
    ],
)
def test_what_does_not_fit_does_not_move(value, along, said):
    with pytest.raises(ValueError) as refusal:
        ad.moved(value, along=along)
    assert said in str(refusal.value)


@ad.differentiable
class Scaled:
    weight: float
    scale: ad.NoDerivative[float] = 2.0


class TestStoresInFieldsWithoutDerivative:
    def test_are_told_where_what_is_stored_varies(self):
        def loss(layer, x):
            layer.scale = 2.0 * x
            return layer.weight * layer.scale * x

        with pytest.warns(ad.DifferentiationWarning, match="AD0508") as told:
            assert ad.grad(loss, wrt=1)(Scaled(1.0), 3.0) == 6.0
        said = str(told[0].message)
        assert "what is stored in 'Scaled.scale' loses its derivative" in said
        assert "this varies, and counts as a constant when it is read there" in said
        assert "if that is meant, say so: store ad.stop_gradient(x)" in said
        assert ad.grad(loss)(Scaled(1.0), 3.0) == Scaled.TangentVector(weight=18.0)  # nothing that varies is stored

    def test_are_told_of_constructors(self):
        with pytest.warns(ad.DifferentiationWarning, match="AD0508"):
            assert ad.grad(lambda x: Scaled(x, x).weight * Scaled(x, x).scale)(3.0) == 3.0

    def test_are_not_told_where_nobody_reads_them_on_the_way(self):
        assert ad.grad(lambda x: Scaled(x, x).weight)(3.0) == 1.0

    def test_are_not_told_where_they_are_meant(self):
        def loss(layer, x):
            layer.scale = ad.stop_gradient(2.0 * x)
            return layer.weight * layer.scale * x

        assert ad.grad(loss, wrt=1)(Scaled(1.0), 3.0) == 6.0


def test_arrays_of_an_unknown_dtype_vary():
    @ad.differentiable
    class Layer:
        weight: NDArray[Any]
        bias: NDArray[np.number] | None

    gradient = ad.grad(lambda layer: np.sum(layer.weight * 3.0))(Layer(np.ones(2), None))
    assert gradient.weight.tolist() == [3.0, 3.0]
