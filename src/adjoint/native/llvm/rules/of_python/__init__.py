"""What runs as Python out of machine code: calls, loads and stores, and the objects that they take and give."""
