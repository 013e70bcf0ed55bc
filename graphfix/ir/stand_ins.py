"""What onnx-graphsurgeon cannot carry, and what stands for it while a model is its graph.

Measured with onnx-graphsurgeon 0.6.1: attributes of other types than those of `_CARRIED` are
dropped, bytes that are no UTF-8 and empty lists end in an error, types that are neither a tensor
nor a sequence of tensors come back as others, and of functions that differ by their overload one
is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
)

from graphfix.ir.protos import all_graphs, all_nodes, copied, nodes_of_model

_TOKEN = "graphfix:opaque:"
_CARRIED = frozenset(
    {
        AttributeProto.FLOAT,
        AttributeProto.INT,
        AttributeProto.STRING,
        AttributeProto.TENSOR,
        AttributeProto.GRAPH,
        AttributeProto.FLOATS,
        AttributeProto.INTS,
        AttributeProto.STRINGS,
    }
)
_LISTS = frozenset({AttributeProto.FLOATS, AttributeProto.INTS, AttributeProto.STRINGS})


def stand_in(proto: ModelProto) -> None:
    """Put texts and shapes that name a place in `originals` where what they stand for is.

    An attribute becomes the string ``graphfix:opaque:N``, a type a tensor whose only size is
    called so, a function of an overload ``name:overload`` where another one bears its name.
    """
    attributes, infos = _attributes(proto), _infos(proto)
    for place, attribute in enumerate(attributes):
        attribute.CopyFrom(
            AttributeProto(
                name=attribute.name, type=AttributeProto.STRING, s=f"{_TOKEN}{place}".encode()
            )
        )
    for place, info in enumerate(infos):
        info.ClearField("type")
        tensor = info.type.tensor_type
        tensor.elem_type = TensorProto.FLOAT
        tensor.shape.dim.add(dim_param=f"{_TOKEN}{place}")
    names = _overloads(proto)
    for each in _named(proto):
        new = names.get((each.domain, _name(each), each.overload))
        if new is not None:
            _call(each, new, "")


def roll_back(edited: ModelProto, before: ModelProto) -> None:
    """Rolled back what stands for something, wherever it is now.

    Args:
        edited: What was edited.
        before: The model as it was, without anything that stands for something.
    """
    attributes = [copied(attribute) for attribute in _attributes(before)]
    types = [copied(info.type) for info in _infos(before)]
    for each in _named(edited):
        for attribute in each.attribute if isinstance(each, NodeProto) else each.attribute_proto:
            place = _place(attribute.s.decode("utf-8", "replace"), len(attributes))
            if attribute.type == AttributeProto.STRING and place is not None:
                name = attribute.name
                attribute.CopyFrom(attributes[place])
                attribute.name = name
    for info, _ in _declared(edited):
        is_tensor = info.type.HasField("tensor_type")
        dims = list(info.type.tensor_type.shape.dim) if is_tensor else []
        place = _place(dims[0].dim_param, len(types)) if len(dims) == 1 else None
        if place is not None:
            info.ClearField("type")
            if types[place].WhichOneof("value"):
                info.type.CopyFrom(types[place])
    new = _overloads(before)
    keys = [(f.domain, f.name, f.overload) for f in before.functions]
    names = {(key[0], new.get(key, key[1])): key for key in keys}
    for each in _named(edited):
        key = names.get((each.domain, _name(each)))
        if key is not None:
            _call(each, key[1], key[2])


def _named(proto: ModelProto) -> Iterator[NodeProto | FunctionProto]:
    yield from nodes_of_model(proto)
    yield from proto.functions


def _name(each: NodeProto | FunctionProto) -> str:
    return each.op_type if isinstance(each, NodeProto) else each.name


def _call(each: NodeProto | FunctionProto, name: str, overload: str) -> None:
    if isinstance(each, NodeProto):
        each.op_type = name
    else:
        each.name = name
    each.ClearField("overload")
    if overload:
        each.overload = overload


def _place(text: str, count: int) -> int | None:
    number = text.removeprefix(_TOKEN)
    if number == text or not number.isdecimal() or int(number) >= count:
        return None
    return int(number)


def _attributes(proto: ModelProto) -> list[AttributeProto]:
    """Return the attributes that are not carried, in an order that only depends on the model."""
    given: Iterable[Iterable[AttributeProto]] = (
        *(node.attribute for node in nodes_of_model(proto)),
        *(function.attribute_proto for function in proto.functions),
    )
    return [each for attributes in given for each in attributes if not _is_carried(each)]


def _is_carried(attribute: AttributeProto) -> bool:
    if attribute.type not in _CARRIED:
        return False
    if attribute.ref_attr_name:
        return True
    if attribute.type in _LISTS and not (attribute.floats or attribute.ints or attribute.strings):
        return False
    try:
        for text in (attribute.s, *attribute.strings):
            text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _graphs(proto: ModelProto) -> Iterator[GraphProto]:
    yield from all_graphs(proto.graph)
    for function in proto.functions:
        for node in all_nodes(function.node):
            for attribute in node.attribute:
                if attribute.type == AttributeProto.GRAPH:
                    yield attribute.g


def _declared(proto: ModelProto) -> Iterator[tuple[ValueInfoProto, bool]]:
    """Yield every declaration, and whether it is one of the interface."""
    for graph in _graphs(proto):
        for infos, interface in (
            (graph.input, True),
            (graph.output, True),
            (graph.value_info, False),
        ):
            for info in infos:
                yield info, interface and graph is proto.graph


def _infos(proto: ModelProto) -> list[ValueInfoProto]:
    """Return the declarations whose type is not carried, and those of the interface without one."""
    return [info for info, needed in _declared(proto) if not _is_plain(info.type, needed)]


def _is_plain(kind: TypeProto, needed: bool) -> bool:
    form = kind.WhichOneof("value")
    if form == "sequence_type":
        tensor = kind.sequence_type.elem_type.tensor_type
        return bool(tensor.elem_type) and not tensor.HasField("shape")
    return form == "tensor_type" or (form is None and not needed)


def _overloads(proto: ModelProto) -> dict[tuple[str, str, str], str]:
    """Return what functions are called that another one shares the name with."""
    names = [(function.domain, function.name) for function in proto.functions]
    return {
        (f.domain, f.name, f.overload): f"{f.name}:{f.overload}"
        for f in proto.functions
        if f.overload and names.count((f.domain, f.name)) > 1
    }
