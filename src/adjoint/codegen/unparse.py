"""Python text of syntax trees: as `ast.unparse` writes it, in a fraction of the time, and telling lines as it goes.

Only the syntax that the back end builds is known here; what is rare is left to `ast.unparse`. ``return a, b`` and
``a, b = b, a`` have no parentheses.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adjoint.diagnostics.spans import Span

# How tightly syntax binds: an operand that binds less tightly than its place asks for is put in parentheses.
_TUPLE, _TEST, _OR, _AND, _NOT, _CMP, _BOR, _BXOR, _BAND, _SHIFT, _ARITH, _TERM, _FACTOR, _POWER, _ATOM = range(15)

_BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", _ARITH),
    ast.Sub: ("-", _ARITH),
    ast.Mult: ("*", _TERM),
    ast.MatMult: ("@", _TERM),
    ast.Div: ("/", _TERM),
    ast.Mod: ("%", _TERM),
    ast.FloorDiv: ("//", _TERM),
    ast.LShift: ("<<", _SHIFT),
    ast.RShift: (">>", _SHIFT),
    ast.BitOr: ("|", _BOR),
    ast.BitXor: ("^", _BXOR),
    ast.BitAnd: ("&", _BAND),
    ast.Pow: ("**", _POWER),
}
_UNARY: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.USub: ("-", _FACTOR),
    ast.UAdd: ("+", _FACTOR),
    ast.Invert: ("~", _FACTOR),
    ast.Not: ("not ", _NOT),
}
_COMPARISON: dict[type[ast.cmpop], str] = {
    ast.Eq: " == ",
    ast.NotEq: " != ",
    ast.Lt: " < ",
    ast.LtE: " <= ",
    ast.Gt: " > ",
    ast.GtE: " >= ",
    ast.Is: " is ",
    ast.IsNot: " is not ",
    ast.In: " in ",
    ast.NotIn: " not in ",
}
_STEP = "    "

NameOf = Callable[[str], str]
_NOWHERE: Mapping[int, tuple[ast.expr, Span]] = {}


def on_one_line(text: str) -> str:
    r"""A text for a comment: what ends lines, or cannot be seen, is written as an escape.

    >>> on_one_line("two\nlines")
    'two\\nlines'
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


class Expressions:
    """Writes expressions; ``name_of`` says how each name is written.

    With ``keep`` the text of every node is kept on it, so that an expression built around others costs little.
    ``parts`` collects the texts of those that have a place, with these.
    """

    def __init__(
        self, name_of: NameOf, places: Mapping[int, tuple[ast.expr, Span]] = _NOWHERE, *, keep: bool = False
    ) -> None:
        self.name_of, self.places = name_of, places
        self.keep = keep
        self.parts: list[tuple[str, Span]] = []

    def write(self, node: ast.expr, at: int = _TEST) -> str:
        """The text of an expression in a place that asks for a certain tightness."""
        if self.keep:
            found: tuple[str, int] | None = node.__dict__.get("text")
            if found is None:
                found = node.__dict__["text"] = self._bare(node)
            text, tightness = found
        else:
            text, tightness = self._bare(node)
        return text if tightness >= at else f"({text})"

    def _bare(self, node: ast.expr) -> tuple[str, int]:
        writer = _WRITERS.get(type(node))
        found = (self._other(node), _ATOM) if writer is None else writer(self, node)
        place = self.places.get(id(node))
        if place is not None:
            self.parts.append((found[0], place[1]))
        return found

    def _other(self, node: ast.expr) -> str:
        named = _WithTexts(self).visit(copy.deepcopy(node))
        return ast.unparse(named)

    def field(self, node: ast.expr) -> str:
        """The text of an expression inside of an f-string."""
        return self.write(node, _TEST + 1)

    def _list(self, nodes: Sequence[ast.expr]) -> str:
        return ", ".join([self.write(node) for node in nodes])

    def _items(self, nodes: Sequence[ast.expr]) -> str:
        return f"{self.write(nodes[0])}," if len(nodes) == 1 else self._list(nodes)

    def value(self, node: ast.expr) -> str:
        """What stands on the right of an assignment or is returned."""
        return self._list(node.elts) if isinstance(node, ast.Tuple) and len(node.elts) > 1 else self.write(node)

    # One kind of expression each

    def _name(self, node: ast.Name) -> tuple[str, int]:
        return self.name_of(node.id), _ATOM

    def _constant(self, node: ast.Constant) -> tuple[str, int]:
        value = node.value
        if value is ...:
            return "...", _ATOM
        if isinstance(value, float) and not math.isfinite(value):
            return ast.unparse(node), _ATOM
        return repr(value), _ATOM

    def _binary(self, node: ast.BinOp) -> tuple[str, int]:
        sign, tightness = _BINARY[type(node.op)]
        right_first = tightness == _POWER
        left = self.write(node.left, tightness + right_first)
        right = self.write(node.right, tightness + (not right_first))
        return f"{left} {sign} {right}", tightness

    def _unary(self, node: ast.UnaryOp) -> tuple[str, int]:
        sign, tightness = _UNARY[type(node.op)]
        return sign + self.write(node.operand, tightness), tightness

    def _compare(self, node: ast.Compare) -> tuple[str, int]:
        text = self.write(node.left, _CMP + 1)
        for op, operand in zip(node.ops, node.comparators, strict=True):
            text += _COMPARISON[type(op)] + self.write(operand, _CMP + 1)
        return text, _CMP

    def _bool(self, node: ast.BoolOp) -> tuple[str, int]:
        word, tightness = (" and ", _AND) if isinstance(node.op, ast.And) else (" or ", _OR)
        parts = [self.write(value, min(tightness + i, _ATOM)) for i, value in enumerate(node.values, 1)]
        return word.join(parts), tightness

    def _choice(self, node: ast.IfExp) -> tuple[str, int]:
        body, test = self.write(node.body, _TEST + 1), self.write(node.test, _TEST + 1)
        return f"{body} if {test} else {self.write(node.orelse)}", _TEST

    def _call(self, node: ast.Call) -> tuple[str, int]:
        args = [self.write(arg) for arg in node.args]
        args += [f"{keyword.arg}={self.write(keyword.value)}" for keyword in node.keywords]
        return f"{self.write(node.func, _ATOM)}({', '.join(args)})", _ATOM

    def _attribute(self, node: ast.Attribute) -> tuple[str, int]:
        base = node.value
        gap = " " if isinstance(base, ast.Constant) and isinstance(base.value, int) else ""
        return f"{self.write(base, _ATOM)}{gap}.{node.attr}", _ATOM

    def _subscript(self, node: ast.Subscript) -> tuple[str, int]:
        index = node.slice
        inside = self._items(index.elts) if isinstance(index, ast.Tuple) and index.elts else self.write(index)
        return f"{self.write(node.value, _ATOM)}[{inside}]", _ATOM

    def _slice(self, node: ast.Slice) -> tuple[str, int]:
        lower, upper = ("" if part is None else self.write(part) for part in (node.lower, node.upper))
        step = "" if node.step is None else f":{self.write(node.step)}"
        return f"{lower}:{upper}{step}", _ATOM

    def _tuple(self, node: ast.Tuple) -> tuple[str, int]:
        return (self._items(node.elts), _TUPLE) if node.elts else ("()", _ATOM)

    def _list_display(self, node: ast.List) -> tuple[str, int]:
        return f"[{self._list(node.elts)}]", _ATOM

    def _fstring(self, node: ast.JoinedStr) -> tuple[str, int]:
        text = text_of(node, self.field)
        assert text is not None
        return text, _ATOM


class _WithTexts(ast.NodeTransformer):
    """Names as they are written, and f-strings as texts, in a tree that `ast.unparse` writes."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(self.expressions.name_of(node.id), node.ctx)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return ast.Name(self.expressions.write(node), ast.Load())


_WRITERS: dict[type[ast.AST], Callable[[Expressions, Any], tuple[str, int]]] = {
    ast.Name: Expressions._name,
    ast.Constant: Expressions._constant,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.BoolOp: Expressions._bool,
    ast.IfExp: Expressions._choice,
    ast.Call: Expressions._call,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._slice,
    ast.Tuple: Expressions._tuple,
    ast.List: Expressions._list_display,
    ast.JoinedStr: Expressions._fstring,
}


class Writer:
    """Writes a function.

    ``lines`` tells on which line of its text each statement begins, by its identity, ``parts`` the expressions of lines
    that have a place.
    """

    def __init__(self, name_of: NameOf, places: Mapping[int, tuple[ast.expr, Span]]) -> None:
        self.expressions = Expressions(name_of, places)
        self.parts: dict[int, list[tuple[str, Span]]] = {}
        self.text: list[str] = []
        self.lines: dict[int, int] = {}
        self.line = 1

    def function(self, name: str, params: Sequence[str], doc: str, body: Sequence[ast.stmt]) -> str:
        """The text of a ``def``."""
        self._line("", f"def {name}({', '.join(params)}):")
        if doc:
            self._line(_STEP, ast.unparse(ast.Module([ast.Expr(ast.Constant(doc))], [])))
        self._block(body, _STEP)
        return "".join(self.text)

    def _line(self, indent: str, text: str) -> None:
        self.text.append(f"{indent}{text}\n")
        if self.expressions.parts:
            self.parts[self.line], self.expressions.parts = self.expressions.parts, []
        self.line += 1 + text.count("\n")

    def _block(self, statements: Sequence[ast.stmt], indent: str) -> None:
        for statement in statements:
            self.lines[id(statement)] = self.line
            if isinstance(statement, (ast.If, ast.Assert)):
                self._test(statement.test)
            simple = _SIMPLE.get(type(statement))
            if simple is None:
                _COMPOUND[type(statement)](self, statement, indent)
            else:
                self._line(indent, simple(self.expressions, statement))

    def _test(self, test: ast.expr) -> None:
        self.lines[id(test)] = self.line
        if isinstance(test, ast.UnaryOp):
            self.lines[id(test.operand)] = self.line

    def _part(self, head: str, statements: Sequence[ast.stmt], indent: str) -> None:
        self._line(indent, f"{head}:")
        self._block(statements, indent + _STEP)

    def _if(self, node: ast.If, indent: str) -> None:
        word = "if"
        while True:
            self._part(f"{word} {self.expressions.write(node.test)}", node.body, indent)
            match node.orelse:
                case [ast.If() as inner]:
                    self.lines[id(inner)] = self.line
                    self._test(inner.test)
                    node, word = inner, "elif"
                case []:
                    return
                case orelse:
                    self._part("else", orelse, indent)
                    return

    def _for(self, node: ast.For, indent: str) -> None:
        over = self.expressions.write(node.iter)
        self._loop(f"for {self.expressions.write(node.target, _TUPLE)} in {over}", node, indent)

    def _while(self, node: ast.While, indent: str) -> None:
        self._loop(f"while {self.expressions.write(node.test)}", node, indent)

    def _loop(self, head: str, node: ast.For | ast.While, indent: str) -> None:
        self._part(head, node.body, indent)
        if node.orelse:
            self._part("else", node.orelse, indent)

    def _with(self, node: ast.With, indent: str) -> None:
        items = []
        for item in node.items:
            name = "" if item.optional_vars is None else f" as {self.expressions.write(item.optional_vars)}"
            items.append(self.expressions.write(item.context_expr) + name)
        self._part(f"with {', '.join(items)}", node.body, indent)

    def _try(self, node: ast.Try, indent: str) -> None:
        self._part("try", node.body, indent)
        for handler in node.handlers:
            caught = "" if handler.type is None else f" {self.expressions.write(handler.type)}"
            self._part(f"except{caught}" + (f" as {handler.name}" if handler.name else ""), handler.body, indent)
        if node.finalbody:
            self._part("finally", node.finalbody, indent)


def _assign(to: Expressions, node: ast.Assign) -> str:
    targets = [to.write(target, _TUPLE) for target in node.targets]
    return " = ".join([*targets, to.value(node.value)])


def _augmented(to: Expressions, node: ast.AugAssign) -> str:
    return f"{to.write(node.target)} {_BINARY[type(node.op)][0]}= {to.write(node.value)}"


def _return(to: Expressions, node: ast.Return) -> str:
    return "return" if node.value is None else f"return {to.value(node.value)}"


def _raise(to: Expressions, node: ast.Raise) -> str:
    if node.exc is None:
        return "raise"
    cause = "" if node.cause is None else f" from {to.write(node.cause)}"
    return f"raise {to.write(node.exc)}{cause}"


def _assert(to: Expressions, node: ast.Assert) -> str:
    message = "" if node.msg is None else f", {to.write(node.msg)}"
    return f"assert {to.write(node.test)}{message}"


_SIMPLE: dict[type[ast.stmt], Callable[[Expressions, Any], str]] = {
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Expr: lambda to, node: to.write(node.value, _TUPLE),
    ast.Pass: lambda to, node: "pass",
    ast.Break: lambda to, node: "break",
    ast.Continue: lambda to, node: "continue",
}
_COMPOUND: dict[type[ast.stmt], Callable[[Writer, Any, str], None]] = {
    ast.If: Writer._if,
    ast.For: Writer._for,
    ast.While: Writer._while,
    ast.With: Writer._with,
    ast.Try: Writer._try,
}


# Text of f-strings that each version of Python reads: from 3.12 on, `ast.unparse` reuses quotes inside of fields


_QUOTES = ("'", '"', '"""', "'''")


def text_of(node: ast.JoinedStr, write: Callable[[ast.expr], str]) -> str | None:
    """The text of an f-string whose expressions are written by ``write``; None if their quotes cannot be nested."""
    fields: list[str] = []
    texts: list[tuple[str, bool]] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            field = _field(part, write)
            if field is None:
                return None
            fields.append(field)
            texts.append((field, True))
        else:
            assert isinstance(part, ast.Constant)
            texts.append(("".join(map(_escaped, str(part.value))), False))
    fitting = [quotes for quotes in _QUOTES if not any(quotes in field for field in fields)]
    text = "".join(text for text, _ in texts)
    for quotes in fitting:
        if quotes not in text and not text.endswith(quotes[0]):
            return f"f{quotes}{text}{quotes}"
    if not fitting:
        return None
    quotes, mark = fitting[0], fitting[0][0]
    text = "".join(text if is_field else text.replace(mark, f"\\{mark}") for text, is_field in texts)
    return f"f{quotes}{text}{quotes}"


def _field(part: ast.FormattedValue, write: Callable[[ast.expr], str]) -> str | None:
    text = write(part.value)
    conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
    spec = ""
    if isinstance(part.format_spec, ast.JoinedStr):
        if not all(isinstance(piece, ast.Constant) for piece in part.format_spec.values):
            return None
        spec = "".join(str(piece.value) for piece in part.format_spec.values if isinstance(piece, ast.Constant))
        if any(letter in "{}'\"" or not letter.isprintable() for letter in spec):
            return None
        spec = f":{spec}"
    gap = " " if text.startswith("{") else ""
    found = f"{{{gap}{text}{conversion}{spec}}}"
    return None if "\\" in found or "\n" in found else found


def _escaped(letter: str) -> str:
    if letter in "{}":
        return 2 * letter
    return letter.encode("unicode_escape").decode("ascii") if letter == "\\" or not letter.isprintable() else letter
