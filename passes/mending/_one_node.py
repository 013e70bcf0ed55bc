"""One node moved to another opset, by the steps of opsets."""

from collections.abc import Mapping, Sequence

from onnx import ModelProto, NodeProto, TensorProto, TypeProto

from graphfix.analysis.inference import infer_model
from graphfix.authoring import Model, Refuse
from graphfix.authoring.workspace import Workspace
from graphfix.opset.stepping import StepBlocked, move_to


def converted(
    node: NodeProto,
    opset: int,
    wanted: int,
    types: Mapping[str, TypeProto],
    constants: Sequence[TensorProto],
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the nodes and constants that are at one opset what a node is at another.

    Args:
        node: The node, in the form of `opset`.
        opset: That opset.
        wanted: The opset that is wanted.
        types: Of its inputs.
        constants: Those of its inputs that are known.

    Raises:
        Refuse: The node has no form there.
    """
    model = ModelProto(ir_version=8)
    model.graph.name = "node"
    model.opset_import.add(domain="", version=opset)
    model.graph.node.append(node)
    stored = {tensor.name for tensor in constants}
    model.graph.initializer.extend(constants)
    for name in dict.fromkeys(node.input):
        if name and name not in stored:
            model.graph.input.add(name=name).type.CopyFrom(types.get(name, TypeProto()))
    for name in node.output:
        if name:
            model.graph.output.add(name=name)
    moved = Model(model)
    infer_model(moved)
    try:
        move_to(moved, Workspace(moved), wanted, at_run_time=False)
    except StepBlocked as blocked:
        raise Refuse("; ".join(blocker.reason for blocker in blocked.blockers)) from None
    graph = moved.to_proto().graph
    return list(graph.node), [tensor for tensor in graph.initializer if tensor.name not in stored]
