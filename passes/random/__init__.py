"""Random numbers, in the forms that engines draw them in."""
