"""Machine code: derivatives are made loops over numbers, these are made faster, and written as LLVM IR."""
