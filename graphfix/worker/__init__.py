"""Work in child processes with limits: whatever runs a model that no one vouches for.

A template process has imported numpy, onnx and onnxruntime, and forks one child for each request
(`graphfix.worker.service.ask`), so that a start costs a fork and no imports. A crash, a leak or an
endless loop of a library ends its child alone.
"""
