"""What generated code calls: small functions, free of state."""
