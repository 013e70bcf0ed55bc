"""Files of today's exporters and tools, repaired: what becomes of each, and what it takes."""
