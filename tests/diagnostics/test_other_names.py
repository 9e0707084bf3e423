"""Names of other systems are answered with what to write here."""

from __future__ import annotations

import re
import traceback
from typing import Any

import pytest

import adjoint as ad
from adjoint.diagnostics.other_names import KEYWORDS, NAMES


def square(x):
    return x * x


@pytest.mark.parametrize("name", ["vmap", "jit", "remat", "custom_vjp", "jacfwd", "tree_map", "ravel_pytree"])
def test_attributes(name: str) -> None:
    with pytest.raises(AttributeError) as found:
        getattr(ad, name)
    assert str(found.value) == f"module 'adjoint' has no attribute {name!r}; here: {NAMES[name]}"
    assert not hasattr(ad, name)


@pytest.mark.parametrize("name", NAMES)
def test_what_answers_name_is_there(name: str) -> None:
    assert name not in ad.__all__
    for path in re.findall(r"\bad\.([\w.]+)", NAMES[name]):
        found: Any = ad
        for part in path.split("."):
            found = getattr(found, part)


def test_misspelt_attributes() -> None:
    with pytest.raises(AttributeError, match=r"'gard'; did you mean 'grad'\?$"):
        ad.gard
    with pytest.raises(AttributeError, match=r"has no attribute 'xyzzy'$"):
        ad.xyzzy


@pytest.mark.parametrize(
    ("operator", "option", "said"),
    [
        (ad.grad, {"argnums": 0}, "write wrt=0"),
        (ad.jacobian, {"argnums": (0, 1)}, "write wrt=(0, 1)"),
        (ad.value_and_grad, {"create_graph": True}, "leave it out: derivatives nest, as ad.grad(ad.grad(f))"),
        (ad.grad, {"hasaux": True}, "did you mean has_aux=?"),
        (ad.grad, {"jit": True}, "write native=True"),
        (ad.grad, {"static_argnums": 1}, KEYWORDS["static_argnums"]),
    ],
)
def test_keywords(operator: Any, option: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError) as found:
        operator(square, **option)
    (name,) = option
    assert str(found.value) == f"{operator.__name__}() got an unexpected keyword argument {name!r}: {said}"
    assert [frame.filename for frame in traceback.extract_tb(found.value.__traceback__)] == [__file__]


def test_calls_that_do_not_fit_otherwise() -> None:
    with pytest.raises(TypeError, match=r"^grad\(\) missing 1 required positional argument: 'f'$"):
        ad.grad()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"lr": 0.1}, "write learning_rate="),
        ({"learning_rte": 0.1}, "did you mean learning_rate=?"),
        ({"betas": (0.9, 0.99)}, "write beta1=, beta2="),
        ({"params": [1.0]}, "leave it out: the model is handed to update(model, along=gradient)"),
    ],
)
def test_hyperparameters(option: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError) as found:
        ad.optim.Adam(**option)
    assert str(found.value).endswith(f": {said}")
    assert [frame.filename for frame in traceback.extract_tb(found.value.__traceback__)] == [__file__]
