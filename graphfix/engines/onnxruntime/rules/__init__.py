"""Rules of ONNX Runtime: what a release lacks, and what it computes differently without a word."""

NO_KERNEL = "Could not find an implementation for {op}({since}) node with name '{name}'"
FAILS = "Non-zero status code returned while running {op} node"
