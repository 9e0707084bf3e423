"""What functions with declared derivatives write, of which no declaration tells."""
