"""Functions of the IR, written as functions of LLVM IR."""
