"""Several loops as one."""
