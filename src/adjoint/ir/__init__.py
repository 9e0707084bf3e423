"""The intermediate representation: types, nodes, and what builds, prints, walks and checks them.

Other packages name its nodes and types by this package: ``ir.Call``, ``ir.Array``.
"""

from adjoint.ir.nodes import *  # noqa: F403
from adjoint.ir.types import *  # noqa: F403
