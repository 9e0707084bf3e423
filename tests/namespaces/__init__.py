"""The public functions of NumPy and SciPy: which have a rule, work as they are, are constant, or are refused."""
