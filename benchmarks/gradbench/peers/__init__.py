"""The evals by other systems: the same functions as array formulas, and in C with derivatives by hand."""
