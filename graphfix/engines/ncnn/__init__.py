"""ncnn as an engine: converted by pnnx, run by ncnn's wheel for Python."""
