"""MPI: functions that exchange messages through mpi4py are differentiated as they stand; see docs/interop/mpi.md."""

from adjoint.runtime.messages import set_timeout, timeout

__all__ = ["set_timeout", "timeout"]
