"""Rules of ONNX Runtime: what a release lacks, and what it computes otherwise without a word."""
