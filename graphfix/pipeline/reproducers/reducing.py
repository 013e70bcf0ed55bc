"""A fault's model: the nodes of a site with their own names, or the whole model."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import ModelProto, NodeProto

from graphfix.analysis.inference import infer_proto
from graphfix.authoring.evidence import Evidence, TensorFacts
from graphfix.ir.exporting import make_info
from graphfix.ir.graph import Variable
from graphfix.ir.protos import Functions
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.saving import take_in
from graphfix.ir.storage.weights import external_span, is_external
from graphfix.proving.sites.cutting import READ_AT_MOST, CannotCut, Side, assembled, constant_tensor

# A model with more bytes than this, weights included, is not copied.
MOST_BYTES = 256 * 2**20


def reduced(evidence: Evidence, functions: Functions) -> ModelProto:
    """Return the model of a site as it was, its border tensors as inputs; names are kept.

    Initializers are taken in up to 64 MiB each; bigger ones become inputs.

    Raises:
        CannotCut: The site refers to what is not there.
    """
    results = [result for result in evidence.results if result.before]
    if not results:
        raise CannotCut("it has no output that is used")
    side = Side(evidence.before, evidence.context, [r.before for r in results])
    graph = onnx.GraphProto(name="reproducer")
    for node in side.nodes:
        graph.node.append(_plain(node))
    made = {name for node in side.nodes for name in node.output}
    for name in side.borders:
        known = evidence.known.get(name)
        if known is None:
            raise CannotCut(f"nothing is known of {name!r}")
        if known.weights is not None and known.weights.nbytes <= READ_AT_MOST:
            graph.initializer.append(constant_tensor(known.weights, name))
        elif not known.elem_type and known.opaque is None:
            raise CannotCut(f"the type of {name!r} is not known")
        else:
            _declare(graph.input.add(name=name), known)
    for result in results:
        if result.before not in made:
            raise CannotCut(f"{result.before!r} is not made by the site")
        info = graph.output.add(name=result.before)
        if result.elem_type:
            info.type.tensor_type.elem_type = result.elem_type
    returned = {result.before for result in results}
    for name, known in evidence.known.items():
        if name in made and name not in returned and (known.elem_type or known.opaque):
            _declare(graph.value_info.add(name=name), known)
    model = assembled(graph, evidence.opsets, functions)
    for info, typed in zip(model.graph.output, infer_proto(model).graph.output, strict=True):
        info.CopyFrom(typed)  # with its shape, which ONNX wants of an output
    return model


def whole(proto: ModelProto, base_dir: str) -> ModelProto:
    """Return a copy of a model with its external data taken in.

    Raises:
        CannotCut: It is too big to be copied.
        InvalidModel: The data cannot be read.
    """
    outside = [tensor for tensor in walk_tensors(proto) if is_external(tensor)]
    size = proto.ByteSize() + sum(external_span(tensor)[2] for tensor in outside)
    if size > MOST_BYTES:
        raise CannotCut(f"the model has {size / 2**20:.0f} MiB, too many to copy")
    copy = ModelProto()
    copy.CopyFrom(proto)
    for tensor in walk_tensors(copy):
        if is_external(tensor):
            take_in(tensor, Path(base_dir))
    return copy


def _plain(node: NodeProto) -> NodeProto:
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            raise CannotCut(f"{node.op_type} refers to an attribute of its function")
        if attribute.type == onnx.AttributeProto.TENSOR and is_external(attribute.t):
            raise CannotCut(f"an attribute of {node.op_type} lies outside the file")
    copy = NodeProto()
    copy.CopyFrom(node)
    return copy


def _declare(info: onnx.ValueInfoProto, known: TensorFacts) -> None:
    variable = Variable(info.name, known.elem_type, known.shape)
    variable.opaque = known.opaque
    info.CopyFrom(make_info(variable))
