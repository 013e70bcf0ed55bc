"""Text of small models for the tests of the shape passes."""

import onnx


def text(graph: str, opset: int = 17, ir: int = 8) -> onnx.ModelProto:
    """Return the model that `graph` describes."""
    return onnx.parser.parse_model(f'<ir_version: {ir}, opset_import: ["" : {opset}]>\n{graph}')


def in_branch(line: str, signature: str, result: str, opset: int = 17) -> onnx.ModelProto:
    """Return a model that has `line`, which computes ``r`` from ``x``, in both branches of an If.

    Args:
        line: The node, and nodes before it.
        signature: The type of the input ``x``.
        result: The type of the output.
        opset: The opset.
    """
    branches = ", ".join(
        f"{name} = b{name[0]} () => ({result} o{name[0]}) "
        f"{{ {line.replace('LOCAL', name[0])} o{name[0]} = Identity ({name[0]}r) }}"
        for name in ("then_branch", "else_branch")
    )
    return text(f"g ({signature} x, bool c) => ({result} y) {{ y = If (c) <{branches}> }}", opset)
