"""What lowering carries along: blocks, activations, what an attempt found out, and the exceptions that end one."""
