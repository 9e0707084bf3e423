"""What the transforms need to know about a function: activity, liveness."""
