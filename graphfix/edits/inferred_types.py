"""Types of a model that someone edited: inferred, and those that no longer hold dropped."""

from __future__ import annotations

from onnx import ModelProto, TensorShapeProto, TypeProto, ValueInfoProto

from graphfix.ir.protos import all_graphs, copied
from graphfix.reduction.tensor_types import Types, Typist

Dim = TensorShapeProto.Dimension


def settle_types(after: ModelProto, before: ModelProto, base_dir: str) -> None:
    """Declare the outputs of an edited model again, and what is said of its inner tensors.

    What was declared before and by no one since is followed: where inference gives a tensor
    another size than it gave it before, that size is declared, left open where none is known. What
    has no type gets the one that is inferred.

    Args:
        after: The edited model, which is changed.
        before: The model as it was.
        base_dir: Where the external data of both lies.

    Raises:
        InvalidModel: A name is used that nothing defines.
    """
    typist = Typist(base_dir)
    new, old = typist.inferred(_bare(after)), typist.inferred(_bare(before))
    known = {i.name: i for i in (*before.graph.output, *before.graph.value_info)}
    graph = after.graph
    given = {info.name for info in graph.input}
    for infos in (graph.output, graph.value_info):
        for info in infos:
            if info.name not in given:
                _settle(info, known.get(info.name), new, old)
    inputs = {info.name: info for info in graph.input}
    for info in graph.output:
        if info.name in inputs and not info.HasField("type"):
            info.type.CopyFrom(inputs[info.name].type)
    kept = [copied(info) for info in graph.value_info if info.HasField("type")]
    graph.ClearField("value_info")
    graph.value_info.extend(kept)


def _bare(proto: ModelProto) -> ModelProto:
    """Return a model that says nothing of what its nodes compute."""
    bare = copied(proto)
    for graph in all_graphs(bare.graph):
        graph.ClearField("value_info")
        made = {name for node in graph.node for name in node.output}
        for info in graph.output:
            if info.name in made:
                info.ClearField("type")
    return bare


def _settle(info: ValueInfoProto, was: ValueInfoProto | None, new: Types, old: Types) -> None:
    given = new.get(info.name)
    if given is None:
        return
    if not info.type.WhichOneof("value"):
        info.type.CopyFrom(given)
        return
    if not (info.type.HasField("tensor_type") and given.HasField("tensor_type")):
        return
    if was is None or was.type != info.type:  # someone has just said so
        if given.tensor_type.HasField("shape") and not info.type.tensor_type.HasField("shape"):
            info.type.tensor_type.shape.CopyFrom(given.tensor_type.shape)
        return
    before = old.get(info.name)
    if before is not None and before != given:
        _follow(info.type.tensor_type, given.tensor_type, before.tensor_type)


def _follow(declared: TypeProto.Tensor, given: TypeProto.Tensor, before: TypeProto.Tensor) -> None:
    """Declare what inference gives now, where it is not what it gave before."""
    declared.elem_type = given.elem_type or declared.elem_type
    if not given.HasField("shape"):
        if before.HasField("shape"):
            declared.ClearField("shape")
        return
    new, old, said = given.shape.dim, before.shape.dim, declared.shape.dim
    if len(said) != len(new) or len(old) != len(new):
        declared.shape.CopyFrom(given.shape)
        return
    for place, dim in enumerate(new):
        if dim.HasField("dim_value") or _size(dim) != _size(old[place]):
            denotation = said[place].denotation
            said[place].CopyFrom(dim)
            if denotation:
                said[place].denotation = denotation


def _size(dim: Dim) -> int | str:
    return dim.dim_value if dim.HasField("dim_value") else dim.dim_param
