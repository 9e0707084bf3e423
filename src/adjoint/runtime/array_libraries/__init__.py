"""What generated code calls where its arrays are of another library than NumPy."""
