"""Series, integrals and solvers that derivatives need."""
