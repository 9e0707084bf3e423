"""Whether derivatives can be trusted on this version of Python."""

from __future__ import annotations

import sys

TESTED = frozenset({(3, 11), (3, 12), (3, 13), (3, 14), (3, 15)})
"""The versions on which all tests have run; on others, so far, parts of them."""


class State:
    """Whether nobody knows yet."""

    pending = sys.version_info[:2] not in TESTED


def ensure_understood() -> None:
    """Raises where derivatives are wrong on a version of Python that no tests have run on; says so where they agree."""
    if State.pending:
        from adjoint.self_check.check import check  # lazy

        State.pending = False  # what is checked is compiled, too
        try:
            check()
        except BaseException:
            State.pending = True
            raise
