"""Unrolled updates are the loop over the parameters, written out."""

import linecache
import operator
import pickle
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjoint as ad
from adjoint.parameters import Layout, Leaves

RATE = 0.5


@ad.unrolled
def descend(p, g, *, rate):
    p -= rate * g


@ad.unrolled
def descend_anew(p, g, *, rate):
    p = p - rate * g


@ad.unrolled
def smooth(p, average, *, keep):
    average *= keep
    average += (1 - keep) * p


@ad.unrolled
def branching(p, g, *, is_fast, rate):
    d = g if is_fast else 0.5 * g
    if not is_fast:
        d = d * rate
    p -= d


@dataclass
class Dense:
    weight: np.ndarray
    bias: float
    name: str = "dense"


def structure():
    return {"layers": [Dense(np.ones((2, 2)), 1.0), Dense(np.full(3, 2.0), 2.0)], "scale": 3.0, "steps": 7}


def loop(x, g, rate):
    """The update as a loop over key paths."""
    for path in ad.recursively_all_writable_key_paths(x, to=(np.float64, float)):
        path.set(x, path.get(x) - rate * path.get(g))


@pytest.mark.parametrize("update", [descend, descend_anew])
def test_it_equals_the_loop(update):
    ours, theirs, gradient = structure(), structure(), structure()
    update(ours, gradient, rate=0.1)
    loop(theirs, gradient, 0.1)
    assert ours["layers"][0].bias == theirs["layers"][0].bias and ours["scale"] == theirs["scale"]
    for mine, other in zip(ours["layers"], theirs["layers"], strict=True):
        np.testing.assert_array_equal(mine.weight, other.weight)
    assert ours["steps"] == 7 and ours["layers"][1].name == "dense"


leaf = st.one_of(
    st.floats(-10, 10),
    st.lists(st.floats(-10, 10), max_size=3).map(lambda items: np.array(items, float)),
    st.integers(0, 3),
    st.none(),
    st.text(max_size=2),
)
trees = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3),
        st.tuples(inner, inner),
    ),
    max_leaves=8,
)


def by_recursion(x):
    if isinstance(x, (float, np.ndarray)):
        return x - 0.25 * x
    if isinstance(x, (list, tuple)):
        return type(x)(map(by_recursion, x))
    return {key: by_recursion(item) for key, item in x.items()} if isinstance(x, dict) else x


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the first example reads the source
@given(trees)
def test_any_structure(tree):
    found = descend.applied(tree, tree, rate=0.25)
    assert repr(found) == repr(by_recursion(tree))


def test_arrays_stay_where_they_are():
    for update in (descend, descend_anew):
        x = structure()
        array = x["layers"][0].weight
        update(x, structure(), rate=0.5)
        assert x["layers"][0].weight is array
        assert array[0, 0] == 0.5


def test_a_new_value_leaves_the_old_one():
    x, g = (Dense(np.ones(2), 1.0), np.float32(2.0)), (Dense(np.ones(2), 1.0), np.float32(1.0))
    for update in (descend, descend_anew):
        found = update.applied(x, g, rate=0.5)
        assert isinstance(found, tuple) and isinstance(found[1], np.float32) and found[1] == 1.5
        np.testing.assert_array_equal(found[0].weight, [0.5, 0.5])
        np.testing.assert_array_equal(x[0].weight, [1.0, 1.0])
        assert found[0].name == "dense"


def test_any_number_of_structures_can_be_written():
    model, average = structure(), descend.applied(structure(), structure(), rate=1.0)
    smooth(model, average, keep=0.75)
    assert average["scale"] == 0.75
    np.testing.assert_array_equal(average["layers"][0].weight, np.full((2, 2), 0.25))
    assert model["scale"] == 3.0


def test_flags_are_decided_beforehand():
    x = {"p": 1.0}
    text = branching.source(x, x, is_fast=True)
    assert "if" not in text and "is_fast" not in text
    branching(x, {"p": 0.25}, is_fast=True, rate=0.5)
    assert x == {"p": 0.75}
    branching(x, {"p": 1.0}, is_fast=False, rate=0.5)
    assert x == {"p": 0.5}


def test_the_text_is_straight_line_code_that_tools_find():
    x = structure()
    text = descend.source(x, x)
    assert text.count("p -= rate * g") == 3 and text.count("p -= c0 * g") == 1
    assert "# ['layers'][0].weight, ['layers'][1].weight" in text
    assert "for " not in text and "# ['layers'][1].bias" in text
    descend(x, x, rate=0.5)
    files = [name for name in linecache.cache if name.startswith("<adjoint descend #")]
    assert any("".join(linecache.getlines(name)) == text for name in files)


def test_long_lists_of_numbers_are_run_through():
    def made(count=100, kind=float):
        return {"a": 1.0, "long": [kind(i) for i in range(count)], "b": np.ones(2)}

    text = descend.source(made(), made())
    assert "for i in range(100):" in text and "# ['long'][0] to ['long'][99]" in text and text.count("p -= ") == 3
    for count, kind in ((100, float), (100, np.float32), (50, float), (5, float)):
        x = made(count, kind)
        descend(x, made(count, kind), rate=0.25)
        assert x["long"] == [kind(0.75 * i) for i in range(count)] and {*map(type, x["long"])} == {kind}
        assert x["a"] == 0.75
        average = descend.applied(made(count, kind), made(count, kind), rate=1.0)
        smooth(x, average, keep=0.5)
        assert average["long"] == [kind(0.375 * i) for i in range(count)]
    x = made()
    x["long"][7] = "text"
    descend(x, x, rate=0.5)
    assert x["long"][6:9] == [3.0, "text", 4.0]
    g = made()
    g["long"][3] = None
    x = made()
    descend(x, g, rate=0.5)
    assert x["long"][2:5] == [1.0, 3.0, 2.0]
    g["long"][3] = 2
    descend(x, g, rate=0.5)
    assert x["long"][3] == 2.0
    flat = Layout(x).filled(1.0)
    smooth(x, flat, keep=0.0)
    assert flat[1:4] == x["long"][:3]


def test_one_text_for_one_structure():
    update = ad.unrolled(descend.function)
    for _ in range(3):
        update(structure(), structure(), rate=0.5)
    assert sum(map(len, update._plans.values())) == 1
    update({"x": 1.0}, {"x": 1.0}, rate=0.5)
    assert sum(map(len, update._plans.values())) == 2


def test_changes_of_structure_are_noticed():
    x = {"p": 1.0, "q": None}
    descend(x, {"p": 1.0, "q": None}, rate=0.5)
    x["q"] = np.ones(2)
    descend(x, {"p": 1.0, "q": np.ones(2)}, rate=0.5)
    assert x["p"] == 0.0 and x["q"][0] == 0.5
    x["p"] = np.ones(3)
    descend(x, {"p": np.ones(3), "q": np.ones(2)}, rate=0.5)
    assert x["p"][0] == 0.5
    layer = Dense(np.ones(1), 1.0)
    descend(layer, layer, rate=0.5)
    layer.extra = 4.0
    descend(layer, layer, rate=0.5)
    assert layer.extra == 2.0
    layers = [1.0]
    descend(layers, [1.0], rate=0.5)
    layers.append(1.0)
    descend(layers, [1.0, 1.0], rate=0.5)
    assert layers == [0.0, 0.5]


def test_an_object_that_is_there_twice_is_updated_once():
    shared = Dense(np.ones(2), 1.0)
    x = [shared, shared]
    g = ad.grad(lambda x: np.sum(x[0].weight) + x[1].bias + x[0].bias)(x)
    descend(x, g, rate=0.25)
    assert shared.bias == 0.5
    np.testing.assert_array_equal(shared.weight, [0.75, 0.75])
    found = descend.applied(x, g, rate=0.25)
    assert found[0] is found[1]
    x[1] = Dense(np.ones(2), 1.0)
    descend(x, [shared, x[1]], rate=0.5)
    assert x[1].bias == 0.5


def test_objects_that_become_one_or_two_are_noticed():
    one, other = [1.0], [1.0]
    x = [one, one]
    descend(x, [[1.0], [1.0]], rate=0.25)
    assert one == [0.75]
    x[1] = other
    descend(x, [[1.0], [1.0]], rate=0.25)
    assert one == [0.5] and other == [0.75]
    x[0] = other
    descend(x, [[1.0], [1.0]], rate=0.25)
    assert other == [0.5]


def test_an_array_that_is_there_twice_has_one_partner():
    array, other = np.ones(2), np.ones(2)
    descend([array, array], [other, other], rate=0.25)
    np.testing.assert_array_equal(array, [0.75, 0.75])
    with pytest.raises(ad.DifferentiationError, match=r"\[0\] and \[1\] are one array"):
        descend([array, array], [other, other.copy()], rate=0.25)
    untied = [array, other]
    descend(untied, [np.ones(2), np.ones(2)], rate=0.25)
    np.testing.assert_array_equal(array, [0.5, 0.5])


def test_an_integer_in_a_float_field_is_a_parameter():
    layer = Dense(np.ones(1), 1)
    descend(layer, Dense(np.ones(1), 0.5), rate=0.5)
    assert layer.bias == 0.75 and isinstance(layer.bias, float)


class Pair(NamedTuple):
    a: float
    b: list


@dataclass(frozen=True)
class Fixed:
    x: float
    inner: list


@dataclass
class Slots:
    __slots__ = ("x",)
    x: float


@dataclass
class Private:
    __secret: float
    constant: float = field(default=1.0, metadata={"no_derivative": True})


def test_odd_holders():
    pair = descend.applied(Pair(1.0, [2.0]), Pair(1.0, [1.0]), rate=0.5)
    assert pair == Pair(0.5, [1.5])
    fixed = descend.applied(Fixed(1.0, [2.0]), Fixed(1.0, [1.0]), rate=0.5)
    assert fixed == Fixed(0.5, [1.5])
    slots = Slots(1.0)
    descend(slots, Slots(1.0), rate=0.5)
    assert slots.x == 0.5
    private = Private(1.0)
    descend(private, Private(1.0), rate=0.5)
    assert private == Private(0.5)
    keys = {(1, 2): 1.0, None: 2.0, 1.5: 3.0}
    descend(keys, dict(keys), rate=0.5)
    assert keys == {(1, 2): 0.5, None: 1.0, 1.5: 1.5}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Pair(1.0, [2.0]), r"\.a is held by a value of type 'Pair'"),
        (Fixed(1.0, [2.0]), r"\.x is held by a value of type 'Fixed'"),
        (([1.0], 2.0), r"\[1\] is held by a value of type 'tuple'"),
        (2.0, "it is itself a value of type 'float'"),
    ],
)
def test_what_is_immutable_is_refused(value, message):
    with pytest.raises(ad.DifferentiationError, match=message):
        descend(value, value, rate=0.5)


@pytest.mark.parametrize(
    ("partner", "message"),
    [
        ({"a": np.ones(3), "b": [1.0]}, r"at \['a'\] there is an array of float64 with shape \(3,\) for an array with"),
        ({"a": np.ones(2), "b": [1.0, 2.0]}, r"at \['b'\] there are 2 items for 1"),
        ({"a": np.ones(2), "b": [1.0], "c": 1.0}, "a key 'c' that the structure does not have"),
        ({"a": np.ones(2), "b": 1.0}, r"at \['b'\] there is a value of type 'float' for a list"),
        ({"a": 1.0, "b": [1.0]}, r"at \['a'\] there is a value of type 'float' for an array"),
        ({"a": np.ones(2), "b": [np.ones(1)]}, r"at \['b'\]\[0\] there is an array"),
        ([1.0], "at the top there is a value of type 'list' for a dict"),
    ],
)
def test_structures_that_do_not_agree_are_refused(partner, message):
    x = {"a": np.ones(2), "b": [1.0]}
    with pytest.raises(ad.DifferentiationError, match=message):
        descend(x, partner, rate=0.5)
    assert x["b"] == [1.0]


def test_a_gradient_of_what_is_no_parameter_is_refused():
    tangent = ad.tangents.zero(Dense(np.ones(2), 1.0))
    tangent.name = 2.0
    with pytest.raises(ad.DifferentiationError, match=r"at \.name there is a value of type 'float' for a value of"):
        descend(Dense(np.ones(2), 1.0), tangent, rate=0.5)
    del tangent.name
    tangent.other = 2.0
    with pytest.raises(ad.DifferentiationError, match="a field 'other' that the structure does not have"):
        descend(Dense(np.ones(2), 1.0), tangent, rate=0.5)
    with pytest.raises(ad.DifferentiationError, match="for a value of type 'NoneType'"):
        descend({"w": 1.0, "b": None}, {"w": 1.0, "b": 1.0}, rate=0.5)


def test_flat_lists_stand_for_structures():
    x = structure()
    layout = Layout(x)
    moments = layout.filled(1.0)
    assert isinstance(moments, Leaves) and moments[1] == 1.0
    smooth(x, moments, keep=0.5)
    assert moments[4] == 2.0
    assert layout.paths[0] == "['layers'][0].weight"
    rebuilt = layout.rebuilt(x, moments)
    assert rebuilt["scale"] == 2.0 and rebuilt["steps"] == 7


def test_small_arrays_are_updated_together_if_their_memory_is_their_own():
    buffer = np.ones(6)
    overlapping = {"a": buffer[:4], "b": buffer[2:]}
    assert "concatenate" not in descend.source(overlapping, overlapping)
    apart = {"a": np.ones(4), "b": np.ones((2, 2)), "c": np.ones(1, np.float32), "d": np.ones(3000)}
    text = descend.source(apart, apart)
    assert "concatenate((ps['a'], ps['b'].ravel()))" in text and "p = ps['d']" in text
    descend(apart, {key: np.arange(item.size).reshape(item.shape) * 1.0 for key, item in apart.items()}, rate=0.5)
    np.testing.assert_array_equal(apart["b"], [[1.0, 0.5], [0.0, -0.5]])
    fortran = {"a": np.ones(4), "b": np.asfortranarray(np.ones((2, 3)))}
    descend(fortran, {"a": np.ones(4), "b": np.arange(6.0).reshape(2, 3)}, rate=1.0)
    np.testing.assert_array_equal(fortran["b"], 1.0 - np.arange(6.0).reshape(2, 3))
    before = {"a": np.ones(4), "b": np.ones((2, 2))}
    descend(before, before, rate=0.5)
    before["a"] = buffer[:4]
    before["b"] = buffer[2:].reshape(2, 2)
    descend(before, {"a": np.ones(4), "b": np.ones((2, 2))}, rate=0.5)
    np.testing.assert_array_equal(buffer, [0.5, 0.5, 0.0, 0.0, 0.5, 0.5])


def test_functions_that_may_differ_in_the_last_bit_are_called_for_each_array():
    @ad.unrolled
    def squash(p, *, rate):
        p = np.tanh(rate * p)

    assert "concatenate" not in squash.source([np.ones(2), np.ones(3)])


def test_sharing_names_of_arrays_changes_nothing():
    @ad.unrolled
    def alias(p, g):
        d = g
        d *= 2.0
        before = p
        p -= d
        p += 0.5 * before

    for start, step in ((1.0, 0.25), (np.ones(1), np.full(1, 0.25))):
        x, g = [start], [step]
        alias(x, g)
        assert x[0] == 1.0
        assert g[0] == 0.25


def no_parameters_written(p, g):
    p + g


def with_a_loop(p, g):
    for _ in range(3):
        p -= g


def with_an_item(p, g):
    p[0] = g


def with_a_constant_written(p, *, rate):
    rate = 2.0
    p -= rate


def with_a_default(p, g=None):
    p -= 1.0


def with_data(p, g):
    p -= RATE * g


def with_a_result(p, g):
    p -= g
    return p


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_parameters_written, "it assigns to none of its parameters"),
        (with_a_loop, "only assignments to names and 'if'"),
        (with_an_item, "only names can be assigned to"),
        (with_a_constant_written, "'rate' is the same for all parameters"),
        (with_a_default, "plain names"),
        (with_data, "'RATE' is no parameter: hand it over"),
        (with_a_result, "only assignments to names and 'if'"),
        (lambda p: p, "a lambda cannot assign"),
        (operator.isub, "no source"),
    ],
)
def test_what_cannot_be_unrolled_is_refused(function, message):
    with pytest.raises(ad.DifferentiationError, match=message):
        ad.unrolled(function)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="descend takes the constants rate; it was given none"):
        descend([1.0], [1.0])
    descend([1.0], [1.0], rate=0.5)
    with pytest.raises(TypeError, match="descend takes the constants rate; it was given speed"):
        descend([1.0], [1.0], speed=0.5)
    with pytest.raises(TypeError, match="descend takes a structure for each of p, g, not 1"):
        descend([1.0], rate=0.5)


def test_updates_can_be_pickled_and_print():
    assert repr(descend) == "unrolled(descend)"
    assert pickle.loads(pickle.dumps(descend)) is descend
    compiled = pickle.loads(pickle.dumps(ad.unrolled(descend, native=True)))
    assert compiled.native is True and compiled is ad.unrolled(descend, native=True)


@ad.unrolled
def with_names(ps, new, *, i, copyto):
    """Names that the text would use itself."""
    ps = ps - i * copyto * new


def test_names_do_not_collide():
    for x in ([1.0, np.ones(2)], [3.0, np.ones(1), {"new": 2.0}]):
        found = with_names.applied(x, x, i=0.5, copyto=0.5)
        assert found[0] == 0.75 * x[0]
        with_names(x, x, i=0.5, copyto=0.5)
        np.testing.assert_array_equal(found[1], x[1])


def test_machine_code_keeps_to_its_arrays():
    fast = ad.unrolled(descend, native="strict")
    x = {"a": np.ones((2, 3), np.float32), "b": np.ones(2), "c": 1.0, "d": np.float32(1.0), "h": np.ones(1, np.float16)}
    g = {key: item * 2 for key, item in x.items()}
    text = fast.source(x, g)
    assert "descend_float32(ps['a'], gs['a'], c0_float32)" in text
    assert "ps['c'] = float(p)" in text
    fast(x, g, rate=0.25)
    assert all(np.all(np.asarray(item) == 0.5) for item in x.values())
    assert [np.asarray(item).dtype for item in x.values()] == [
        np.float32,
        np.float64,
        np.float64,
        np.float32,
        np.float16,
    ]


@pytest.mark.parametrize(
    "change", [lambda a: a.copy(), lambda a: np.asfortranarray(a), lambda a: np.repeat(a, 2, 0)[::2]]
)
def test_machine_code_for_any_layout_in_memory(change):
    fast = ad.unrolled(descend, native="strict")
    p, g = change(np.ones((3, 4, 2))), np.arange(24.0).reshape(3, 4, 2)
    fast([p], [g], rate=0.5)
    np.testing.assert_array_equal(p, 1.0 - 0.5 * g)
    g.flags.writeable = False
    fast([p], [g], rate=0.5)
    np.testing.assert_array_equal(p, 1.0 - g)
