"""Write down what ONNX means where an attribute of a node is left out.

What it does: Adds `perm` to a Transpose, which is the axes from the last to the first, `keepdims`
    of 1 to a reduction, `epsilon` of 1e-5 to a BatchNormalization or InstanceNormalization, `axis`
    of -1 to a OneHot, and the `mode` nearest to a Resize.
Why engines need it: pnnx has no Transpose without perm, and no Resize without mode. MNN takes a
    missing keepdims of ReduceL1, L2, LogSum, LogSumExp and SumSquare for 0 and a missing epsilon
    for 0, puts the classes of a OneHot without axis in front, and interpolates with a Resize
    without mode.
Before: y = Transpose (x)
After: y = Transpose <perm = [1, 0]> (x)
When it refuses: The attribute is there; a Transpose of unknown rank.
Accuracy: Exact: it is the default of the attribute.
References: https://onnx.ai/onnx/operators/onnx__Transpose.html
    https://onnx.ai/onnx/operators/onnx__ReduceL2.html, onnx__BatchNormalization.html,
    onnx__InstanceNormalization.html, onnx__OneHot.html, onnx__Resize.html; measured on
    pnnx 20261020 and MNN 3.6.1
"""

from typing import Any

from graphfix.authoring import REDUCTIONS, Builder, NodeView, Refuse, Value, respell, rewrite

_LEFT_OUT: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(REDUCTIONS, ("keepdims", 1)),
    "BatchNormalization": ("epsilon", 1e-5),
    "InstanceNormalization": ("epsilon", 1e-5),
    "OneHot": ("axis", -1),
    "Resize": ("mode", "nearest"),
}
_FEATURES = {"Resize": "attr:Resize.no-mode", "Transpose": "form:Transpose.no-perm"}


@rewrite(
    ("Transpose", *_LEFT_OUT),
    removes=" ".join(
        (
            *_FEATURES.values(),
            *(f"form:{op}.no-{name}" for op, (name, _) in _LEFT_OUT.items() if op not in _FEATURES),
        )
    ),
    emits=" ".join(("Transpose", *_LEFT_OUT)),
)
def attribute_defaults_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rewrite one node."""
    name, value = _LEFT_OUT.get(node.op, ("perm", 0))
    if node.has(name):
        raise Refuse(f"{name} must be left out; it is given")
    if node.op != "Transpose":
        return respell(node, build, **{name: value})
    data = node.need(0)
    if data.rank is None:
        raise Refuse(f"the rank of {data.name} must be known")
    return respell(node, build, perm=list(reversed(range(data.rank))))
