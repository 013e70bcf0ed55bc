"""Dequantize the weights of products that are computed in floats now.

What it does: Where what a Conv, ConvTranspose, Gemm or MatMul multiplies its weights by was
    quantized and dequantized, and a repair wrote that in floating point numbers, the
    DequantizeLinear of the weights becomes the constant that it gives.
Why engines need it: No product in 8 bits is left there. onnxruntime dequantizes such weights in
    every run, and has faster kernels for weights that it knows: a network of six products took 1.8
    times as long as in 8 bits, and takes 1.2 times as long with the constants.
Before:
    q = Mul (Add (Clip (Round (Div (x, 0.1)), -255, 0), 0), 0.1)
    y = Conv (q, DequantizeLinear (w, 0.02))
After: y = Conv (q, constant)
When it refuses: The weights, the scale or the zero point are computed at run time, the scale is
    neither float32 nor float16, or there are more than max_elements elements. Weights that anything
    but such products reads stay, and those of a product that was one of floats before.
Accuracy: Exact: (x - zero point) * scale in float32, as the operator does. The weights take four
    bytes in the file where they took one.
References: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html; microsoft/onnxruntime,
    onnxruntime/core/optimizer/constant_folding.cc, which leaves out DequantizeLinear
"""

from functools import partial

from graphfix.authoring import LAST, Editor, NodeView, Option, Value, graph_pass, moved_inputs

from ._dequantizing import constant_as_float
from ._reading import PRODUCTS

_DEPTH = 8
_STEPS = 4  # nodes between the Mul and the Round of a pair


@graph_pass(
    stage=LAST,
    looks_at=["DequantizeLinear", "Round"],
    options={"max_elements": Option(int, 1 << 26, "Larger constants are refused.")},
)
def dequantize_weights_of_floats(editor: Editor) -> None:
    """Look at every DequantizeLinear of a constant, see the module."""
    most = int(editor.option("max_elements"))
    for graph in editor.graphs():
        for view in editor.nodes(graph, "DequantizeLinear"):
            given, result = view.input(0), view.output(0)
            if given is None or result is None or not given.is_constant:
                continue
            if not view.domain and _is_for_floats(result, _DEPTH):
                editor.replace(view, partial(constant_as_float, view, most=most))


def _is_for_floats(weights: Value, depth: int) -> bool:
    """Say whether only products by numbers that a repair rounds read some weights."""
    readers = weights.consumers
    if not depth or not readers or weights.is_graph_output:
        return False
    for reader in readers:
        places = [at for at, x in enumerate(reader.inputs) if x == weights]
        if not reader.domain and reader.op in PRODUCTS:
            other = reader.input(1 - places[0]) if places in ([0], [1]) else None
            if other is None or not _is_rounded(other, _DEPTH):
                return False
        elif tuple(places) != tuple(moved_inputs(reader.node)) or not all(
            y is None or _is_for_floats(y, depth - 1) for y in reader.outputs
        ):
            return False
    return True


def _is_rounded(x: Value, depth: int) -> bool:
    """Say whether a repair wrote that a number is quantized and dequantized."""
    maker = x.producer
    if maker is None or maker.domain or not depth:
        return False
    if maker.op != "Mul":
        moved = [maker.input(place) for place in moved_inputs(maker.node)]
        late = [one for one in moved if one is not None and not one.is_constant]
        return bool(late) and all(_is_rounded(one, depth - 1) for one in late)
    step: NodeView | None = maker
    for _ in range(_STEPS):
        if step is None or step.node.proto is not None:
            return False
        if step.op == "Round":
            return True
        first = step.input(0)
        step = first.producer if first is not None else None
    return False
