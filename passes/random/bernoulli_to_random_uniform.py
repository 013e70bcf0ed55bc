"""Replace Bernoulli by RandomUniformLike, Less and Cast.

What it does: Draws a number between 0 and 1 for each probability and says whether it is less.
Why engines need it: TensorRT has no importer for Bernoulli ("No importer registered for op:
    Bernoulli"), which came with opset 15.
Before: y = Bernoulli (p)
After: y = Cast (Less (RandomUniformLike (p), p))
When it refuses: The dtype of the probabilities is unknown.
Accuracy: Exact as a distribution, up to the 2^-24 in which float32 draws: 1 has the probability
    that the operator's page asks for. No two runs give the same values, before or after.
    onnxruntime and the function body of ONNX compare the other way round and give 1 with
    probability 1 - p, which is not what the page says.
References: https://onnx.ai/onnx/operators/onnx__Bernoulli.html; Bernoulli-15 in
    onnx/defs/generator/defs.cc of onnx/onnx (the body: Greater of the random number and p),
    op_bernoulli.py of its reference evaluator (binomial of p); builtin_op_importers.cpp of
    onnx-tensorrt, release 8.6
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_elem_type, rewrite


@rewrite("Bernoulli", removes="op:Bernoulli", emits="RandomUniformLike Less Cast")
def bernoulli_to_random_uniform(node: NodeView, build: Builder) -> Value:
    """Compare with a random number, see the module."""
    p = node.need(0)
    need_elem_type(p)
    # In float16 a number below 1 is rounded to 1, and 1 would not be certain any more.
    wide = p if p.elem_type == TensorProto.FLOAT else build.Cast(p, to=TensorProto.FLOAT)
    seed = {"seed": node.attr("seed")} if node.has("seed") else {}
    drawn = build.RandomUniformLike(wide, dtype=TensorProto.FLOAT, low=0.0, high=1.0, **seed)
    less = build.Less(drawn, wide)
    return build.Cast(less, to=int(node.attr("dtype", 0)) or p.elem_type)
