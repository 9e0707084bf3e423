"""What is kept of compiled derivatives between processes: texts, machine code, and what finds them."""
