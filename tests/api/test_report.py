"""The page of a derivative: what it says, and what it does in a browser."""

import itertools
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.tools.report import view, write_page
from adjoint.cli import main

PROGRAM = """
import numpy as np

def force(x, k):
    # a <spring> that stiffens
    return -k * x - 0.1 * x**3

def simulate(x: float, v: float, k: float = 2.0) -> float:
    for _ in range(10):
        v = v + 0.01 * force(
            x, k,
        )
        x = x + 0.01 * v
    return 0.5 * v * v + 0.5 * k * x * x
"""


class Page(HTMLParser):
    """The elements of a page: tags with attributes, by the keys of lines."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.lines = {}
        self.rows = []
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag == "li":
            panel = next(one["aria-label"] for name, one in reversed(self.open) if name == "section")
            self.lines.setdefault((panel, given["data-key"]), []).append(int(given["data-line"]))
            assert given["role"] == "option" and "tabindex" in given
        if tag == "tr" and "data-key" in given:
            self.rows.append(given["data-key"])
        if tag not in ("meta", "br"):
            self.open.append((tag, given))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "spring.py").write_text(PROGRAM)
    import importlib
    import sys

    sys.modules.pop("spring", None)
    yield importlib.import_module("spring")
    sys.modules.pop("spring", None)


def test_what_belongs_together(program, tmp_path):
    text = write_page(tmp_path / "page.html", ad.grad(program.simulate), 1.0, 0.0).read_text()
    page = Page(text)
    assert page.open == [] and page.links == [] and "://" not in text
    assert str(tmp_path) not in text
    derivative = ad.source(ad.grad(program.simulate), 1.0, 0.0).splitlines()

    def made_from(line):
        key = next(key for (panel, key), lines in page.lines.items() if panel == "Program" and line in lines and key)
        return [derivative[number - 1].strip() for number in page.lines["Derivative", key]]

    loop = made_from(9)
    assert loop[:3] == ["x_kept = [0.0] * 10", "for i in range(10):", "x_kept[i] = x"]
    assert loop[3:] == ["for i in reversed(range(10)):"]
    assert made_from(10) == made_from(12) != made_from(13)
    assert made_from(6)[-1].startswith("x_bar = x_bar - ")  # the other function's
    assert page.rows == [key for (panel, key), lines in page.lines.items() if panel == "Program" and 9 in lines]
    assert "<pre>    <span" in text  # not to be collapsed by who rewrites HTML
    assert "keeps x (320 bytes)" in text and "Kept for the reverse sweep: 320 bytes" in text
    assert "&lt;spring&gt;" in text and "<spring>" not in text


def test_without_loops_and_arguments(program):
    text = view(ad.grad(program.force, wrt="x"), 1.0, 2.0)
    assert "No loop keeps anything." in text
    counted, told = view(ad.grad(program.simulate), 1.0, 0.0), view(ad.grad(program.simulate))
    assert "320 bytes" in counted and "bytes" not in told.replace("not counted", "").split("<script>")[0]


def test_forms_of_functions(program):
    for function in (
        lambda x: x * x,
        np.sin,
        ad.grad(program.force),
        type("F", (), {"__call__": lambda _, x: x * x})(),
    ):
        given = (1.0, 2.0) if isinstance(function, type(ad.grad(program.force))) else (1.0,)
        Page(view(ad.grad(function), *given))


def test_the_same_text_each_time(program):
    assert view(ad.grad(program.simulate), 1.0, 0.0) == view(ad.grad(program.simulate), 1.0, 0.0)


def test_command(program, capsys):
    assert main(["report", "spring.py:simulate", "1.0", "0.0", "-o", "out.html"]) == 0
    assert capsys.readouterr().out == "out.html\n"
    with open("out.html") as file:
        assert "<title>grad(simulate)</title>" in file.read()


# In a browser


@pytest.fixture(scope="module")
def browser():
    selenium = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromedriver")
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1200,1000"):
        options.add_argument(option)
    opened = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    yield opened
    opened.quit()


@pytest.fixture
def opened(browser, program, tmp_path):
    browser.get(write_page(tmp_path / "page.html", ad.grad(program.simulate), 1.0, 0.0).as_uri())
    return browser


def lit(browser, panel):
    script = (
        "return [...document.querySelectorAll(`[aria-label='${arguments[0]}'] li.ar-on`)].map(e => +e.dataset.line)"
    )
    return browser.execute_script(script, panel)


def told(browser):
    return browser.find_element("css selector", "[role=status]").text


def test_pointing_at_a_line(opened):
    from selenium.webdriver import ActionChains

    for line, there in ((9, [2, 3, 4, 10]), (11, [5, 12])):
        element = opened.find_element("css selector", f"[aria-label=Program] li[data-line='{line}']")
        ActionChains(opened).move_to_element(element).perform()
        assert lit(opened, "Derivative") == there
    assert lit(opened, "Program") == [10, 11, 12]
    element = opened.find_element("css selector", "[aria-label=Derivative] li[data-line='4']")
    ActionChains(opened).move_to_element(element).perform()
    assert lit(opened, "Program") == [9] and told(opened).startswith("From line 9 of the program. Kept: x, a number")
    assert opened.execute_script("return document.querySelectorAll('tr.ar-on').length") == 1


def test_by_keys(opened):
    from selenium.webdriver import ActionChains, Keys

    def press(*keys):
        ActionChains(opened).send_keys(*keys).perform()

    press(Keys.TAB, Keys.ARROW_DOWN)
    assert lit(opened, "Program") == [9] and "320 bytes: each iteration changes it" in told(opened)
    press(Keys.ARROW_RIGHT)
    focused = "return document.activeElement.dataset.line"
    assert opened.execute_script(focused) == "2" and lit(opened, "Program") == [9]
    press(Keys.ENTER, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert opened.execute_script(focused) == "5" and lit(opened, "Program") == [9]  # it is held
    press(Keys.ESCAPE, Keys.ARROW_LEFT)
    assert lit(opened, "Program") == [10, 11, 12]
    press(Keys.END)
    assert lit(opened, "Program") == [14]


def test_both_themes_can_be_read(opened):
    """Every text stands out from its ground by the contrast that WCAG asks for."""
    script = """
        const found = [];
        for (const e of document.querySelectorAll(".adjoint-report *")) {
            if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
            let ground = e;
            while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
            if (e.matches("style, script")) continue;
            found.push([getComputedStyle(e).color, getComputedStyle(ground).backgroundColor, e.className]);
        }
        return found;
    """
    grounds = set()
    for theme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": theme}]
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        opened.find_element("css selector", "[aria-label=Program] li[data-line='9']").click()
        for colour, ground, name in opened.execute_script(script):
            assert contrast(colour, ground) >= 4.5, (theme, name, colour, ground)
            grounds.add(ground)
        opened.find_element("css selector", "[aria-label=Program] li[data-line='9']").click()  # which lets it go
    assert len(grounds) >= 6


def contrast(one, other):
    def luminance(colour):
        parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_narrow_windows(opened):
    opened.set_window_size(500, 900)
    try:
        assert opened.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        tops = [one.location["y"] for one in opened.find_elements("css selector", ".ar-panels > section")]
        assert all(later > earlier for earlier, later in itertools.pairwise(tops))
    finally:
        opened.set_window_size(1200, 1000)
