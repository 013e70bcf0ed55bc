"""Which operators of lists that others keep are repaired, each cell run and compared."""
