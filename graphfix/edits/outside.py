"""Nodes that be in a proof for what is done outside of the model: another model, numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from graphfix.authoring.registry import shipped_passes
from graphfix.difference.renaming import rename_tensors
from graphfix.edits.merging import free_prefix
from graphfix.edits.switch import is_on
from graphfix.ir.model import Model
from graphfix.ir.protos import copied
from graphfix.pipeline.model_types import evaluators_for
from graphfix.proving.runners.evaluators import OpKey

DOMAIN = "graphfix.edits"
NUMPY: Mapping[OpKey, str] = {
    (DOMAIN, "Given"): "graphfix.edits.numpy_models:given",
    (DOMAIN, "Cast"): "graphfix.edits.numpy_models:cast_to",
    (DOMAIN, "Transpose"): "graphfix.edits.numpy_models:transpose",
    (DOMAIN, "Normalize"): "graphfix.edits.numpy_models:normalize",
    (DOMAIN, "Reverse"): "graphfix.edits.numpy_models:reverse",
    (DOMAIN, "Pass"): "graphfix.edits.numpy_models:hand_on",
    (DOMAIN, "Items"): "graphfix.edits.numpy_models:items",
    (DOMAIN, "Detections"): "graphfix.edits.detections:detections",
    (DOMAIN, "RunFile"): "graphfix.edits.numpy_models:run_file",
}


def run_of(
    path: Path,
    model: Model,
    names: tuple[Sequence[str], Sequence[str]],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> NodeProto:
    """Return a node that runs the model of a file.

    Args:
        path: The file.
        model: What is in it.
        names: Its inputs and outputs that are fed and read.
        inputs: What they are fed with.
        outputs: What they are called.
    """
    known = evaluators_for(model, shipped_passes())
    places = [f"{domain}|{op}|{place}" for (domain, op), place in known.items()]
    node = helper.make_node("RunFile", inputs, outputs, domain=DOMAIN)
    node.attribute.append(helper.make_attribute("path", str(path.absolute())))
    for name, texts in (("inputs", names[0]), ("outputs", names[1]), ("numpy", places)):
        if texts:
            node.attribute.append(helper.make_attribute(name, list(texts)))
    return node


def fed_with(
    proto: ModelProto, tensor: TensorProto, inputs: Sequence[ValueInfoProto]
) -> ModelProto:
    """Return a model with these inputs, to which numpy gives another one, as a caller would.

    Args:
        proto: The model.
        tensor: What that input is fed with; it bears its name.
        inputs: The inputs that are left.
    """
    before = copied(proto)
    graph = before.graph
    graph.ClearField("input")
    graph.input.extend(inputs)
    nodes = list(graph.node)
    graph.ClearField("node")
    graph.node.append(helper.make_node("Given", [], [tensor.name], domain=DOMAIN, value=tensor))
    graph.node.extend(nodes)
    return with_import(before)


def decided(proto: ModelProto) -> ModelProto:
    """Return a model without the Ifs of its main graph that a bool of `fed_with` decides.

    The nodes of the branch that is taken are where the If was, and compute under other names.
    """
    given = [node for node in proto.graph.node if (node.domain, node.op_type) == (DOMAIN, "Given")]
    known = {node.output[0]: node.attribute[0].t for node in given}
    flags = {n: is_on(t) for n, t in known.items() if t.data_type == TensorProto.BOOL}
    found = copied(proto)
    graph = found.graph
    graph.ClearField("node")
    for place, node in enumerate(proto.graph.node):
        if node.op_type != "If" or node.domain or node.input[0] not in flags:
            graph.node.append(node)
            continue
        word = "then_branch" if flags[node.input[0]] else "else_branch"
        branch = copied(next(each.g for each in node.attribute if each.name == word))
        prefix = free_prefix(f"{word}.{place}", [proto])
        rename_tensors(branch, partial(_prefixed, prefix))
        for part in ("node", "initializer", "sparse_initializer", "value_info"):
            getattr(graph, part).extend(getattr(branch, part))
        for info, output in zip(branch.output, node.output, strict=True):
            graph.node.append(helper.make_node("Identity", [info.name], [output]))
    return found


def _prefixed(prefix: str, name: str, main: bool) -> str:
    return prefix + name if main else name


def with_import(proto: ModelProto) -> ModelProto:
    """Return the model itself, once it imports the domain of these nodes."""
    if all(entry.domain != DOMAIN for entry in proto.opset_import):
        proto.opset_import.add(domain=DOMAIN, version=1)
    return proto
