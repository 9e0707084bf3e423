"""The demonstration: a derivative to read, a check of it, and a small model trained by one.

Also a command of its own, ``python -m adjoint.demo``.
"""

from adjoint.demo.main import add_options, main, run

__all__ = ["add_options", "main", "run"]
