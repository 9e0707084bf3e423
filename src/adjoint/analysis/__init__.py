"""What the transforms ask of a function: what calls do, what depends on what, memory, shapes."""
