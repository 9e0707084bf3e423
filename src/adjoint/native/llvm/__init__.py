"""Machine code for numeric functions: from the IR to LLVM's, object code, and functions that Python calls."""
