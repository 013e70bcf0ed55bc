"""What `--attach-nms` claims: its nodes choose as numpy does, and the rest is as it was."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphfix.edits.detectors.drawn_heads import drawn
from graphfix.edits.detectors.heads import KEY, Head
from graphfix.edits.detectors.suppressing import ASKED, Wish, constants_of, outputs_of
from graphfix.edits.outside import DOMAIN, NUMPY, with_import
from graphfix.edits.parts import stored_names
from graphfix.edits.step import Claim, Equal, Runs, SameStructure
from graphfix.ir.protos import copied

_TEXT = "it detects what numpy does, in heads that were drawn"
_SHOWN = "scores_and_count"


def claims_of(
    before: ModelProto, made: ModelProto, head: Head, wish: Wish, prefix: str
) -> tuple[Claim, ...]:
    """Return the claims.

    Args:
        before: The model as it was.
        made: The model with a suppression.
        head: Its head.
        wish: What was asked.
        prefix: What the names of the nodes and tensors of the suppression begin with.
    """
    ours = [copied(node) for node in made.graph.node if node.name.startswith(prefix)]
    stored = [t for t in made.graph.initializer if t.name.startswith(prefix)]
    names = {name: f"head{i}" for i, name in enumerate(head.names)}
    for node in ours:
        node.input[:] = [names.get(name, name) for name in node.input]
    alone = _model(made, head, wish, ours, stored)
    asked = [ASKED[name][0] for name in ASKED if name != "classes" or wish.picks]
    node = helper.make_node(
        "Detections",
        [*names.values(), *asked],
        [info.name for info in outputs_of(head, wish, None)],
        domain=DOMAIN,
    )
    given = {"layout": head.layout, "classes": head.classes, "extra": head.extra}
    node.attribute.extend(helper.make_attribute(name, value) for name, value in given.items())
    values = [numpy_helper.from_array(a, name) for name, a in constants_of(wish).items()]
    reference = with_import(_model(made, head, wish, [node], values))
    left = copied(made)
    for part in ("input", "output", "value_info"):
        left.graph.ClearField(part)
        getattr(left.graph, part).extend(getattr(before.graph, part))
    for part in ("node", "initializer"):
        kept = [
            copied(each)
            for each in getattr(made.graph, part)
            if not each.name.startswith(prefix) or each.name in stored_names(before.graph)
        ]
        left.graph.ClearField(part)
        getattr(left.graph, part).extend(kept)
    domains = {f"opset {node.domain}" for node in ours if node.domain}
    free = frozenset({f"metadata {KEY}", "ir_version", *domains})
    return (
        Equal(_TEXT, alone, reference, NUMPY, fed=drawn(head, wish)),
        SameStructure(before, left, fields=free),
        Runs("it runs", made, before),
    )


def _model(
    made: ModelProto,
    head: Head,
    wish: Wish,
    nodes: Sequence[NodeProto],
    stored: Sequence[TensorProto],
) -> ModelProto:
    """Return a model of a suppression alone.

    The count is shown as a part of the scores: of few images it may be the same for all.
    """
    proto = ModelProto(ir_version=made.ir_version, opset_import=made.opset_import)
    proto.graph.name = "suppression"
    for name, array in drawn(head, wish).items():
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        sizes = [None] * array.ndim
        proto.graph.input.append(helper.make_tensor_value_info(name, kind, sizes))
    ends = {info.name: info for info in outputs_of(head, wish, None)}
    ends["num_detections"] = copied(ends["detection_scores"])
    ends["num_detections"].name = _SHOWN
    proto.graph.output.extend(ends.values())
    proto.graph.node.extend(nodes)
    proto.graph.node.add(op_type="Cast", input=["num_detections"], output=["count"])
    proto.graph.node[-1].attribute.append(helper.make_attribute("to", TensorProto.FLOAT))
    proto.graph.node.add(op_type="Add", input=["detection_scores", "count"], output=[_SHOWN])
    proto.graph.initializer.extend(stored)
    return proto
