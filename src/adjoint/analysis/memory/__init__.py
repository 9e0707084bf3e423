"""Which variables may share memory, and where the layout of an array has a meaning."""
