"""Fusions that engines want: several nodes become one, where the user names the pass."""
