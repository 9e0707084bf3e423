"""Progress bars of a library that is not looked into: what they are told does not come back as items."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

SOURCE = """
import functools

class Bar:
    def _begin(self, items, unit):
        self.items, self.text = items, unit

    __init__ = functools.partialmethod(_begin, unit="it")

    def __iter__(self):
        return iter(self.items)

    def set_description(self, text):
        self.text = text
"""
X = np.array([0.3, 1.2, 0.7])


@pytest.fixture(scope="module")
def bars(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("env") / "site-packages"
    folder.mkdir()
    (folder / "progressbar.py").write_text(SOURCE)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("progressbar")
    finally:
        sys.path.remove(str(folder))
        del sys.modules["progressbar"]


def test_what_a_bar_shows_does_not_come_back_as_items(bars: Any) -> None:
    def total(v):
        found, bar = 0.0, bars.Bar(range(3))
        for i in bar:
            found += v[i] ** 2 * i
            bar.set_description(f"{found:.2f}")
        for k, i in enumerate(bar):
            found *= v[i] + k
        return found

    right(total, X)


def test_what_a_bar_was_told_is_text_of_what_varies(bars: Any) -> None:
    def read(v):
        bar = bars.Bar(range(3))
        for i in bar:
            bar.set_description(f"{v[i]:.2f}")
        return float(bar.text)

    with pytest.raises(ad.DifferentiationError, match="a number that varies comes back from text"):
        ad.grad(read)(X)


def test_items_of_a_bar_may_be_such_texts(bars: Any) -> None:
    def read(v):
        found = 0.0
        for text in bars.Bar([f"{x}" for x in v]):
            found += float(text)
        return found

    with pytest.raises(ad.DifferentiationError, match="a number that varies comes back from text"):
        ad.grad(read)(X)
