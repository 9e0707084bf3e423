"""The last touches of a derivative: in place, without copies and zeros that nobody needs."""
