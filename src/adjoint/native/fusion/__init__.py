"""Array statements as loops over scalars, for machine code.

``nodes`` reads what a statement does to each element; ``shapes`` says which extents agree; ``plan`` decides what is
computed where it is used, ``schedule`` which loops are one, ``storage`` what is kept in memory; ``generate`` writes
them. ``fuse`` is the pass.
"""

from adjoint.native.fusion.fuse import fuse

__all__ = ["fuse"]
