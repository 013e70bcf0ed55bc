"""TVM as an engine family."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine

if TYPE_CHECKING:
    from graphfix.engines.interface import NextStep, Written
    from graphfix.engines.profile import Target


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

    def next_step(self, written: Written, target: Target) -> NextStep | None:
        """Return how to compile and run the file; one output comes as it is, several as a list."""
        from graphfix.engines.feeding import FEED, run_step

        ends = written.ends() if written.ends is not None else None
        results = "[outputs]" if ends is not None and len(ends.outputs) == 1 else "outputs"
        return run_step(Path(__file__).with_name(FEED), written, results=results)
