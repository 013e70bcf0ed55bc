"""Leave out casts of integers to 8 bits and back.

What it does: Where numbers that were rounded and limited to the range of int8 or uint8 are cast to
    it, and perhaps moved about, before something casts or dequantizes them again, the latter reads
    the numbers as they were. They are moved as float32 then.
Why engines need it: TensorRT has no uint8 inside of a graph, and int8 only next to QuantizeLinear.
    What quantized operators become is between two such casts.
Before:
    r = Clip (Add (Round (x), 128), 0, 255)
    y = Cast <to = 1> (MaxPool (Cast <to = 2> (r)))
After: y = MaxPool (Clip (Add (Round (x), 128), 0, 255))
When it refuses: It leaves alone what is not certainly whole, in range and without -0.0: a Clip of a
    sum of a Round or Floor and a constant, or such numbers moved about.
Accuracy: Exact: float32 holds every number of 8 bits. A NaN stays NaN, where the cast leaves open
    what it becomes. Each site leaves one cast less to read.
References: https://onnx.ai/onnx/operators/onnx__Cast.html, onnx__DequantizeLinear.html
"""

from functools import partial

from graphfix.authoring import BYTE_MOVES, CANONICAL, Editor, graph_pass

from ._round_trips import reads_round_trip, without_round_trip


@graph_pass(
    stage=CANONICAL,
    removes="dtype:uint8 dtype:Cast.uint8 dtype:Cast.int8",
    emits=(*BYTE_MOVES, "Cast Mul Sub"),
    looks_at=["Cast DequantizeLinear", "type:int8 type:uint8"],
)
def byte_round_trip_elimination(editor: Editor) -> None:
    """Look at every Cast and DequantizeLinear of bytes."""
    for graph in editor.graphs():
        for view in editor.nodes(graph, "Cast", "DequantizeLinear"):
            if reads_round_trip(view):
                editor.replace(view, partial(without_round_trip, view))
