"""Write down what ONNX means where an attribute of a node is left out.

What it does: Adds `perm` to a Transpose, which is the axes from the last to the first, and
    `keepdims` = 1 to a reduction.
Why engines need it: pnnx has no Transpose without perm, and MNN takes a missing keepdims of
    ReduceL1, L2, LogSum, LogSumExp and SumSquare for 0.
Before: y = Transpose (x)
After: y = Transpose <perm = [1, 0]> (x)
When it refuses: The attribute is there; a Transpose of unknown rank.
Accuracy: Exact: it is the default of the attribute.
References: https://onnx.ai/onnx/operators/onnx__Transpose.html
    https://onnx.ai/onnx/operators/onnx__ReduceL2.html; measured on pnnx 20261020 and MNN 3.6.1
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite
from graphfix.operators.table import REDUCTIONS


@rewrite(
    ("Transpose", *REDUCTIONS),
    removes=" ".join(("form:Transpose.no-perm", *(f"form:{op}.no-keepdims" for op in REDUCTIONS))),
    emits=" ".join(("Transpose", *REDUCTIONS)),
)
def attribute_defaults_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rewrite one node."""
    name = "perm" if node.op == "Transpose" else "keepdims"
    if node.has(name):
        raise Refuse(f"{name} must be left out; it is given")
    if name == "keepdims":
        return respell(node, build, keepdims=1)
    data = node.need(0)
    if data.rank is None:
        raise Refuse(f"the rank of {data.name} must be known")
    return respell(node, build, perm=list(reversed(range(data.rank))))
