"""What travels next to the graph: left out, and the outputs that no one needs with it."""

from __future__ import annotations

from typing import Any

from onnx import ModelProto

from graphfix.ir.storage.reading import walk_graphs, walk_nodes
from graphfix.ir.version import __version__
from graphfix.pipeline.files import PROVENANCE
from graphfix.reduction.oracle import Oracle

STAMP = f"{PROVENANCE}version"


def stamped(proto: ModelProto) -> ModelProto:
    """Return a copy that says who wrote it, so that it may be overwritten."""
    fresh = ModelProto()
    fresh.CopyFrom(proto)
    entry = next((e for e in fresh.metadata_props if e.key == STAMP), None)
    entry = entry if entry is not None else fresh.metadata_props.add(key=STAMP)
    entry.value = __version__
    return fresh


def trivial(proto: ModelProto) -> ModelProto:
    """Return a model of the same versions that copies its input."""
    fresh = ModelProto(ir_version=proto.ir_version)
    fresh.opset_import.extend(proto.opset_import)
    fresh.graph.name = "trivial"
    fresh.graph.node.add(op_type="Identity", input=["x"], output=["y"])
    for info in (fresh.graph.input.add(name="x"), fresh.graph.output.add(name="y")):
        info.type.tensor_type.elem_type = 1
        info.type.tensor_type.shape.dim.add(dim_value=1)
    return fresh


def tidied(proto: ModelProto, oracle: Oracle) -> ModelProto:
    """Return the model without texts, recorded types and needless outputs, where it fails so."""
    bare = _without_texts(proto)
    best = bare if oracle.accepts(bare) else proto
    for name in [info.name for info in best.graph.output]:
        if len(best.graph.output) > 1:
            candidate = ModelProto()
            candidate.CopyFrom(best)
            kept = [info for info in candidate.graph.output if info.name != name]
            del candidate.graph.output[:]
            candidate.graph.output.extend(kept)
            if oracle.accepts(candidate):
                best = candidate
    return best


def _without_texts(proto: ModelProto) -> ModelProto:
    fresh = ModelProto()
    fresh.CopyFrom(proto)
    stamps = [entry for entry in proto.metadata_props if entry.key == STAMP]
    parts: list[Any] = [fresh, *walk_nodes(fresh), *fresh.functions]
    for graph in walk_graphs(fresh):
        del graph.value_info[:]
        parts += [graph, *graph.initializer, *graph.input, *graph.output]
    for part in parts:
        part.ClearField("doc_string")
        del part.metadata_props[:]
    fresh.metadata_props.extend(stamps)
    return fresh
