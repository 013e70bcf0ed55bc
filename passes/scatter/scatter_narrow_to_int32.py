"""Do the scatters of bools and narrow integers as int32.

What it does: Casts data and updates to int32, scatters, and casts the result back.
Why engines need it: TensorRT refuses scatters of bool when the engine is built, and of uint8 when
    it parses the file.
Before: y = ScatterND (mask, indices, updates)
After:
    m = Cast <to = 6> (mask)
    u = Cast <to = 6> (updates)
    w = ScatterND (m, indices, u)
    y = Cast <to = 9> (w)
When it refuses: Unknown and other element types; a ``reduction``, which would not wrap around as
    before.
Accuracy: Exact: int32 holds every value of these types.

References:
NvInfer.h of TensorRT 8.6.1, lines 6275-6300 (IScatterLayer);
https://onnx.ai/onnx/operators/onnx__Cast.html.
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._indices import NARROW, narrowed, reduction_of, widened

_OPERATORS = ("ScatterND", "ScatterElements", "Scatter")


@rewrite(
    _OPERATORS,
    removes=tuple(f"dtype:{op}.{name}" for op in _OPERATORS for name in NARROW),
    emits=(*_OPERATORS, "Cast"),
    since=9,
)
def scatter_narrow_to_int32(node: NodeView, build: Builder) -> Value:
    """Return the scatter computed as int32."""
    data, indices = node.need(0), node.need(1)
    if data.type_name not in NARROW:
        raise Refuse(f"the data must be of a narrow dtype; it is {data.type_name}")
    wide, updates = widened(build, data, node.need(2), reduction_of(node))
    axis = None if node.op == "ScatterND" else int(node.attr("axis", 0))
    (written,) = build.multi(node.op, wide, indices, updates, axis=axis)
    return narrowed(build, written, data)
