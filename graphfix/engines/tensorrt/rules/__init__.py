"""Rules of TensorRT: what its parser does with a node, said of attributes, types and ranks."""
