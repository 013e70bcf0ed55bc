"""Compute in float32 what an engine has no numbers for."""

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, LOSSY, Editor, graph_pass

from ._floats import compute_in_float32, float_features


@graph_pass(removes=float_features("bfloat16"), emits="*::*", accuracy=APPROXIMATE)
def bfloat16_to_float32(editor: Editor) -> None:
    """Compute in float32 what is between nodes as bfloat16.

    What it does: All nodes that pass bfloat16 tensors to each other are written in float32,
        constants included; what the model gets and gives as bfloat16 is cast at its ends.
    Why engines need it: TensorRT before 9.0 has no bfloat16 ("Unsupported data type for the Cast
        operator!", "Found unsupported datatype when importing initializer").
    Before: y = Cast <to = 1> (Gather (table, i))       # table: bfloat16
    After: y = Gather (table, i)                       # table: float32
    When it refuses: One of the nodes has a body, is of another domain, or handles sequences: then
        all that are connected with it stay as they are. Where the whole model gives other values
        than rounding explains it is rolled back; bfloat16-arithmetic-to-float32 does the same by
        consent.
    Accuracy: Exact where the nodes move and compare elements only: float32 holds every number of
        bfloat16. Else approximate: what the model rounds to 8 bits after every operator (a relative
        error of 2^-9) is rounded to 24 bits, so that the result is nearer to the exact one.
    References: onnx2trt_utils.cpp:346, 748 of onnx-tensorrt, release 8.6 (no BFLOAT16);
        onnx_utils.hpp and importerUtils.cpp: convertDtype, release 10.1
    """
    compute_in_float32(editor, TensorProto.BFLOAT16)


@graph_pass(removes=float_features("bfloat16"), emits="*::*", accuracy=LOSSY)
def bfloat16_arithmetic_to_float32(editor: Editor) -> None:
    """Compute in float32 what is between nodes as bfloat16, though other values come out.

    What it does: All nodes that pass bfloat16 tensors to each other are written in float32,
        constants included; what the model gets and gives as bfloat16 is cast at its ends.
    Why engines need it: TensorRT before 9.0 has no bfloat16 ("Unsupported data type for the Cast
        operator!", "Found unsupported datatype when importing initializer").
    Before:
        q = Cast <to = 16> (x)             # bfloat16
        y = Cast <to = 1> (Mul (q, 0.1))
    After: y = Mul (x, 0.1)
    When it refuses: Without --allow-lossy; where bfloat16-to-float32 does it already. One of the
        nodes has a body, is of another domain, or handles sequences: then all that are connected
        with it stay as they are.
    Accuracy: Lossy: what the model rounds to 8 bits after every operator (a relative error of 2^-9)
        is rounded to 24 bits, so that the result is nearer to the exact one, and not the same.
    References: onnx2trt_utils.cpp:346, 748 of onnx-tensorrt, release 8.6 (no BFLOAT16);
        onnx_utils.hpp and importerUtils.cpp: convertDtype, release 10.1
    """
    compute_in_float32(editor, TensorProto.BFLOAT16, LOSSY)


@graph_pass(
    removes=("dtype:float16", f"dtype:Cast.{TensorProto.FLOAT16}"),
    emits="*::*",
    accuracy=APPROXIMATE,
)
def float16_to_float32(editor: Editor) -> None:
    """Compute in float32 what is between nodes as float16.

    What it does: All nodes that pass float16 tensors to each other are written in float32,
        constants included; what the model gets and gives as float16 is cast at its ends.
    Why engines need it: ncnn has float32 alone: pnnx leaves a Conv of float16 as it is ("layer Conv
        not exists or registered").
    Before: y = Relu (Conv (x, w))             # float16
    After: y = Cast <to = 10> (Relu (Conv (Cast <to = 1> (x), w)))
    When it refuses: One of the nodes has a body, is of another domain, or handles sequences: then
        all that are connected with it stay as they are. Where the whole model gives other values
        than rounding explains it is rolled back.
    Accuracy: Exact where the nodes move and compare elements only: float32 holds every number of
        float16. Else approximate: what the model rounds to 11 bits after every operator (a relative
        error of 2^-12), and lets become infinite beyond 65504, is rounded to 24 bits.
    References: measured on ncnn 1.0.20261020 and pnnx 20261020
    """
    compute_in_float32(editor, TensorProto.FLOAT16)


@graph_pass(
    removes=(
        *float_features("float64"),
        "dtype:float64-beyond-float32",
        f"dtype:Cast.{TensorProto.DOUBLE}",
    ),
    emits="*::*",
    accuracy=APPROXIMATE,
)
def float64_to_float32(editor: Editor) -> None:
    """Compute in float32 what is between nodes as float64.

    What it does: All nodes that pass float64 tensors to each other are written in float32,
        constants included; what the model gets and gives as float64 is cast at its ends.
    Why engines need it: TensorRT before 8.0 has no float64 ("Unsupported data type for the Cast
        operator!", "Found unsupported datatype when importing initializer"); from 8.0 on the parser
        itself takes float32 for it, and clamps infinite constants to its largest number. ncnn has
        float32 alone.
    Before:
        q = Cast <to = 11> (x)             # float64
        y = Cast <to = 1> (Mul (q, 0.1))
    After: y = Mul (x, 0.1)
    When it refuses: One of the nodes has a body, is of another domain, or handles sequences; a
        constant is larger than float32 reaches: then all that are connected with it stay as they
        are.
    Accuracy: Approximate: every operator rounds to 24 bits instead of 53, and what is larger than
        3.4e38 becomes infinite.
    References: onnx2trt_utils.cpp: convertDtype of onnx-tensorrt, releases 7.2 and 8.0;
        NVIDIA/TensorRT issue 1872
    """
    compute_in_float32(editor, TensorProto.DOUBLE)
