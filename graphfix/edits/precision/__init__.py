"""Other float types: which nodes may compute in them, and what they lose."""
