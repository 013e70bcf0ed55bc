"""Values of models in Python: their types, in files between processes, on disk when many."""
