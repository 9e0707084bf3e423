"""From IR to IR: forward mode, reverse mode, simplification."""
