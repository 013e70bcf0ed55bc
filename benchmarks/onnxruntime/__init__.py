"""What old releases of onnxruntime have kernels for, and repaired models run in them."""
