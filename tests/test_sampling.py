"""What a run of the tests takes a share of."""

from __future__ import annotations

import pytest

import sampling


@pytest.fixture
def share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "THOROUGH", False)
    monkeypatch.setattr(sampling, "SHARES", {"tests/some/": 2})


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
def test_days_have_shares_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"tests/some/test_a.py::test_variants[{i}]" for i in range(200)]
    ran: set[str] = set()
    for day in range(1, 13):
        monkeypatch.setattr(sampling, "DAY", f"2026-02-{day:02}")
        ran |= set(many) - sampling.left_out(many)
    assert ran == set(many)


@pytest.mark.usefixtures("share")
def test_all_run_where_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "THOROUGH", True)
    assert not sampling.left_out([f"tests/some/test_a.py::test[{i}]" for i in range(50)])
