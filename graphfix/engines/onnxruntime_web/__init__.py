"""ONNX Runtime Web: WebGL, WebGPU and WebNN: engines known from tables alone."""
