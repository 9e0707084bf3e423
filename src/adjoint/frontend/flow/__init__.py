"""``ad.derivative(y, wrt=x)``: slices of a function's text that lead from one value to another."""
