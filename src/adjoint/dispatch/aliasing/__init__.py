"""What is reached in several ways: from arguments, by names outside, and from objects that nobody looks into."""
