"""Random valid graphs with one type broken on purpose, mended and held to the unbroken graph."""
