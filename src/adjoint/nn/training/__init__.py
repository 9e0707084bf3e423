"""Training: the loop, its callbacks, metrics, checkpoints, pictures."""
