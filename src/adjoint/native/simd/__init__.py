"""Vector values (SIMD) that stand for one number in several directions or iterations."""
