"""Walking through syntax trees, in a fraction of the time that ``ast.walk`` takes."""

from __future__ import annotations

import ast


def nodes(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree, each before those below it, in no order otherwise; marks like ``ast.Load`` are left out.

    >>> [type(node).__name__ for node in nodes(ast.parse("x + 1", mode="eval").body)]
    ['BinOp', 'Name', 'Constant']
    """
    found = [tree]
    for node in found:  # which grows meanwhile
        for value in node.__dict__.values():
            if type(value) is list:
                found += [part for part in value if isinstance(part, ast.AST) and part._fields]
            elif isinstance(value, ast.AST) and value._fields:
                found.append(value)
    return found
