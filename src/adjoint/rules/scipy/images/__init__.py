"""Rules of `scipy.ndimage`: filters of images, and their values between their points."""
