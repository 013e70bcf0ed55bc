"""TVM as an engine family."""

from __future__ import annotations

from types import MappingProxyType

from graphfix.engines.engine import Engine


class TVM(Engine):
    """TVM on the CPU, by its Relax importer."""

    family = "tvm"
    title = "TVM"
    spellings = ("apache-tvm",)
    order = 30
    wants_sizes = True
    tolerates = frozenset({"repeated-node-name"})
    sources = MappingProxyType(
        {"repeated-node-name": "TVM 0.27.0 takes them, in all graphs that were tried"}
    )
    requirements = MappingProxyType({"tvm0.27": ("apache-tvm==0.27.0.post1", "numpy", "onnx")})
