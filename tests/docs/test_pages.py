"""What the pages show is what happens: every block is run, or is marked as text.

Blocks of ``python`` are sessions, or programs; of ``console``, commands and what they print. A comment before a block,
``<!-- test: thorough -->``, leaves it to `make thorough`; of the recipes, a share is run each time.
"""

import doctest
import inspect
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adjoint.dispatch import specialize
from adjoint.rules import declarations
from sampling import THOROUGH, is_chosen

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "docs/distributed.md",
    "docs/step-by-step.md",
    "docs/passes.md",
    "docs/interop/arrays-of-other-libraries.md",
    "docs/interop/casadi.md",
    "docs/interop/fits.md",
    "docs/interop/ipopt.md",
    "docs/interop/jax.md",
    "docs/interop/mpi.md",
    "docs/interop/nutpie.md",
    "docs/interop/openmdao.md",
    "docs/interop/scipy.md",
    "docs/interop/torch.md",
}
"""Pages with tests of their own."""
COMPILING = {"native"}
NOT_RUN = {"text", "yaml", "", "toml"}
PAGES = sorted(
    path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    if path.relative_to(ROOT).as_posix() not in ELSEWHERE
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SEES_WHOLE_MESSAGES = "format_exception_only(*exception[:2])[-1]" not in inspect.getsource(doctest)
"""Earlier versions of doctest compare the last line only: the last of the notes."""
BLOCK = re.compile(r"^(?P<mark><!-- test: thorough -->\n)?```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S)


def blocks(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("\n```") % 2 == 0, "a block is not closed"
    return list(BLOCK.finditer(text))


def is_session(block):
    return block["kind"].split(" ")[0] == "python" and ">>>" in block["text"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_says_what_it_is(page):
    for block in blocks(page):
        kind = block["kind"].split(" ")[0]
        assert kind in {"python", "console", *NOT_RUN}, kind
        assert kind != "" or ">>>" not in block["text"], "mark it as python"


def sections(text):
    """The numbers of the lines under each heading, by name."""
    found, name = {}, ""
    for number, line in enumerate(text.split("\n")):
        if line.startswith("## "):
            name = line[3:]
        found.setdefault(name, set()).add(number)
    return found


@pytest.mark.parametrize("page", [p for p in PAGES if any(map(is_session, blocks(p)))], ids=lambda page: page.stem)
def test_sessions(page):
    pytest.importorskip("safetensors")
    text = page.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(
        re.sub(r"^```.*$", "", text, flags=re.M), {"__name__": "__main__"}, page.name, page.name, 0
    )
    skipped = set()
    for block in blocks(page):
        if block["mark"] and not THOROUGH:
            first = text[: block.start()].count("\n")
            skipped |= set(range(first, first + block[0].count("\n")))
    if page.stem in COMPILING and not THOROUGH:
        pytest.skip("most of it compiles machine code; 'make thorough' runs it")
    if page.stem == "recipes":
        for name, lines in sections(text).items():
            skipped |= set() if not name or is_chosen(name, 3) else lines
    for example in test.examples:
        is_cut = not SEES_WHOLE_MESSAGES and (example.exc_msg or "").rstrip().endswith("...")
        if example.lineno in skipped or is_cut:
            example.options[doctest.SKIP] = True
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    before = set(declarations._declarations)
    runner.run(test)
    for key in set(declarations._declarations) - before:  # what a page declares is not for other tests
        del declarations._declarations[key]
    specialize.forget()
    assert runner.summarize().failed == 0
    assert runner.tries >= 2


def programs(page):
    return [
        (number, block)
        for number, block in enumerate(blocks(page))
        if block["kind"] == "python" and ">>>" not in block["text"]
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if programs(page)], ids=lambda page: page.stem)
def test_programs(page, capsys):
    for number, block in programs(page):
        name = f"<{page.name}[{number}]>"
        lines = block["text"].splitlines(keepends=True)
        linecache.cache[name] = (len(block["text"]), None, lines, name)
        namespace = {"__name__": "program"}
        exec(compile(block["text"], name, "exec"), namespace)
        for line in lines:  # what is said of a value beside it
            shown = re.match(r"(?P<expression>\S.*\))  # (?P<value>[-\d.]+)$", line)
            if shown is not None:
                assert eval(shown["expression"], namespace) == float(shown["value"])


CONSOLE = [page for page in PAGES if any(block["kind"] == "console" for block in blocks(page))]


@pytest.mark.parametrize("page", CONSOLE, ids=lambda page: page.stem)
def test_commands(page, tmp_path):
    """Files are the blocks that have a title."""
    for block in blocks(page):
        title = re.search(r'title="([^"]+)"', block["kind"])
        if title is not None:
            (tmp_path / title[1]).write_text(block["text"])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    for block in blocks(page):
        if block["kind"] != "console":
            continue
        for part in re.split(r"^\$ ", block["text"], flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            program, *rest = command.split(" ", 1)
            assert program == "adjoint"
            line = f"{sys.executable} -m adjoint.cli {' '.join(rest)}"
            done = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
            if printed.strip():
                assert doctest.OutputChecker().check_output(printed, done.stdout + done.stderr, FLAGS)


LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    """To files that are there, and headings in them."""
    text = re.sub(r"^```.*?^```$|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in LINK.findall(text):
        if "://" in link:
            continue
        where, _, anchor = link.partition("#")
        target = (page.parent / where).resolve() if where else page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
            assert anchor in slugs, link


def test_the_site_has_every_page_and_name():
    """The navigation names each page once; the reference each public name."""
    import adjoint

    configuration = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r": ([\w/-]+\.md)$", configuration, re.M)
    assert sorted(named) == sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
    reference = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    told = set(re.findall(r"^::: adjoint\.(\w+)", reference, re.M))
    assert set(adjoint.__all__) - told == {"__version__", "interop", "tangents", "types"}


@pytest.mark.skipif(not THOROUGH, reason="takes some seconds: 'make thorough' does it")
def test_the_site_is_made_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "api" / "operators" / "index.html").read_text(encoding="utf-8")
    assert "The gradient of a function that returns a number." in page and ":func:<code>" not in page


def test_the_refusal_that_the_readme_shows(tmp_path):
    shown = next(b["text"] for b in blocks(ROOT / "README.md") if b["text"].startswith("error[AD0201]"))
    line, call = re.search(r"^12 \| ( +return (\w+)\(.*)$", shown, re.M).groups()
    lines = [""] * 29
    lines[0] = f"import adjoint as ad; from scipy.special import {call}"
    lines[10:12] = ["def likelihood(x):", line]
    lines[28:] = ["if True:", "        ad.grad(likelihood)(0.5)"]
    (tmp_path / "train.py").write_text("\n".join(lines))
    run = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stderr.partition("DifferentiationError: ")[2] == shown
