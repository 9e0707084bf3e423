"""The page lists the functions that are there, and no others."""

import re
from pathlib import Path

import numpy as np
import pytest

from adjoint.rules import registry
from adjoint.runtime.array_libraries.adapters import Unsupported, adapter_of
from adjoint.types.array_libraries import library_of
from tests.array_libraries.libraries import called

PAGE = Path(__file__).parents[2] / "docs" / "interop" / "arrays-of-other-libraries.md"
UNSAID = {
    "broadcast_shapes",
    "iscomplexobj",
    "may_share_memory",
    "ndim",
    "result_type",
    "shape",
    "shares_memory",
    "size",
}
"""Facts of arrays."""


def covered(array):
    """The functions of NumPy with derivatives, or without any need of one, that the library of an array has."""
    adapter = adapter_of(library_of(array))
    found = set()
    for prefix, home in (((), np), (("linalg",), np.linalg)):
        for name in dir(home):
            function = getattr(home, name)
            if name.startswith("_") or isinstance(function, type) or registry.rule_for(function) is None:
                continue
            try:
                adapter.check((*prefix, name))
            except Unsupported:
                continue
            found.add(".".join((*prefix, name)))
    return found - UNSAID


def test_the_page_lists_what_is_there():
    library = called("array_api_strict")
    listed = re.search(r"<!-- functions -->\n(.*?)<!-- end -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert listed is not None
    names = set(re.findall(r"[\w.]+", listed[1]))
    assert names == covered(library.make(np.ones(1))) | {"einsum"}


def test_torch_has_the_same():
    strict, torch = called("array_api_strict"), called("torch")
    pytest.importorskip("array_api_compat")
    there = covered(torch.make(np.ones(1)))
    assert there == covered(strict.make(np.ones(1))) | {"einsum"}
