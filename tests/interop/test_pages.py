"""What the pages on other tools show is what happens, where these are installed."""

import doctest
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "interop"
NEEDS = {
    "arrays-of-other-libraries.md": ("array_api_compat", "jax", "torch"),
    "casadi.md": ("casadi",),
    "fits.md": ("emcee", "iminuit", "lmfit", "mici"),
    "ipopt.md": ("ipyopt",),
    "jax.md": ("jax",),
    "mpi.md": ("mpi4py",),
    "nutpie.md": ("nutpie", "pymc"),
    "openmdao.md": ("openmdao",),
    "scipy.md": ("scipy",),
    "torch.md": ("torch",),
}


def test_all_pages_are_run():
    assert {page.name for page in PAGES.glob("*.md")} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_page(name):
    for package in NEEDS[name]:
        pytest.importorskip(package)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    text = (PAGES / name).read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test)
    assert runner.summarize().failed == 0
    assert runner.tries >= 4
