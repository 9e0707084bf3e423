"""The functions that a gradient is made of: primal, adjoint and canonical gradient; components of results."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad
from api.chaotic import chaotic


def exponential(x: float) -> float:
    return math.exp(x)


def layer(w, x):
    s = np.tanh(x @ w)
    return s, {"sum": s.sum()}


@dataclass
class Model:
    w: np.ndarray
    b: float
    parts: list


def loss(m, x):
    t = m.b
    m.parts.append(t)
    for p in m.parts:
        t = t * p + (m.w * x).sum()
    return t


def the_model():
    return Model(np.ones(3), 0.5, [1.0, 2.0])


class TestThePrimalAndTheAdjoint:
    @pytest.mark.parametrize("native", [False, True])
    def test_make_the_gradient(self, native):
        df = ad.grad(chaotic, wrt=(0, 1), native=native)
        checkpoints, value = df.primal(1.2, 0.7)
        assert value == chaotic(1.2, 0.7)
        assert df.adjoint(checkpoints, value) == pytest.approx(df(1.2, 0.7))
        assert df.adjoint(checkpoints, value, 2) == pytest.approx(tuple(2 * each for each in df(1.2, 0.7)))
        assert df.canonical(1.2, 0.7, seed=2.0) == (value, df.adjoint(checkpoints, value, 2.0))

    def test_read_as_the_whitepaper_describes_them(self):
        assert ad.source(ad.grad(exponential).canonical) == (
            "def exponential_canonical(x, seed):\n"
            "    checkpoints, value = exponential_primal(x)\n"
            "    return value, exponential_adjoint(checkpoints, value, seed)\n\n\n"
            "def exponential_primal(x):\n"
            "    checkpoints = ExponentialCheckpoints()\n"
            "    return checkpoints, math.exp(x)\n\n\n"
            "def exponential_adjoint(checkpoints, value, seed):\n"
            "    return seed * value\n"
        )

    def test_name_what_is_kept_as_the_tape_report_does(self, capsys):
        df = ad.grad(chaotic)
        reported = [kept.name for loop in ad.tape_report(df).loops for kept in loop.kept]
        fields = dataclasses.fields(df.checkpoints)
        assert reported == ["z"]
        assert [field.name for field in fields] == ["z", "x", "y", "t"]
        assert fields[0].type == list[float]
        assert fields[3].metadata["text"] == "math.exp(x)"
        capsys.readouterr()

    def test_of_results_of_any_structure(self):
        df = ad.grad(layer)
        w, x = np.ones(3), np.arange(6.0).reshape(2, 3) / 10
        checkpoints, value = df.primal(w, x)
        expected = ad.vjp(layer, w, x)[1]((np.ones(2), {"sum": 3.0}))[0]
        np.testing.assert_allclose(df.adjoint(checkpoints, value, (np.ones(2), {"sum": 3.0})), expected)
        np.testing.assert_array_equal(df.adjoint(checkpoints, value, None), np.zeros(3))

    def test_of_one_component(self):
        df = ad.grad(layer, result=ad.keypath()[1]["sum"])
        w, x = np.ones(3), np.arange(6.0).reshape(2, 3) / 10
        value, gradient = df.canonical(w, x)
        assert value[1]["sum"] == layer(w, x)[1]["sum"]
        np.testing.assert_allclose(gradient, df(w, x))

    def test_of_objects_that_are_written(self):
        df = ad.grad(loss)
        checkpoints, value = df.primal(the_model(), np.ones(3))
        found, expected = df.adjoint(checkpoints, value), df(the_model(), np.ones(3))
        np.testing.assert_allclose(found.w, expected.w)
        assert (found.b, found.parts) == (expected.b, expected.parts)
        assert df.adjoint(checkpoints, value).parts == expected.parts  # it may be called again

    def test_of_a_second_derivative(self):
        assert ad.grad(ad.grad(exponential)).canonical(0.3) == pytest.approx((math.exp(0.3),) * 2)

    def test_keep_nothing_of_an_argument_that_changes_afterwards(self):
        df, x = ad.grad(lambda x: np.sum(x * x)), np.ones(2)
        checkpoints, value = df.primal(x)
        x[:] = 5.0
        np.testing.assert_array_equal(df.adjoint(checkpoints, value), [2.0, 2.0])

    def test_follow_what_a_method_captures(self):
        class Spring:
            k = 3.0

            def energy(self, x):
                return self.k * x * x

        spring = Spring()
        spring.k = 3.0
        df = ad.grad(spring.energy)
        assert df.canonical(2.0) == (12.0, 12.0)
        spring.k = 5.0
        assert df.canonical(2.0) == (20.0, 20.0)

    def test_can_be_copied_and_pickled(self):
        df = ad.grad(chaotic, wrt=(0, 1))
        checkpoints, value = df.primal(1.2, 0.7)
        again = pickle.loads(pickle.dumps(df.adjoint))
        assert again(copy.deepcopy(checkpoints), value) == df(1.2, 0.7)
        assert pickle.loads(pickle.dumps(df.primal))(1.2, 0.7)[1] == value
        assert repr(df.canonical) == "grad(chaotic, wrt=(0, 1)).canonical"

    def test_has_aux(self):
        df = ad.grad(lambda x: (x * x, {"steps": 3}), has_aux=True)
        checkpoints, value = df.primal(3.0)
        assert value == (9.0, {"steps": 3})
        assert df.adjoint(checkpoints, value) == 6.0


class TestMisuseOfArtifacts:
    def test_checkpoints_of_another_derivative(self):
        checkpoints, value = ad.grad(exponential).primal(2.0)
        with pytest.raises(ad.DifferentiationError) as refusal:
            ad.grad(chaotic).adjoint(checkpoints, value, 1.0)
        (problem,) = refusal.value.diagnostics
        assert problem.title == "the adjoint needs the checkpoints that its primal gave"
        assert problem.labels[0].text == "these are ExponentialCheckpoints of another derivative"
        assert problem.helps == (
            "checkpoints, value = df.primal(*args), and then df.adjoint(checkpoints, value, seed)",
        )

    def test_no_checkpoints(self):
        with pytest.raises(ad.DifferentiationError, match="of class 'tuple', and no checkpoints"):
            ad.grad(exponential).adjoint((1.0,), 2.0)

    def test_a_seed_of_another_structure(self):
        df = ad.grad(layer)
        checkpoints, value = df.primal(np.ones(3), np.ones((2, 3)))
        with pytest.raises(ad.DifferentiationError, match=r"the seed: expected a tuple of length 2, got 1\.0"):
            df.adjoint(checkpoints, value)

    def test_of_what_has_none(self):
        with pytest.raises(ad.DifferentiationError, match="'compile' has no primal and no adjoint"):
            ad.compile(exponential).primal(1.0)

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: ad.grad(exponential).canonical(x)[1],
            lambda x: ad.grad(exponential).primal(x)[1],
        ],
    )
    def test_in_code_that_is_differentiated(self, f):
        with pytest.raises(ad.DifferentiationError, match="AD0"):
            ad.grad(f)(1.0)

    def test_as_what_is_differentiated(self):
        with pytest.raises(ad.DifferentiationError, match="'primal' of a derivative is not for other code to call"):
            ad.grad(ad.grad(exponential).primal)(1.0)

    def test_of_types_that_are_not_known(self):
        with pytest.raises(ad.DifferentiationError, match="AD0401"):
            _ = ad.grad(lambda x: x).checkpoints


class Result(NamedTuple):
    loss: float
    norm: float


@dataclass
class Outcome:
    loss: float
    parts: list


def as_dict(x):
    return {"loss": x * x, "steps": 3, 1: (x, x**3)}


def as_pair(x):
    return x, (x * x, 3.0 * x)


def as_named_tuple(x):
    return Result(x * x, 2.0 * x)


def as_object(x):
    return Outcome(x * x, [x, x**3])


class TestComponentsOfResults:
    @pytest.mark.parametrize(
        ("f", "result", "expected"),
        [
            (as_dict, "loss", 6.0),
            (as_dict, ad.keypath()[1][1], 27.0),
            (as_pair, 0, 1.0),
            (as_pair, -2, 1.0),
            (as_pair, ad.keypath()[-1][0], 6.0),
            (as_named_tuple, "loss", 6.0),
            (as_named_tuple, 1, 2.0),
            (as_named_tuple, ad.keypath(Result).loss, 6.0),
            (as_object, "loss", 6.0),
            (as_object, ad.keypath(Outcome).parts[1], 27.0),
        ],
    )
    def test_are_chosen(self, f, result, expected):
        assert ad.grad(f, result=result)(3.0) == expected
        second = {6.0: 2.0, 27.0: 18.0}.get(expected, 0.0)
        with warnings.catch_warnings(action="ignore"):
            assert ad.grad(ad.grad(f, result=result))(3.0) == second

    def test_in_code_that_is_differentiated(self):
        assert ad.grad(lambda x: x * ad.grad(as_named_tuple, result="loss")(x))(3.0) == 12.0

    def test_beside_the_whole_value(self):
        assert ad.value_and_grad(as_named_tuple, result="loss")(3.0) == (Result(9.0, 6.0), 6.0)

    def test_natively(self):
        assert ad.grad(as_named_tuple, result="norm", native=True)(3.0) == 2.0

    @pytest.mark.parametrize(
        ("f", "result", "said"),
        [
            (as_dict, "cost", "result='cost', but the function returns a dict with the keys 'loss', 'steps', 1"),
            (as_pair, 2, "result=2, but the function returns a tuple of 2"),
            (as_object, "lss", "result='lss', but the function returns Outcome(loss, parts)"),
            (as_named_tuple, 2, "result=2, but the function returns Result(loss, norm)"),
            (as_named_tuple, 0.5, "result=0.5 is no index, name or key path"),
            (exponential, 0, "result=0, but the function returns a number"),
            (as_pair, 1, "this returns a tuple of 2, not a number"),
        ],
    )
    def test_that_are_not_there(self, f, result, said):
        with pytest.raises(ad.DifferentiationError) as refusal:
            ad.grad(f, result=result)(3.0)
        assert said in str(refusal.value)

    def test_with_an_auxiliary_result(self):
        with pytest.raises(ad.DifferentiationError, match="with has_aux=True the first of the pair is differentiated"):
            ad.grad(as_pair, has_aux=True, result=0)
