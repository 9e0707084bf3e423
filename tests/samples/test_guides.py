"""What the guides show is what happens."""

import doctest
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    "name",
    [
        "artifacts.md",
        "checkpointing.md",
        "debugging.md",
        "derivatives.md",
        "flow.md",
        "functions.md",
        "implicit.md",
        "nn.md",
        "surgery.md",
        "training.md",
        "types.md",
    ],
)
def test_guide(name):
    pytest.importorskip("safetensors")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    text = (GUIDES / name).read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test)
    assert runner.summarize().failed == 0
    assert runner.tries >= 10
