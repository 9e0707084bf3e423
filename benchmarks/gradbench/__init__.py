"""The evals of GradBench, the public benchmark suite of differentiation tools, and its protocol."""
