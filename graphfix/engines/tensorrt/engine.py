"""TensorRT and TensorRT for RTX as engine families, which share one parser and its rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine
from graphfix.engines.interface import Meant, NextStep, Release, Written

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import ModelProto

    from graphfix.engines.profile import Target
    from graphfix.engines.tensorrt.consequences import AsRead
    from graphfix.engines.tensorrt.runner import TensorRT as TensorRTRunner
    from graphfix.ir.graph import Graph
    from graphfix.ir.model import Model
    from graphfix.ir.views import NodeView, Value
    from graphfix.report import Finding

_ALIASES = {
    "trt5": "trt5.1",
    "trt7": "trt7.2",
    "trt8": "trt8.6",
    "trt9": "trt9.3",
    "trt10": "trt10.10",
    "trt11": "trt11.1",
}
_RTX_BUILDS = ("1.4.0.76", "1.5.0.114", "1.6.1.120", "1.7.1.116")


class ParsedByTensorRT(Engine):
    """What NVIDIA's ONNX parser reads, which is one for all its engines; a family by no name."""

    order = 1
    known = "sources"
    on_device = True
    own_words = MappingProxyType(
        {
            "stated-opset-unknown": "trt",
            "stated-oldest-opset": "trt",
            "stated-io-types": "trt",
            "stated-function": "..trt8",
            "stated-operator": "trt",
            "stated-types": "trt",
        }
    )
    tolerates = frozenset(
        {"type-of-newer-opset", "type-declared", "branch-inputs", "repeated-node-name"}
    )

    def element_type(self, value: Value, target: Target) -> str:
        """Return the element type that the parser gives a tensor."""
        from graphfix.engines.tensorrt.rules.parsed import engine_type

        return engine_type(value, target)

    def type_text(self, element_type: str) -> str:
        """Return the name that the parser prints: ``UINT8``, ``HALF``."""
        from graphfix.engines.tensorrt.rules.parsed import engine_name

        return engine_name(element_type)

    def is_constant(self, value: Value) -> bool:
        """Say whether the parser holds the values as weights."""
        from graphfix.engines.tensorrt.rules.parsed import is_weights

        return is_weights(value)

    def opset_of(self, node: NodeView) -> int:
        """Return the opset that the parser takes a node to be of."""
        from graphfix.engines.tensorrt.rules.parsed import opset_of

        return opset_of(node)

    def reads(self, graph: Graph) -> bool:
        """Say whether the parser imports a body: not a branch that a known condition excludes."""
        from graphfix.engines.tensorrt.rules.parsed import is_imported

        return is_imported(graph)

    def as_read(self, model: Model, target: Target, known: Sequence[Finding]) -> AsRead | None:
        """Return the model as the parser reads it, where that changes a shape."""
        from graphfix.engines.tensorrt.consequences import as_the_engine_reads

        return as_the_engine_reads(model, known)

    def reported_elsewhere(
        self, model: Model, target: Target, known: Sequence[Finding]
    ) -> Iterable[Finding]:
        """Return a finding at each node that the parser names in the place of the one at fault."""
        from graphfix.engines.tensorrt.reported import reported_elsewhere

        return reported_elsewhere(model, known)

    def next_step(self, written: Written, target: Target) -> NextStep:
        """Return the `trtexec` line that builds an engine from the file."""
        from graphfix.engines.tensorrt.trtexec import next_step

        return next_step(written, target)


class TensorRT(ParsedByTensorRT):
    """NVIDIA's TensorRT."""

    family = "trt"
    title = "TensorRT"
    spellings = ("tensorrt",)
    install = "put trtexec on PATH, or pip install tensorrt polygraphy"
    sources = MappingProxyType(
        {
            "type-of-newer-opset": "TensorRT looks at the type alone, whatever the opset: "
            "verdicts of its parser",
            "type-declared": "TensorRT never reads value_info (ModelImporter.cpp, 8.6.1)",
            "shape-declared": "TensorRT never reads it",
            "branch-inputs": "TensorRT takes what a branch captures by name: verdicts of its "
            "parser",
            "unsorted": "TensorRT sorts them, too",
            "formality": "TensorRT takes them, too",
            "repeated-constant": "TensorRT has a rule of its own",
            "repeated-node-name": "TensorRT's parser makes names of its own",
        }
    )

    def aliases(self) -> Mapping[str, str]:
        """Return the majors, and the family alone as the newest version."""
        return {**super().aliases(), **_ALIASES}

    def hint(self, alias: str) -> str:
        """Return what to type where the TensorRT that is meant is an older one."""
        if alias == self.family:
            return "; say yours where it is another: trt8.6, trt10.3, jetpack6.1, ngc22.12"
        from graphfix.engines.tensorrt.releases import older_jetsons

        return older_jetsons(alias, _ALIASES[alias])

    def releases(self) -> tuple[Release, ...]:
        """Return the releases of JetPack and of the containers that hold a TensorRT."""
        from graphfix.engines.tensorrt.releases import releases

        return releases()

    def release_named(self, name: str) -> Release | None:
        """Return the release that a name such as ``jetpack5.1`` means."""
        from graphfix.engines.tensorrt.releases import release_named

        return release_named(name)

    def is_here(self) -> bool:
        """Say whether this machine has TensorRT with polygraphy, or `trtexec`."""
        from graphfix.engines.tensorrt.runner import found

        return found() is not None

    def open(self, model: ModelProto, path: Path, meant: Meant) -> TensorRTRunner:
        """Return a model file in TensorRT."""
        from graphfix.engines.tensorrt.runner import open_tensorrt

        return open_tensorrt(model, path, meant)


class TensorRTForRTX(ParsedByTensorRT):
    """NVIDIA's TensorRT for RTX, a library of its own, which builds engines without a GPU."""

    family = "trt-rtx"
    title = "TensorRT for RTX"
    spellings = ("tensorrt-rtx", "tensorrt-for-rtx")
    capabilities = ("sm75", "sm80", "sm86", "sm89", "sm120", "sm121")
    known = "measured"
    requirements = MappingProxyType(
        {
            f"trt-rtx{build.rpartition('.')[0].rpartition('.')[0]}": (
                f"tensorrt-rtx-cu12-bindings=={build}",
                f"tensorrt-rtx-cu12-libs=={build}",
                "numpy",
            )
            for build in _RTX_BUILDS
        }
    )

    @property
    def program(self) -> Path | None:
        """The file that parses, builds and runs models in a process of its own."""
        return None if self.folder is None else self.folder / "rtx_program.py"
