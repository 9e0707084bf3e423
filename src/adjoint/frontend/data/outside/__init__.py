"""What a function finds outside of itself, and what it assigns there."""
