"""Files that mean nothing to ONNX and can be read in one way only: which readings there are.

The kinds are rows of ``kinds.toml``; the code here finds the places, and writes the file as it is
read. That another evaluator computes the same from the file as it came is shown in
`graphfix.proving.readings`, which imports nothing from here.
"""
