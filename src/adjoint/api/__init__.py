"""What users call: derivatives, what they declare of functions, tools."""
