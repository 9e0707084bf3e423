"""What a run of the tests takes a share of."""

from __future__ import annotations

import pytest

import sampling


@pytest.fixture
def share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "THOROUGH", False)
    monkeypatch.setattr(sampling, "SHARES", {"tests/some/": 2})
    monkeypatch.setattr(sampling, "TURNS", {"tests/turns/": 2})


@pytest.mark.usefixtures("share")
def test_a_share_of_the_variants_of_a_test_runs_and_never_none() -> None:
    many = [f"tests/some/test_a.py::test_variants[{i}]" for i in range(200)]
    single = [f"tests/some/test_a.py::test_{i}[only]" for i in range(50)]
    plain = ["tests/some/test_a.py::test_plain", *(f"tests/other/test_b.py::test[{i}]" for i in range(50))]
    out = sampling.left_out([*many, *single, *plain])
    assert 60 < len(out) < 140
    assert out < set(many)
    assert sampling.left_out([*plain, *reversed(many), *single]) == out


@pytest.mark.usefixtures("share")
def test_whole_tests_take_turns_with_their_variants() -> None:
    plain = [f"tests/turns/test_a.py::test_{i}" for i in range(200)]
    pairs = [f"tests/turns/test_b.py::test_{i}[{variant}]" for i in range(200) for variant in "ab"]
    out = sampling.left_out([*plain, *pairs])
    assert 60 < len(out & set(plain)) < 140
    assert 120 < len(out & set(pairs)) < 280
    assert all((name[:-2] + "a]" in out) == (name[:-2] + "b]" in out) for name in pairs)
    assert sampling.left_out([*plain, *pairs], ["tests/turns/test_a.py"]) == out & set(pairs)


@pytest.mark.usefixtures("share")
def test_days_have_shares_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"tests/some/test_a.py::test_variants[{i}]" for i in range(200)]
    many += [f"tests/turns/test_a.py::test_{i}" for i in range(200)]
    ran: set[str] = set()
    for day in range(1, 22):
        monkeypatch.setattr(sampling, "DAY", f"2026-02-{day:02}")
        ran |= set(many) - sampling.left_out(many)
    assert ran == set(many)


@pytest.mark.usefixtures("share")
def test_all_run_where_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "THOROUGH", True)
    assert not sampling.left_out([f"tests/some/test_a.py::test[{i}]" for i in range(50)])
