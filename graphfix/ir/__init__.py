"""The model as a graph: reading, writing, names, types, and views of it."""
