"""Arrays: what loops over numbers need to know of them."""
