"""Apache TVM: what its Relax importer of ONNX files takes and computes."""
