"""What derivatives of functions of arrays are made of."""
