"""Messages between processes: what mpi4py's methods mean, and how that is differentiated."""
