"""Numbers of one model, or of one site of it, against those of another."""
