"""What machine code and its making cost: the numbers by which passes decide whether something pays.

None of them decides whether a rewrite is legal. Costs of arithmetic are in additions, lengths of code in statements.
"""

# What arithmetic costs on elements of arrays

DIVISION = 5
"""A division or a square root."""
SLOW = 20
"""A function of the C library."""
MOST_FACTORS = 4
"""Powers up to this one are products of so many factors."""
CHEAP = 4
"""What costs no more is computed again rather than stored and loaded."""
KEPT = 12
"""An element that a loop keeps for its reverse: memory that is found, written, and read when it has left the cache."""

# What fits into registers

JAMMED = 4
"""So many iterations of an outer loop go side by side: sums that do not wait for each other, and still fit."""
MOST_CARRIED = 8
"""So many numbers a loop may carry from one iteration to the next, for sums at one place instead of several."""
WIDEST_ROW = 12
"""So many elements of a row of a product are summed up at once."""
MOST_FUSED = 200
"""So long the body of a loop may become that is made of several."""

# What stays in the cache

ROWS_OF_TILES = 64
"""Rows of each factor of which a product of matrices is made at a time."""
FEW_ROWS = 64
"""Rows of bundles of which each row of a product is the sum of multiples."""

# From where on something is worth its start

FEWEST_WITH_ZEROS = 1024
"""Numbers of a matrix from which on it is looked at whether zeros may be skipped."""
FEWEST_IN_THREADS = 2**16
"""Iterations of a loop without inner ones for which a thread is worth while."""
MOST_AT_ONCE = 6
"""A side of a choice with so few statements, which are arithmetic, is computed whether it is taken or not."""

# What bounds the time of compilation, which grows faster than the length of a function

LONGEST_JAMMED = 40
"""Loops with longer bodies are not unrolled."""
LONGEST_SPLIT = 60
"""Loops with longer bodies are not split where their index passes another number."""
MOST_SPLITS = 2
"""So often a loop is split, and what it is split into: into nine parts at most."""
LONGEST_ABREAST = 200
"""Loops with longer bodies do not become loops over bundles of iterations."""
LONGEST_INLINED = 40
"""Longer functions that call themselves are left as they are."""
MOST_INLINED_CALLS = 2
"""Functions that call themselves in more places are, too."""
LONGEST_SEGMENT = 2000
"""So many statements are looked at together when loops over elements are fused: what is cut has its arrays stored."""
DEEPEST_INLINED = 50
"""So many statements are at most computed where the next one is."""
LONGEST_FUNCTION = 4000
"""Functions of more lines of LLVM IR are cut."""
LONGEST_OUTLINED = 2000
"""So many lines the pieces have at most, where statements are no longer themselves."""
FEWEST_OUTLINED = 500
"""Pieces of fewer lines stay where they are."""
