"""Multiply or divide both operands negated.

What it does: Puts a Neg before each operand of a Mul or Div, and negates a constant. What is
    computed stays bit for bit what it was; only the pattern is another one.
Why engines need it: OpenCV joins the nodes of HardSwish, Mish, Gelu, of a norm, a softmax and a
    layer normalization to one layer where their operators fit, whether or not they read the same
    tensor: x * HardSigmoid(gate) becomes the HardSwish of the gate, without a word.
Before: y = Mul (x, HardSigmoid (gate))
After: y = Mul (Neg (x), Neg (HardSigmoid (gate)))
When it refuses: The numbers are no floats; all that are computed are negated already.
Accuracy: Exact: the negation of a float is exact, and two signs leave each other out.
References: opencv/opencv 4.x modules/dnn/src/onnx/onnx_graph_simplifier.cpp (HardSwishSubgraph);
    measured on OpenCV 4.10.0 and 5.0.0
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_FLOATS = ("float32", "float64", "float16", "bfloat16")


@rewrite(
    ("Div", "Mul"),
    removes="form:Div.unshared form:Div.by-norm form:Mul.unshared",
    emits="Div Mul Neg",
    since=7,
    claims="nan inf",
)
def product_of_negations(node: NodeView, build: Builder) -> Value:
    """Negate both operands, see the module."""
    first, second = node.need(0), node.need(1)
    if second.type_name not in _FLOATS:
        raise Refuse(f"the operands must be floats; they are {second.type_name}")
    makers = [value.producer for value in (first, second) if not value.is_constant]
    if all(maker is not None and maker.op == "Neg" for maker in makers):
        raise Refuse("an operand must be as it came; Neg gives all that are computed")
    constants = [value.array() for value in (first, second)]
    return build.node(
        node.op,
        *(
            build.Neg(value) if array is None else -array
            for value, array in zip((first, second), constants, strict=True)
        ),
    )
