"""Where what the rules of QNN say was seen."""

PROVIDER = "measured with onnxruntime-qnn 2.7.0, its HTP simulated on the CPU"
LEFT = "left to the CPU: {op}('{name}')"
