"""The providers of ONNX Runtime Web."""

from __future__ import annotations

from graphfix.engines.tables import TabledEngine


class WebGL(TabledEngine):
    """The WebGL backend, which has no other after it."""

    family = "webgl"
    title = "WebGL (ONNX Runtime Web)"
    spellings = ("ort-webgl", "ort-web-webgl")


class WebGPU(TabledEngine):
    """The WebGPU provider, written in C++."""

    family = "webgpu"
    title = "WebGPU (ONNX Runtime)"
    spellings = ("ort-webgpu", "ort-web-webgpu")
    shared = "all"


class WebGPUJsep(TabledEngine):
    """The WebGPU provider of the JavaScript build, which was there before."""

    family = "webgpu-jsep"
    title = "WebGPU (JSEP of ONNX Runtime Web)"
    spellings = ("ort-webgpu-jsep", "jsep")
    shared = "all"


class WebNN(TabledEngine):
    """The WebNN provider."""

    family = "webnn"
    title = "WebNN (ONNX Runtime Web)"
    spellings = ("ort-webnn", "ort-web-webnn")
    shared = "all"
