"""What users are told of compiling: that it takes its time, and why something cannot be compiled."""
