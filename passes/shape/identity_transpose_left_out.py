"""Leave out a Transpose that leaves all axes where they are.

What it does: Its readers read its input.
Why engines need it: onnxruntime up to 1.29 joins any Transpose with the Gemm after it, and then
    transposes what was not.
Before:
    t = Transpose <perm = {0, 1}> (w)
    y = Gemm (x, t)
After: y = Gemm (x, w)
When it refuses: An axis moves.
Accuracy: Exact.
References: https://github.com/microsoft/onnxruntime/issues/32418
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Transpose", removes="form:Transpose.identity", emits="", claims="nan inf")
def identity_transpose_left_out(node: NodeView, build: Builder) -> Value:
    """Give the input on, see the module."""
    perm = node.attr("perm")
    if perm is None or list(perm) != sorted(perm):
        raise Refuse(f"perm must leave the axes in their order; it is {perm}")
    return node.need(0)
