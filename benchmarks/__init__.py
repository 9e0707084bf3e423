"""What Adjoint costs, beside other systems: ``python -m benchmarks``."""
