"""What calls, loads and stores become in LLVM IR, by what they are about."""
