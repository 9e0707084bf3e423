"""What users declare of functions and values: derivatives of their own, differentiability, checkpoints, surgery."""
