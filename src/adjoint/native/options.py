"""What users ask of machine code."""

from __future__ import annotations

from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked of machine code.

    Attributes
    ----------
    fast
        LLVM's flags for arithmetic, between spaces; none where each operation is what it says.
    checked
        Whether indices that are numbers are checked.
    side_by_side
        Whether other threads may run Python meanwhile.
    """

    fast: str = ""
    checked: bool = False
    side_by_side: bool = False


PLAIN = Options()
