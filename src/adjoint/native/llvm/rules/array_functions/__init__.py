"""Functions of NumPy and of derivatives of arrays: joining, orders, sums along axes, triangles."""
