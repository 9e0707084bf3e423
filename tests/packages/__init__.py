"""The public functions of published packages, called as they stand: what comes out right, and what is refused."""
