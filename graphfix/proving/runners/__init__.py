"""What runs a model: onnxruntime, numpy models of operators, the reference evaluator."""
