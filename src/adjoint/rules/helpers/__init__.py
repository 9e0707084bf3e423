"""Rules of the runtime's helpers, so that derivatives can be differentiated."""
