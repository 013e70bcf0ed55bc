"""The numeric proof of single sites: what was removed against what was added, on its own."""
