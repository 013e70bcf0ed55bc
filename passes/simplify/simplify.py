"""Run onnxsim over the whole model.

What it does: Hands the model to onnxsim in a child process and takes its nodes, initializers and
    types; inputs, outputs, metadata and doc strings of the model stay those of the file. It runs
    only when it is named.
Why engines need it: onnxsim fuses and folds more than the canonical passes do, such as
    BatchNormalization into Conv; some engines and deployment guides ask for it.
Before:
    c = Conv (x, w)
    y = BatchNormalization (c, s, b, m, v)
After: y = Conv (x, w2, b2)
When it refuses: Where onnxsim is missing, raises, crashes, runs out of memory or time, or finds
    other outputs on random inputs of its own; where its result has other inputs, outputs, element
    types, ranks or sizes, or does not pass the checker although the model does; a model whose
    weights lie outside the file, which onnxsim would load.
Accuracy: Exact up to the rounding of folded and fused weights. The run compares the whole model
    before and after and takes the result back where an output differs (unless verification is off).
References: https://github.com/onnxsim/onnxsim
"""

import onnx
from onnx import ModelProto, TensorProto, ValueInfoProto

from graphfix.analysis.folding.simplifying import simplified
from graphfix.authoring import NAMED, Editor, EngineFailed, NodeRef, Option, Refuse, graph_pass


@graph_pass(
    stage=NAMED,
    emits="*::*",
    options={
        "size_limit": Option(int, 1 << 17, "a folded tensor may have this many bytes"),
        "seconds": Option(int, 600, "how long onnxsim may take"),
    },
)
def simplify(editor: Editor) -> None:
    """Simplify the whole model at once."""
    before = editor.model.to_proto()
    if any(t.data_location == TensorProto.EXTERNAL for t in before.graph.initializer):
        raise Refuse("weights must lie inside the file; onnxsim would load those outside")
    try:
        found = simplified(before, editor.option("size_limit"), editor.option("seconds"))
    except EngineFailed as failure:
        raise Refuse(failure.message) from failure
    for kind in ("input", "output"):
        complaint = _differs(kind, getattr(before.graph, kind), getattr(found.graph, kind))
        if complaint:
            raise Refuse(complaint)
    after = _merged(before, found)
    if after == before:
        return
    if _complaint(after) and not _complaint(before):
        raise Refuse(f"the result must pass the ONNX checker; it says: {_complaint(after)}")
    editor.reload(after)
    had, has = len(before.graph.node), len(after.graph.node)
    editor.record(NodeRef(), f"{had} nodes became {has}")


def _differs(kind: str, old: list[ValueInfoProto], new: list[ValueInfoProto]) -> str:
    names = [info.name for info in old]
    if names != [info.name for info in new]:
        return f"its result has other {kind}s: {', '.join(info.name for info in new) or 'none'}"
    for one, two in zip(old, new, strict=True):
        first, second = one.type.tensor_type, two.type.tensor_type
        same = one.type.WhichOneof("value") == two.type.WhichOneof("value")
        if not same or first.elem_type != second.elem_type:
            return f"its result gives {kind} {one.name!r} another type"
        if first.HasField("shape") and second.HasField("shape"):
            sizes = list(zip(first.shape.dim, second.shape.dim, strict=False))
            if len(first.shape.dim) != len(second.shape.dim) or any(
                a.dim_value != b.dim_value
                for a, b in sizes
                if a.HasField("dim_value") and b.HasField("dim_value")
            ):
                return f"its result gives {kind} {one.name!r} another shape"
    return ""


def _merged(before: ModelProto, found: ModelProto) -> ModelProto:
    after = ModelProto()
    after.CopyFrom(before)
    for field in ("node", "initializer", "sparse_initializer", "value_info"):
        after.graph.ClearField(field)
        getattr(after.graph, field).extend(getattr(found.graph, field))
    for field in ("opset_import", "functions"):
        after.ClearField(field)
        getattr(after, field).extend(getattr(found, field))
    return after


def _complaint(model: ModelProto) -> str:
    try:
        onnx.checker.check_model(model)  # pyright: ignore[reportUnknownMemberType]
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        return (str(error).strip() or type(error).__name__).partition("\n")[0]
    return ""
