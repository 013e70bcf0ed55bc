"""Rules: what an engine does with a node, said of attributes, types, ranks and constness."""
