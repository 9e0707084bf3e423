"""``np.einsum`` in machine code: values and derivatives are NumPy's, whatever the labels, layouts and numbers."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from rules.programs_in_files import module_of

EXTENTS = {"i": 2, "j": 3, "k": 4, "l": 5, "a": 2, "b": 3}
SUBSCRIPTS = [
    *("ij,jk->ik", "ij,jk->ki", "ij,jk", "ij,kj->ik", "ijb,ab->a", "ij,k->i", "ij,i->j", "i,i"),
    *("ij,ij->ij", "ij,ij->", "ij,ij", "i,j->ij", "i,j->ji", "ijk,ijl->ikl", "ijkl,kj->li", "ijkl,jkla->ia"),
    *("ij->ji", "ii->i", "ij->", "ij->j", "ijk->ki", "iij->ij", "ii,ij->j", "ii"),
    *("ij,jk,kl->il", "i,ij,j->", "ia,jb,ijab->", "ij,jk,ik->ik", ",ij->ij", "ij,->ji"),
    *("...ij,...jk->...ik", "i...,i->...", "...i->..."),
]


def operands(subscripts, make, order="C"):
    rng = np.random.default_rng(len(subscripts))
    terms = subscripts.replace("...", "ab").split("->")[0].split(",")
    shapes = [tuple(EXTENTS[label] for label in term) for term in terms]
    return tuple(np.asarray(make(rng.standard_normal(shape)), order=order) if shape else 0.75 for shape in shapes)


@pytest.fixture
def program(tmp_path):
    """Makes a function with these subscripts, and tells the places of its arguments."""

    def made(subscripts):
        names = ", ".join(f"x{place}" for place in range(subscripts.split("->")[0].count(",") + 1))
        value = f"np.real(np.sum(np.einsum({subscripts!r}, {names}) ** 3))"
        text = f"import numpy as np\n\n\ndef f({names}):\n    return {value}\n"
        return module_of(tmp_path / "sums.py", text).f, tuple(range(names.count(",") + 1))

    return made


NUMBERS = {
    "double": lambda x: x,
    "single": lambda x: x.astype(np.float32),
    "complex": lambda x: x + 0.5j * x[::-1],
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
def test_gradients(subscripts, order, program, asked):
    f, wrt = program(subscripts)
    args = operands(subscripts, NUMBERS["double"], order)
    native, interpreted = ad.grad(f, wrt=wrt, native=True)(*args), ad.grad(f, wrt=wrt)(*args)
    for one, other in zip(native, interpreted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert not any("einsum" in text for text in asked)


@pytest.mark.parametrize("numbers", ["single", "complex"])
@pytest.mark.parametrize("subscripts", [each for each in SUBSCRIPTS if each not in (",ij->ij", "ij,->ji")])
def test_other_numbers(subscripts, numbers, program, asked):
    f, wrt = program(subscripts)
    args = operands(subscripts, NUMBERS[numbers])
    native, interpreted = ad.grad(f, wrt=wrt, native=True)(*args), ad.grad(f, wrt=wrt)(*args)
    for one, other in zip(native, interpreted, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-4 if numbers == "single" else 1e-12, atol=1e-4)


def contracted(x, y):
    return np.sum(np.einsum("ij,jk->ik", x, y) ** 2)


@pytest.mark.each_time
@pytest.mark.parametrize(
    ("one", "other"), [((3, 1), (4, 2)), ((1, 4), (4, 2)), ((3, 4), (1, 2)), ((3, 0), (0, 2)), ((0, 4), (4, 2))]
)
def test_axes_of_one_element_are_repeated_and_empty_ones_are_summed(one, other):
    x, y = np.arange(1.0, 1.0 + np.prod(one)).reshape(one), np.cos(np.arange(np.prod(other))).reshape(other)
    native, interpreted = (ad.grad(contracted, wrt=(0, 1), native=way)(x, y) for way in (True, False))
    for mine, theirs in zip(native, interpreted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.each_time
@pytest.mark.parametrize("subscripts", ["ij,jk->ik", "ii->i"])
def test_extents_that_do_not_agree_are_refused(subscripts, program):
    f, _ = program(subscripts)
    args = (np.ones((2, 3)), np.ones((4, 2)))[: subscripts.count(",") + 1]
    with pytest.raises(ValueError, match=r"could not be broadcast|diagonal|dimensions in operand"):
        ad.grad(f, native=True)(*args)
