"""Memory of machine code: blocks that are counted, and those that are kept for the next call."""
