"""The command ``adjoint``."""

from adjoint.cli.main import main

__all__ = ["main"]
