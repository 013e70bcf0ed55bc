"""Operators that releases take, and compute differently or do not run; measured on their wheels."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.onnxruntime.rules import FAILS, NO_KERNEL
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.schemas import form_of
from graphfix.ir.views import NodeView

_LATE = frozenset(
    {
        *("int2", "int4", "int16", "uint2", "uint4", "uint16", "float4e2m1", "float8e4m3fn"),
        *("float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"),
    }
)
_WHOLE = ("Ceil", "Floor", "Round", "Trunc")


@rule(
    "OneHot",
    feature="dtype:OneHot.fraction",
    versions="..ort-1.31",
    severity=WRONG,
    source="measured on 1.10.0 to 1.31.1; 1.32.0 cuts fractions off, as ONNX says",
)
def one_hot_of_fractions(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime matches no class for a fractional OneHot index; ONNX truncates it."""
    index = node.input(0)
    if index is None or index.dtype is None or index.dtype.kind != "f":
        return None
    known = index.array()
    if known is not None:
        return bool((known != known.round()).any())
    producer = index.producer
    if producer is not None and producer.op in _WHOLE:
        return None
    source = producer.input(0) if producer is not None and producer.op == "Cast" else None
    if source is not None and source.dtype is not None and source.dtype.kind in "iub":
        return None
    return Unknown("the indices, none of which may have a fraction")


@rule(
    "ReverseSequence",
    feature="shape:ReverseSequence.empty",
    versions="..ort-1.24",
    severity=WRONG,
    source="measured on 1.10.0 to 1.24.4: what lies in memory is returned; 1.28.0 does not",
)
def reverse_of_nothing(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime returns uninitialised memory for a ReverseSequence length of 0."""
    lengths = node.input(1)
    known = lengths.array() if lengths is not None else None
    if known is None:
        return Unknown("the lengths, none of which may be 0")
    return bool((known == 0).any())


@rule(
    ("QuantizeLinear", "DequantizeLinear"),
    feature="dtype:Quantized",
    versions="ort",
    severity=REJECT,
    text="Unsupported model IR version",
    source="the schemas of the opset up to which its wheel reads files, as profiles say",
)
def quantized_type_of_later_opsets(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime: this release does not support the opset that added a type of {op}."""
    form = form_of(node.op, target.opset_max)
    if node.domain or form is None:
        return None
    known = {t for each in form.schema.type_constraints for t in each.allowed_type_strs}
    for end in (node.input(0), node.input(2), node.output(0)):
        name = end.type_name if end is not None else ""
        if name in _LATE and f"tensor({name})" not in known:
            return Yes(feature=f"dtype:{name}", message=f"{target.title} does not support {name}")
    return None


@rule(
    "DequantizeLinear",
    feature="form:DequantizeLinear.shared",
    versions="ort-1.15..ort-1.16",
    severity=WRONG,
    text="axis 1 is not in valid range [-1,0]",
    source="measured on 1.15.1 and 1.16.3, where it fails if both axes differ in size, and on "
    "1.17.1, which copies the axis (pull request 18039)",
)
def dequantized_for_several_nodes(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime copies a DequantizeLinear that several nodes read, with axis 1."""
    x, scale, y = node.input(0), node.input(1), node.output(0)
    axis = int(node.attr("axis", 1))
    if node.domain or axis == 1 or x is None or scale is None or y is None or scale.rank == 0:
        return None
    readers = y.tensor.outputs
    inner = [reader for reader in readers if reader.graph is node.graph]
    edges = sum(given is y.tensor for reader in {*inner} for given in reader.inputs)
    alone = len(inner) == len(readers) and not y.is_graph_output
    if edges < (2 if alone else 1):
        return None
    size = scale.dim(0)
    if x.rank is None or size is None:
        return Unknown(f"the rank of {x.name} and the size of {scale.name}")
    return size != 1 and axis % x.rank != 1


@rule(
    "ConvInteger",
    feature="form:ConvInteger.zero-points",
    versions="ort",
    severity=REJECT,
    text=FAILS.replace("{op}", "ConvInteger"),
    source="conv_integer.cc:52 (1.32): W_Zero_Point must be a scalar or 1D tensor of size 1",
)
def conv_integer_zero_points(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime supports one zero point for all weights of ConvInteger."""
    zero = node.input(3)
    if zero is None or zero.rank == 0:
        return None
    size = zero.dim(0)
    return Unknown(f"the size of {zero.name}") if size is None else size != 1


@rule(
    "Attention",
    feature="shape:Attention.mask",
    versions="ort",
    severity=REJECT,
    text="inconsistent total_sequence_length (between attn_mask and past_key and past_value)",
    source="measured on 1.32.0: masks of 4, 5 and 6 columns next to 6 keys and 2 in front of them; "
    "onnxruntime/core/providers/cpu/llm/attention_helper.h:164",
)
def attention_mask_of_all_keys(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime requires a mask column for every key; ONNX pads it from opset 24 on."""
    mask, keys, before = node.input(3), node.input(1), node.input(4)
    if node.domain or mask is None or keys is None:
        return None
    columns, count = mask.dim(-1), keys.dim(-2)
    earlier = 0 if before is None else before.dim(-2)
    if columns is None or count is None or earlier is None:
        return None
    return columns != count + earlier


@rule(
    "BitCast",
    feature="dtype:BitCast.bool",
    versions="ort",
    severity=REJECT,
    text=NO_KERNEL.replace("{since}", "26"),
    source="measured on 1.31.1 and 1.32.0: from and to bool alone",
)
def bitcast_of_bool(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime has no kernel for BitCast from or to bool."""
    ends = (node.input(0), node.output(0))
    return any(end is not None and end.type_name == "bool" for end in ends) and Yes(
        feature="dtype:BitCast.bool"
    )
