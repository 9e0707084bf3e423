"""What is refused of a derivative that is asked for, and what is warned of."""
