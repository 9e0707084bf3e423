"""From a function to IR: its source, and the abstract interpreter that walks it."""
