"""The models that the mutants are tried on, a file for each family of passes."""
