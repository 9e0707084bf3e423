"""Key paths: made, printed, parsed, compared, and used to read and write."""

import itertools
import pickle
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjoint as ad


@dataclass
class Layer(ad.KeyPathIterable):
    weight: np.ndarray
    bias: float = 0.0


@dataclass
class Model(ad.KeyPathIterable):
    layers: list[Layer]
    options: dict[str, float] = field(default_factory=dict)
    name: str = "net"


@dataclass(frozen=True)
class Frozen:
    layer: Layer
    scale: float


class Pair(NamedTuple):
    left: float
    right: float


def model() -> Model:
    return Model([Layer(np.ones(2), 1.0), Layer(np.zeros(2), 2.0)], {"rate": 0.5})


def test_reads_and_writes_what_attributes_would():
    m = model()
    path = ad.keypath(Model).layers[1].bias
    assert path.get(m) == m[path] == 2.0
    path.set(m, 7.0)
    m[ad.keypath(Model).options["rate"]] *= 2.0
    assert (m.layers[1].bias, m.options["rate"]) == (7.0, 1.0)


def test_prints_and_parses():
    path = ad.keypath(Model).layers[0].weight
    assert str(path) == ".layers[0].weight"
    assert repr(path) == "WritableKeyPath(.layers[0].weight)"
    assert ad.keypath(str(path)) == path
    assert str(ad.keypath()) == "." and ad.keypath(".") == ad.keypath()
    assert ad.keypath("['a b'][-1][2, 'x']").steps[-1].key == (2, "x")
    for text in ("layers", ".layers[0:1]", ".f()", ".a + .b", ".layers[x]", ")", "._ or 1"):
        with pytest.raises(ValueError, match="no key path"):
            ad.keypath(text)


keys = st.one_of(st.integers(), st.text(max_size=5), st.booleans(), st.tuples(st.integers(), st.text(max_size=3)))
names = st.sampled_from(["a", "b", "layers", "weight_1", "_private", "x10"])
steps = st.lists(st.one_of(names.map(lambda name: (True, name)), keys.map(lambda key: (False, key))), max_size=5)


AT_ANY_PACE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines may be busy


@AT_ANY_PACE
@given(steps)
def test_what_is_printed_is_parsed(ways):
    path = ad.keypath()
    for is_field, key in ways:
        path = path.field(key) if is_field else path.item(key)
    assert ad.keypath(str(path)) == path
    assert pickle.loads(pickle.dumps(path)) == path


@AT_ANY_PACE
@given(st.lists(steps, min_size=2, max_size=6))
def test_the_order_is_total(many):
    paths = []
    for ways in many:
        path = ad.keypath()
        for is_field, key in ways:
            path = path.field(key) if is_field else path.item(key)
        paths.append(path)
    ordered = sorted(paths)
    assert all(a <= b for a, b in itertools.pairwise(ordered))
    for a in paths:
        for b in paths:
            assert (a < b) + (b < a) + (a == b) >= 1
            assert a != b or hash(a) == hash(b)


def test_a_parent_comes_before_its_parts_in_order():
    path = ad.keypath(Model).layers
    assert path < path[0] < path[0].weight < path[1] < path[10]
    assert path[0].weight.starts_with(path) and not path.starts_with(path[0])
    assert path[0].parent == path


def test_composes():
    assert ad.keypath(Model).layers[0] + ad.keypath(Layer).weight == ad.keypath(Model).layers[0].weight
    read_only = ad.keypath(Frozen).scale
    assert type(ad.keypath()[0] + read_only) is ad.KeyPath


def test_equal_from_whatever_class():
    assert {ad.keypath(Model).layers: 1}[ad.keypath(".layers")] == 1
    assert ad.keypath(Model).layers != ".layers"


def test_fields_with_the_names_of_methods():
    @dataclass
    class Odd:
        get: float

    assert ad.keypath(Odd).field("get").get(Odd(2.0)) == ad.keypath(".get").get(Odd(2.0)) == 2.0


def test_a_way_as_a_function():
    assert ad.keypath(Model, lambda m: m.layers[0].weight) == ad.keypath(Model).layers[0].weight
    with pytest.raises(TypeError, match="attributes and items"):
        ad.keypath(Model, lambda m: 3.0)
    with pytest.raises(TypeError, match="starts from a class"):
        ad.keypath(model())


def test_what_does_not_fit_is_told_with_both_structures():
    with pytest.raises(ad.KeyPathError) as caught:
        ad.keypath(Model).layers[2].weight.get(model())
    text = str(caught.value)
    assert "AD0410" in text
    assert ".layers[2].weight does not fit: there is no [2] in .layers" in text
    assert ".layers is list of 2" in text
    assert "it was applied to Model(layers: list of 2, options: dict with the keys 'rate', name: str)" in text
    with pytest.raises(ad.KeyPathError) as caught:
        ad.keypath(Model).layers[0].weight.get(Layer(np.ones(2)))
    assert "the key path is one of Model(layers: list" in str(caught.value)
    assert "it was applied to Layer(weight: ndarray of shape (2,), bias: float)" in str(caught.value)


@pytest.mark.parametrize("path", [".missing", ".layers[5]", ".layers['a']", ".name[0].x", ".options[3]", ".name[0]"])
def test_misfits_raise_for_reading_and_writing(path):
    for use in (lambda p, m: p.get(m), lambda p, m: p.set(m, 1.0), lambda p, m: p.replaced(m, 1.0)):
        with pytest.raises(LookupError):
            use(ad.keypath(path), model())


def test_fits_a_gradient_of_the_same_structure():
    def loss(m):
        return np.sum(m.layers[0].weight * m.layers[1].weight) * m.layers[0].bias

    gradient = ad.grad(loss)(model())
    path = ad.keypath(Model).layers[1].weight
    np.testing.assert_array_equal(path.get(gradient), np.ones(2))
    with pytest.raises(ad.KeyPathError, match=r"Model\.TangentVector"):
        ad.keypath(Model).name.get(gradient)


def test_writability_from_declarations():
    @dataclass
    class Settings:
        fixed: Final[float]
        free: float
        pair: tuple[Layer, Layer]
        inner: Frozen
        maybe: Frozen | None

    root = ad.keypath(Settings)
    assert type(root.free) is ad.WritableKeyPath
    for path in (root.fixed, root.pair[0], root.pair[0].weight, root.inner.layer.weight, root.maybe.scale):
        assert type(path) is ad.KeyPath
    assert type(root.maybe) is ad.WritableKeyPath


def test_nothing_is_assigned_into_what_cannot_be():
    for path, value in ((ad.keypath()[0], (1.0,)), (ad.keypath(".scale"), Frozen(Layer(np.ones(1)), 1.0))):
        with pytest.raises(ad.KeyPathError, match="AD0411"):
            path.set(value, 2.0)
    with pytest.raises(ad.KeyPathError, match="AD0411"):
        ad.keypath().set([1.0], [2.0])
    with pytest.raises(TypeError, match="not writable"):
        model()[ad.keypath(Frozen).scale] = 1.0


def test_replaced_copies_the_way_and_shares_the_rest():
    frozen = Frozen(Layer(np.ones(2)), 1.0)
    changed = ad.keypath(Frozen).layer.bias.replaced(frozen, 5.0)
    assert (changed.layer.bias, frozen.layer.bias) == (5.0, 0.0)
    assert changed.layer.weight is frozen.layer.weight
    assert ad.keypath().left.replaced(Pair(1.0, 2.0), 3.0) == Pair(3.0, 2.0)
    assert ad.keypath()["a"][1].replaced({"a": (1, 2)}, 3) == {"a": (1, 3)}
    assert ad.keypath().replaced(1.0, 2.0) == 2.0


T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    content: T


def test_generic_classes_as_roots():
    assert type(ad.keypath(Box[tuple[float, float]]).content[0]) is ad.KeyPath
    assert [str(p) for p in ad.recursively_all_key_paths(Box[Layer])] == [
        ".content",
        ".content.weight",
        ".content.bias",
    ]


def test_protocols_of_python_find_no_fields():
    import copy

    path = ad.keypath(Model).layers
    assert copy.copy(path) == copy.deepcopy(path) == path
    assert not hasattr(path, "__array__") and not hasattr(path, "_repr_html_")
    with pytest.raises(TypeError):
        list(path)
    with pytest.raises(TypeError, match="slice"):
        path[0:2]
