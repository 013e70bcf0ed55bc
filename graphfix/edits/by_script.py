"""Edit a model with onnx-graphsurgeon, and keep the result only where it is a model."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from onnx import ModelProto

from graphfix.edits.inferred_types import settle_types
from graphfix.errors import InvalidModel, UsageError
from graphfix.ir.importing import first_misplaced, sorted_nodes
from graphfix.ir.model import Model
from graphfix.ir.protos import called, copied
from graphfix.ir.storage.reading import check_proto
from graphfix.ir.surgeon import GsGraph, from_graphsurgeon, to_graphsurgeon
from graphfix.pipeline.model_files import check_acyclic, documented
from graphfix.pipeline.validation import new_complaints, validity_of
from graphfix.validity.complaints import called as shown


@contextmanager
def edit(model: Model) -> Generator[GsGraph]:
    """Hand a model out as an `onnx_graphsurgeon.Graph`, and let it be what is made of that.

    ``with graphfix.edit(model) as graph: ...``: on leaving, nodes are put in order, types are
    inferred, and everything that onnx-graphsurgeon forgets comes back where no one touched it.
    Where the block raises, or what it made is no valid model, the model stays as it was.

    Args:
        model: A loaded model; `graphfix.load` makes one of a path, `graphfix.Model.empty` from
            nothing.

    Raises:
        UsageError: It is no loaded model, or onnx-graphsurgeon does not take it.
        InvalidModel: What was made of it is no valid model; the node is named.
    """
    _check_loaded(model)
    with documented(model):
        before = model.to_proto()
        graph = to_graphsurgeon(model)
    yield graph
    with documented(model):
        model.become(_rolled_back(graph, model, before))


def _check_loaded(model: object) -> None:
    if not isinstance(model, Model):
        raise UsageError(
            f"a loaded model is edited, not a {type(model).__name__}",
            hint="with graphfix.edit(model) as graph, where model = graphfix.load(path)",
        )


def _rolled_back(graph: GsGraph, model: Model, before: ModelProto) -> Model:
    after = from_graphsurgeon(graph, model, typed=False).to_proto()
    if after == before:
        return model.copy()
    check_proto(after, "the edited model")
    _put_in_order(after, model.base_dir)
    settle_types(after, before, model.base_dir)
    _check_types(after)
    result = Model(after, base_dir=model.base_dir)
    _check_valid(Model(before, base_dir=model.base_dir), result)
    return result


def _put_in_order(proto: ModelProto, base_dir: str) -> None:
    """Sort the nodes of the main graph where a reader is before what it reads.

    Raises:
        InvalidModel: They form a cycle.
    """
    model = Model(copied(proto), base_dir=base_dir)
    check_acyclic(model)
    if first_misplaced(model.graph) is None:
        return
    nodes = [copied(proto.graph.node[node.index]) for node in sorted_nodes(model.graph)]
    proto.graph.ClearField("node")
    proto.graph.node.extend(nodes)


def _check_types(proto: ModelProto) -> None:
    for kind, infos in (("input", proto.graph.input), ("output", proto.graph.output)):
        for info in infos:
            if not info.type.WhichOneof("value"):
                makers = (n for n in proto.graph.node if info.name in n.output)
                maker = next((called(n.op_type, n.name, n.output) for n in makers), "")
                raise InvalidModel(
                    f"the type of {kind} {info.name!r} is not known",
                    where=maker,
                    hint="give the tensor a dtype and a shape",
                )


def _check_valid(before: Model, after: Model) -> None:
    was, now = validity_of(before), validity_of(after)
    said = new_complaints(was, now)
    if not said:
        return
    known = {(complaint.kind, complaint.message) for complaint in was.complaints}
    for complaint in now.complaints:
        if complaint.node is not None and (complaint.kind, complaint.message) not in known:
            raise InvalidModel(complaint.message, where=shown(complaint.node), hint=said)
    raise InvalidModel(f"the result is no valid model: {said}")
