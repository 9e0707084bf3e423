"""The check on a version of Python that the tests have not run on, as if this one were unknown."""

import warnings

import pytest

import adjoint as ad
from adjoint.self_check import programs, versions


@pytest.fixture(autouse=True)
def unknown(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(versions.State, "pending", True)


def test_what_agrees_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(ad.DifferentiationWarning, match=f"AD0511.*\n.*{len(programs.PROGRAMS)} programs agree"):
        assert ad.grad(lambda x: x * x)(3.0) == 6.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ad.grad(lambda x: x * x * x)(3.0) == 27.0
        monkeypatch.setattr(versions.State, "pending", True)  # as in another process
        assert ad.grad(lambda x: x**4)(1.0) == 4.0


def test_what_disagrees_refuses_all_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    def square(x):
        return x * x

    @ad.derivative_of(square)
    def _(x):
        return x * x, lambda ct: (ct * 3 * x,)

    monkeypatch.setattr(programs, "PROGRAMS", ((square, 2.0), (programs.recursion, programs.X)))
    for _ in range(2):
        with pytest.raises(ad.DifferentiationError, match="of 2 programs these are: square") as refusal:
            ad.grad(lambda x: 5.0 * x)(3.0)
        assert refusal.value.diagnostics[0].code == "AD0903"


def test_there_are_some_thirty() -> None:
    assert len({f for f, _ in programs.PROGRAMS}) == len(programs.PROGRAMS) > 25
