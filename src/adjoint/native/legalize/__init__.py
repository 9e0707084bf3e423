"""Rewriting what has no form in LLVM IR, or another meaning there than in Python."""
