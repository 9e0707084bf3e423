"""Programs written for HIPS autograd: its functions of arrays, its operators, and the derivatives declared with it."""
