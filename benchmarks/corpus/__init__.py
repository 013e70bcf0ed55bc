"""What becomes of the models of a corpus."""
