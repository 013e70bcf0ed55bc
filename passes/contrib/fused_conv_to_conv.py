"""Take FusedConv and FusedGemm apart.

What it does: Writes com.microsoft::FusedConv as Conv, Add of the tensor Z where there is one, and
    the activation; com.microsoft::FusedGemm as Gemm and the activation.
Why engines need it: They are operators of onnxruntime's optimiser (a model that it saved after
    optimisation has them); other engines do not know them.
Before:
    y = com.microsoft.FusedConv <activation = "LeakyRelu", activation_params = [0.1]> (x, w, b, z)
After: y = LeakyRelu <alpha = 0.1> (Add (Conv (x, w, b), z))
When it refuses: The dtype is not float32, or the activation is none that onnxruntime fuses, or
    lacks a parameter.
Accuracy: Exact up to the order of summation.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.FusedConv,
    com.microsoft.FusedGemm; onnxruntime/core/providers/cpu/activation/activations.h;
    onnxruntime/contrib_ops/cpu/fused_conv.cc, fused_gemm.cc, fused_activation.cc
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._activation import EMITS, activated, by_name, by_place

_CONV, _GEMM = "com.microsoft::FusedConv", "com.microsoft::FusedGemm"
_OWN = ("activation", "activation_params")


@rewrite(
    (_CONV, _GEMM),
    removes=(f"op:{_CONV}", f"form:{_CONV}.sum", f"op:{_GEMM}"),
    emits=(EMITS, "Add Conv Gemm"),
)
def fused_conv_to_conv(node: NodeView, build: Builder) -> Value:
    """Write the product and its activation, see the module."""
    x = node.need(0)
    if x.elem_type != TensorProto.FLOAT:
        raise Refuse(f"{x.name} must be float32; it is {x.type_name}")
    kept = {
        name: node.attr(name)
        for name in node.attributes
        if name not in _OWN and not name.startswith("activation_")
    }
    name = str(node.attr("activation", ""))
    if node.op == "FusedGemm":
        result = build.Gemm(*(node.input(place) for place in range(3)), **kept)
        return activated(build, result, name, lambda names: by_name(node, names))
    result = build.Conv(*(node.input(place) for place in range(3)), **kept)
    other = node.input(3)
    if other is not None:
        result = build.Add(result, other)
    return activated(build, result, name, lambda names: by_place(node, names))
