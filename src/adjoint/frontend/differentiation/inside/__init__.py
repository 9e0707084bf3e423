"""Differential operators inside the code that is lowered: each becomes a call of a derivative, or statements."""
