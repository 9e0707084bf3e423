"""Makes a failing program small: parts are taken away or made simpler as long as it fails in the same way."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator

BLOCKS = ("body", "orelse", "finalbody")


def shrink(text: str, fails: Callable[[str], bool], seconds: float = 60.0) -> str:
    """The smallest text found that still ``fails``."""
    end = time.monotonic() + seconds
    tree = ast.parse(text)
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for level in (_statements, _unwrapped, _expressions):
            position = 0
            while time.monotonic() < end:
                candidate = _changed(tree, level, position)
                if candidate is None:
                    break
                if _same(candidate, tree) or not fails(ast.unparse(candidate)):
                    position += 1
                    continue
                tree, progress = candidate, True
    return ast.unparse(tree) + "\n"


Edit = Callable[[], None]


def _changed(tree: ast.Module, level: Callable[[ast.AST], Iterator[Edit]], position: int) -> ast.Module | None:
    """A copy of the tree with the edit of a level at a position; None beyond the last."""
    candidate = copy.deepcopy(tree)
    for number, edit in enumerate(level(candidate)):
        if number == position:
            edit()
            return candidate
    return None


def _same(one: ast.Module, two: ast.Module) -> bool:
    return ast.dump(one) == ast.dump(two)


def _blocks(tree: ast.AST) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    for node in ast.walk(tree):
        for name in BLOCKS:
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                yield node, name, statements


def _statements(tree: ast.AST) -> Iterator[Edit]:
    """Takes statements away, halves of long blocks first."""
    for node, name, statements in _blocks(tree):
        if len(statements) >= 4:
            half = len(statements) // 2
            yield lambda s=statements, h=half: s.__delitem__(slice(h, None))  # type: ignore[misc]
            yield lambda s=statements, h=half: s.__delitem__(slice(0, h))  # type: ignore[misc]
    for node, name, statements in _blocks(tree):
        for place in reversed(range(len(statements))):
            if len(statements) > 1 or name != "body" or isinstance(node, ast.Module):
                yield lambda s=statements, i=place: s.__delitem__(i)  # type: ignore[misc]
            elif not isinstance(statements[place], ast.Pass):
                yield lambda s=statements, i=place: s.__setitem__(i, ast.Pass())  # type: ignore[misc]


def _unwrapped(tree: ast.AST) -> Iterator[Edit]:
    """Puts the inside of a compound statement in its place."""
    for _, _, statements in _blocks(tree):
        for place, statement in enumerate(statements):
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                continue
            for inner in (getattr(statement, name, None) for name in BLOCKS):
                if inner:
                    yield lambda s=statements, i=place, new=inner: s.__setitem__(slice(i, i + 1), new)  # type: ignore[misc]


def _expressions(tree: ast.AST) -> Iterator[Edit]:
    """Replaces an expression by a part of it or by a number."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            for place, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.expr) or isinstance(getattr(child, "ctx", None), ast.Store):
                    continue
                for new in _simpler(child):
                    yield _replacement(node, name, place if isinstance(value, list) else None, new)


def _simpler(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Constant):
        return
    yield from (part for part in ast.walk(node) if isinstance(part, ast.expr) and part is not node and _whole(part))
    if not isinstance(node, ast.Name):
        yield ast.Constant(1.0)


def _whole(node: ast.expr) -> bool:
    return not isinstance(getattr(node, "ctx", ast.Load()), ast.Store) and not isinstance(node, ast.Slice)


def _replacement(node: ast.AST, name: str, place: int | None, new: ast.expr) -> Edit:
    def edit() -> None:
        if place is None:
            setattr(node, name, new)
        else:
            getattr(node, name)[place] = new

    return edit
