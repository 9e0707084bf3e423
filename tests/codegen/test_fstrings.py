"""F-strings are written so that each version of Python reads them."""

import ast

import pytest

from adjoint.codegen.unparse import Expressions, text_of

PLAIN = Expressions(lambda name: name)


@pytest.mark.parametrize(
    "text",
    [
        r"""f'{x} is {y!r:>5}'""",
        r"""f"{'scale'} < 0" """,
        r"""f"it's {x}" """,
        r"""f"it's {table['a']}" """,
        r"""f'{x}\n\\{{}}é\x07' """,
        r"""f'{ {1, 2}}{(1 if x else 2)}' """,
        r"""f'''{f('a')}'"''' """,
        r"""f'\'"\'\'\'"\"\"{x}' """,
    ],
)
def test_text(text: str) -> None:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.JoinedStr)
    written = text_of(node, PLAIN.field)
    assert written is not None and ast.dump(ast.parse(written, mode="eval").body) == ast.dump(node)
    if "\\'" not in text and "'''" not in text:
        assert written == text.strip()


def test_what_older_versions_do_not_read_is_no_text() -> None:
    field = ast.FormattedValue(ast.Constant("two\nlines"), -1, None)
    assert text_of(ast.JoinedStr([field]), PLAIN.field) is None
    spec = ast.FormattedValue(ast.Name("x"), -1, ast.JoinedStr([ast.Constant("{")]))
    assert text_of(ast.JoinedStr([spec]), PLAIN.field) is None


def test_inside_of_what_is_rare() -> None:
    table = ast.parse("""{'a': f"{'x'} < 0", **more}""", mode="eval").body
    assert Expressions(str.upper).write(table) == """{'a': f"{'x'} < 0", **MORE}"""
