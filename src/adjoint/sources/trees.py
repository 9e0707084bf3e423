"""Walking through syntax trees, in a fraction of the time that ``ast.walk`` takes."""

from __future__ import annotations

import ast

_NEVER_NODES = """
    ctx op ops id attr arg asname kind type_comment conversion level module rest
"""
_MARKS_AND_NAMES = frozenset(_NEVER_NODES.split())


class _Holding(dict[type, tuple[str, ...]]):
    """The fields of each class of nodes that may hold nodes; marks like ``ast.Load`` do not count."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = () if kind is ast.Constant else kind._fields
        held = self[kind] = tuple([name for name in fields if name not in _MARKS_AND_NAMES])
        return held


_HOLDING = _Holding()


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node; marks like ``ast.Load`` are left out.

    >>> [type(node).__name__ for node in children(ast.parse("x + 1", mode="eval").body)]
    ['Name', 'Constant']
    """
    found: list[ast.AST] = []
    for name in _HOLDING[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif type(value) is list:
            found += [part for part in value if isinstance(part, ast.AST)]
    return found


def nodes(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree, each before those below it, in no order otherwise; marks like ``ast.Load`` are left out.

    >>> [type(node).__name__ for node in nodes(ast.parse("x + 1", mode="eval").body)]
    ['BinOp', 'Name', 'Constant']
    """
    found = [tree]
    for node in found:  # which grows meanwhile
        if _HOLDING[type(node)]:
            found += children(node)
    return found
