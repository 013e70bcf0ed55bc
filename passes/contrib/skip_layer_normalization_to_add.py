"""Take SkipLayerNormalization apart.

What it does: Writes com.microsoft::SkipLayerNormalization as the sum of input, skip and bias,
    centred and divided by its deviation over the last axis, times gamma, plus beta;
    SkipSimplifiedLayerNormalization is divided by its root mean square instead.
Why engines need it: They are operators of onnxruntime's optimiser; other engines do not know them.
Before: y = com.microsoft.SkipLayerNormalization <epsilon = 1e-5> (x, skip, gamma, beta, bias)
After:
    s = Add (Add (x, skip), bias)
    away = Sub (s, ReduceMean (s))
    y = Add (Mul (Div (away, Sqrt (Add (ReduceMean (Mul (away, away)), 1e-5))), gamma), beta)
When it refuses: The mean or the reciprocal deviation is used, or rank, dtype or the size of the
    last axis are unknown.
Accuracy: Exact up to the order of summation; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.SkipLayerNormalization,
    com.microsoft.SkipSimplifiedLayerNormalization
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._means import like, wide
from ._typing import need_float

_DEFAULT_EPSILON = 1e-12


@rewrite(
    ("com.microsoft::SkipLayerNormalization", "com.microsoft::SkipSimplifiedLayerNormalization"),
    removes=(
        "op:com.microsoft::SkipLayerNormalization "
        "op:com.microsoft::SkipSimplifiedLayerNormalization form:outputs.same-name"
    ),
    emits="Add Cast Div Mul ReduceMean ReduceSum Sqrt Sub",
)
def skip_layer_normalization_to_add(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write sum and normalisation, see the module."""
    x = node.need(0)
    need_float(x)
    size = x.dim(-1)
    if not size or x.rank is None:
        raise Refuse(f"the size of the last axis of {x.name} must be known")
    for place in (1, 2):
        stats = node.output(place)
        if stats is not None and stats.is_used:
            raise Refuse(
                f"the statistics {stats.name} are read by a node or returned, and are not "
                "computed here"
            )
    plain = node.op == "SkipSimplifiedLayerNormalization"
    gamma, beta = node.need(2), None if plain else node.input(3)
    bias = node.input(3 if plain else 4)
    total = build.Add(wide(build, x), wide(build, node.need(1)))
    if bias is not None:
        total = build.Add(total, wide(build, bias))
    axis = x.rank - 1

    def mean(value: Value) -> Value:
        # From opset 18 on ReduceMean takes its axes as an input, which not every engine reads.
        if build.opset < 18:
            return build.ReduceMean(value, axes=[axis], keepdims=1)
        return build.Div(build.ReduceSum(value, axes=[axis], keepdims=1), float(size))

    away = total if plain else build.Sub(total, mean(total))
    epsilon = float(node.attr("epsilon", _DEFAULT_EPSILON))
    deviation = build.Sqrt(build.Add(mean(build.Mul(away, away)), epsilon))
    result = build.Mul(build.Div(away, deviation), wide(build, gamma))
    if beta is not None:
        result = build.Add(result, wide(build, beta))
    results: list[Value | None] = [result, None, None, total]
    narrow = [
        None if value is None or node.output(place) is None else like(build, x, value)
        for place, value in enumerate(results)
    ]
    return tuple(narrow[: len(node.outputs)])
