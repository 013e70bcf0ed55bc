"""Find the smallest elements as the largest of what is negated.

What it does: Negates, takes the largest, and negates the values that were taken.
Why engines need it: TensorRT before 8.0 never reads `largest`: TopK gives the largest elements,
    silently.
Before: values, indices = TopK <largest = 0> (x, k)
After:
    v, indices = TopK (Neg (x), k)
    values = Neg (v)
When it refuses: The largest elements are asked for, or the elements are not floats.
Accuracy: Exact: negation turns the order of floats round, and equal elements stay equal. NaN is not
    treated.
References: https://onnx.ai/onnx/operators/onnx__TopK.html; onnx-tensorrt
    builtin_op_importers.cpp:3130 (7.0)
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("TopK", removes="attr:TopK.largest", emits="Neg TopK", since=11)
def topk_smallest_by_negation(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Turn the order round, see the module."""
    x, k = node.need(0), node.need(1)
    if int(node.attr("largest", 1)):
        raise Refuse("the smallest elements must be asked for; the largest are")
    if x.dtype is None or x.dtype.kind != "f":
        raise Refuse(f"{x.name} must be floating point; it is {x.type_name}")
    attributes = {name: node.attr(name) for name in node.attributes if name != "largest"}
    values, indices = build.multi("TopK", build.Neg(x), k, outputs=2, **attributes)
    results = (build.Neg(values), indices)
    return tuple(r if node.output(i) is not None else None for i, r in enumerate(results))[
        : len(node.outputs)
    ]
