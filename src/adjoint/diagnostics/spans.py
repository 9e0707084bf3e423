from adjoint.records import dataclass

"""Places in a user's source."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of source text; lines and columns as Python counts them (lines from 1, columns from 0)."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
