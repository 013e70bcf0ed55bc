"""Compute in float32 what is between nodes as float16.

What it does: All nodes that pass float16 tensors to each other are written in float32, constants
    included; what the model gets and gives as float16 is cast at its ends.
Why engines need it: ncnn has float32 alone: pnnx leaves a Conv of float16 as it is ("layer Conv not
    exists or registered").
Before: y = Relu (Conv (x, w))             # float16
After: y = Cast <to = 10> (Relu (Conv (Cast <to = 1> (x), w)))
When it refuses: One of the nodes has a body, is of another domain, or handles sequences: then all
    that are connected with it stay as they are. Where the whole model gives other values than
    rounding explains it is rolled back.
Accuracy: Exact where the nodes move and compare elements only: float32 holds every number of
    float16. Else approximate: what the model rounds to 11 bits after every operator (a relative
    error of 2^-12), and lets become infinite beyond 65504, is rounded to 24 bits.
References: measured on ncnn 1.0.20261020 and pnnx 20261020
"""

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Editor, graph_pass

from ._floats import compute_in_float32


@graph_pass(
    removes=("dtype:float16", f"dtype:Cast.{TensorProto.FLOAT16}"),
    emits="*::*",
    accuracy=APPROXIMATE,
)
def float16_to_float32(editor: Editor) -> None:
    """Look at all that float16 tensors connect, see the module."""
    compute_in_float32(editor, TensorProto.FLOAT16)
