"""Models of opsets below 7 and of operators that were experiments, with today's form next to them.

Source: the texts of these versions in onnx/defs/**/old.cc, and for experiments in
onnx/defs/experiments of onnx 1.4. What is right is what onnxruntime computes of today's form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
import onnx
from onnx import parser

from benchmarks.coverage.cases import Case
from benchmarks.opset.comparison import run

_TODAY = 13
_STORED_ALONE = 9
_EXPERIMENTS = (
    "Affine Crop ImageScaler ParametricSoftplus ScaledTanh ThresholdedRelu Scale DynamicSlice "
    "MeanVarianceNormalization GivenTensorFill ConstantFill"
)
EXPERIMENTS = tuple(f"{op}-experimental" for op in _EXPERIMENTS.split())
X = "float[2,3,4,5] x"
Y = "float[2,3,4,5] y"


class Form(NamedTuple):
    """One model in both forms.

    Attributes:
        entry: The entry of the list.
        form: What is special of it.
        inputs: Its inputs, as onnx.parser reads them.
        outputs: Its outputs.
        old: Its nodes.
        today: The same in the opset of today.
        since: The opset of the old form; 0 for the number in `entry`.
    """

    entry: str
    form: str
    inputs: str
    outputs: str
    old: str
    today: str
    since: int = 0


def old_forms() -> Iterator[Case]:
    """Yield the cases."""
    yield from cases_of(_unary(), _binary(), _several(), _layers(), _shapes(), _recurrent(),
                        _experiments())  # fmt: skip


def cases_of(*several: Iterable[Form]) -> Iterator[Case]:
    """Yield forms as cases: what is right is what onnxruntime computes of today's."""
    for form in chain(*several):
        since = form.since or int(form.entry.rpartition("-")[2])
        old, today = (
            parser.parse_model(
                f'<ir_version: {ir}, opset_import: ["" : {opset}]> '
                f"g ({form.inputs}) => ({form.outputs}) {{ {nodes} }}"
            )
            for ir, opset, nodes in (
                (3 if since < _STORED_ALONE else 8, since, form.old),
                (8, _TODAY, form.today),
            )
        )
        feed = {info.name: _drawn(info) for info in today.graph.input}
        _store_integers(old)
        yield Case(form.entry, form.form, old.SerializeToString(), feed, run(today, feed))


def _store_integers(model: onnx.ModelProto) -> None:
    """Make initializers of integer constants: Constant of these opsets had floats alone."""
    graph = model.graph
    for node in [n for n in graph.node if n.op_type == "Constant"]:
        tensor = node.attribute[0].t
        if tensor.data_type == onnx.TensorProto.INT64:
            tensor.name = node.output[0]
            graph.initializer.add().CopyFrom(tensor)
            graph.input.add().CopyFrom(
                onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            )
            graph.node.remove(node)


def _drawn(info: onnx.ValueInfoProto) -> np.ndarray:
    kind = info.type.tensor_type
    shape = [dim.dim_value for dim in kind.shape.dim]
    rng = np.random.default_rng(len(shape))
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(1, 4, shape).astype(dtype)
    if info.name == "v" or info.name.startswith("p"):  # a variance; what may not be negative
        return rng.uniform(0.5, 2, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def _unary() -> Iterator[Form]:
    plain = "Abs Ceil Exp Floor LeakyRelu Log Neg Reciprocal Relu Sigmoid Sqrt Tanh Elu HardSigmoid"
    for op in plain.split():
        x = "float[2,3] p"
        yield Form(f"{op}-1", "consumed_inputs", x, "float[2,3] y",
                   f"y = {op} <consumed_inputs = [0]> (p)", f"y = {op} (p)")  # fmt: skip
        for since in (1, 6):
            yield Form(f"{op}-{since}", "plain", x, "float[2,3] y",
                       f"y = {op} (p)", f"y = {op} (p)")  # fmt: skip
    yield Form("LeakyRelu-1", "alpha", X, Y,
               "y = LeakyRelu <alpha = 0.2, consumed_inputs = [1]> (x)",
               "y = LeakyRelu <alpha = 0.2> (x)")  # fmt: skip
    alpha = "alpha = 1.6732, gamma = 1.0507"
    yield Form("Selu-1", "defaults", X, Y, "y = Selu (x)", f"y = Selu <{alpha}> (x)")
    yield Form("Selu-1", "given", X, Y, f"y = Selu <{alpha}, consumed_inputs = [0]> (x)",
               f"y = Selu <{alpha}> (x)")  # fmt: skip
    yield Form("Selu-6", "defaults", X, Y, "y = Selu (x)", "y = Selu (x)")
    low = "l = Constant <value = float {-0.5}> () "
    high = "h = Constant <value = float {0.5}> () "
    for since in (1, 6):
        entry = f"Clip-{since}"
        yield Form(entry, "both", X, Y, "y = Clip <min = -0.5, max = 0.5> (x)",
                   f"{low}{high} y = Clip (x, l, h)")  # fmt: skip
        yield Form(entry, "min", X, Y, "y = Clip <min = -0.5> (x)", f"{low} y = Clip (x, l)")
        yield Form(entry, "none", X, Y, "y = Clip (x)", "y = Identity (x)")
    yield Form("Clip-1", "consumed_inputs", X, Y,
               "y = Clip <max = 0.5, consumed_inputs = [0]> (x)",
               f"{high} y = Clip (x, , h)")  # fmt: skip
    for name, number in (("FLOAT", 1), ("INT32", 6), ("INT64", 7), ("BOOL", 9), ("UINT8", 2)):
        kind = name.lower()
        yield Form("Cast-1", kind, "float[2,3] p", f"{kind}[2,3] y",
                   f'y = Cast <to = "{name}"> (p)', f"y = Cast <to = {number}> (p)")  # fmt: skip
        yield Form("Cast-6", kind, "float[2,3] p", f"{kind}[2,3] y",
                   f"y = Cast <to = {number}> (p)", f"y = Cast <to = {number}> (p)")  # fmt: skip


_AXES = {"first": ("float[2]", 0, [1, 2, 3]), "second": ("float[3]", 1, [1, 2]),
         "middle": ("float[3,4]", 1, [2]), "two": ("float[2,3]", 0, [2, 3])}  # fmt: skip


def _binary() -> Iterator[Form]:
    kinds = [("Add Sub Mul Div Pow", "float", "float", (1, 6)),
             ("Greater Less", "float", "bool", (1,)), ("Equal", "int32", "bool", (1,)),
             ("And Or Xor", "bool", "bool", (1,))]  # fmt: skip
    for ops, kind, result, opsets in kinds:
        for op in ops.split():
            for since in opsets if op != "Pow" else (1,):
                yield from _broadcasting(op, since, kind, result)


def _broadcasting(op: str, since: int, kind: str, result: str) -> Iterator[Form]:
    entry, out = f"{op}-{since}", f"{result}[2,3,4,5] y"
    first, today = f"{kind}[2,3,4,5] p", f"y = {op} (p, q)"
    yield Form(entry, "same sizes", f"{first}, {kind}[2,3,4,5] q", out, today, today)
    if since == 1 and op in "Add Sub Mul Div":
        yield Form(entry, "consumed_inputs", f"{first}, {kind}[2,3,4,5] q", out,
                   f"y = {op} <consumed_inputs = [0, 0]> (p, q)", today)  # fmt: skip
    if kind == "float":
        scalar = "q = Constant <value = float {1.5}> ()"
        yield Form(entry, "broadcast scalar", first, out,
                   f"{scalar} y = {op} <broadcast = 1> (p, q)", f"{scalar} {today}")  # fmt: skip
    for shape in ("4,5", "5", "1", "3,4,5"):
        yield Form(entry, f"broadcast [{shape}]", f"{first}, {kind}[{shape}] q", out,
                   f"y = {op} <broadcast = 1> (p, q)", today)  # fmt: skip
    for name, (shape, axis, axes) in _AXES.items():
        second = f"{shape.replace('float', kind)} q"
        new = f"a = Constant <value_ints = {axes}> () u = Unsqueeze (q, a) y = {op} (p, u)"
        yield Form(entry, f"axis {name}", f"{first}, {second}", out,
                   f"y = {op} <broadcast = 1, axis = {axis}> (p, q)", new)  # fmt: skip
    yield Form(entry, "axis of a suffix", f"{first}, {kind}[4,5] q", out,
               f"y = {op} <broadcast = 1, axis = 2> (p, q)", today)  # fmt: skip


def _several() -> Iterator[Form]:
    for op in ("Max", "Min", "Mean", "Sum"):
        for since in (1, 6):
            for names in ("x", "x, z", "x, z, w"):
                inputs = ", ".join(f"float[2,3] {name.strip()}" for name in names.split(","))
                text = f"y = {op} ({names})"
                count = f"{names.count(',') + 1} inputs"
                yield Form(f"{op}-{since}", count, inputs, "float[2,3] y", text, text)
        yield Form(f"{op}-1", "consumed_inputs", "float[2,3] x, float[2,3] z", "float[2,3] y",
                   f"y = {op} <consumed_inputs = [0, 0]> (x, z)", f"y = {op} (x, z)")  # fmt: skip


def _layers() -> Iterator[Form]:
    norm = f"{X}, float[3] s, float[3] b, float[3] m, float[3] v"
    new = "y = BatchNormalization (x, s, b, m, v)"
    for since, extra in ((1, "consumed_inputs = [0, 0, 0, 1, 1], "), (6, "")):
        entry = f"BatchNormalization-{since}"
        yield Form(entry, "inference", norm, Y,
                   f"y = BatchNormalization <{extra}is_test = 1> (x, s, b, m, v)", new)  # fmt: skip
        yield Form(entry, "epsilon and momentum", norm, Y,
                   f"y = BatchNormalization <{extra}is_test = 1, epsilon = 0.1, momentum = 0.5>"
                   " (x, s, b, m, v)",
                   "y = BatchNormalization <epsilon = 0.1> (x, s, b, m, v)")  # fmt: skip
        each = ", ".join(f"float[3,4,5] {name}" for name in "sbmv")
        yield Form(entry, "spatial 0", f"{X}, {each}", Y,
                   f"y = BatchNormalization <{extra}is_test = 1, spatial = 0> (x, s, b, m, v)",
                   "e = Constant <value = float {0.00001}> () c = Sub (x, m) w = Add (v, e) "
                   "r = Sqrt (w) n = Div (c, r) t = Mul (n, s) y = Add (t, b)")  # fmt: skip
    each = ", ".join(f"float[3,4,5] {name}" for name in "sbmv")
    yield Form("BatchNormalization-7", "spatial 0", f"{X}, {each}", Y,
               "y = BatchNormalization <spatial = 0> (x, s, b, m, v)",
               "e = Constant <value = float {0.00001}> () c = Sub (x, m) w = Add (v, e) "
               "r = Sqrt (w) n = Div (c, r) t = Mul (n, s) y = Add (t, b)")  # fmt: skip
    instance = f"{X}, float[3] s, float[3] b"
    for since, extra in ((1, "consumed_inputs = [0, 0, 0]"), (6, "epsilon = 0.00001")):
        yield Form(f"InstanceNormalization-{since}", "plain", instance, Y,
                   f"y = InstanceNormalization <{extra}> (x, s, b)",
                   "y = InstanceNormalization (x, s, b)")  # fmt: skip
    for since, extra in ((1, "consumed_inputs = [0], "), (6, "")):
        yield Form(f"Dropout-{since}", "inference", X, Y,
                   f"y = Dropout <{extra}is_test = 1, ratio = 0.3> (x)",
                   "y = Identity (x)")  # fmt: skip
    for since in (1, 6):
        for form, slope, axes in (("channels", "3", "a = Constant <value_ints = [1, 2]> ()"),
                                  ("shared", "1", "")):  # fmt: skip
            reshape = f"{axes} s = Unsqueeze (q, a)" if axes else "s = Identity (q)"
            extra = "<consumed_inputs = [0, 0]>" if since == 1 else ""
            yield Form(f"PRelu-{since}", form, f"{X}, float[{slope}] q", Y,
                       f"y = PRelu {extra} (x, q)", f"{reshape} y = PRelu (x, s)")  # fmt: skip
        yield from _products(since)
    yield from _pools()


def _products(since: int) -> Iterator[Form]:
    rest = "float[2,3] a, float[3,4] b"
    for form, c, flag in (
        ("no broadcast", "2,4", 0), ("broadcast", "2,4", 1), ("row", "4", 1),
        ("row of 2 axes", "1,4", 1), ("column", "2,1", 1), ("one", "1", 1),
    ):  # fmt: skip
        yield Form(f"Gemm-{since}", form, f"{rest}, float[{c}] c", "float[2,4] y",
                   f"y = Gemm <broadcast = {flag}, alpha = 0.5, beta = 2.0> (a, b, c)",
                   "y = Gemm <alpha = 0.5, beta = 2.0> (a, b, c)")  # fmt: skip
    yield Form(f"Gemm-{since}", "transposed", "float[3,2] a, float[4,3] b, float[4] c",
               "float[2,4] y", "y = Gemm <broadcast = 1, transA = 1, transB = 1> (a, b, c)",
               "y = Gemm <transA = 1, transB = 1> (a, b, c)")  # fmt: skip


def _pools() -> Iterator[Form]:
    for op, since in (("AveragePool", 1), ("MaxPool", 1)):
        small, padded = "float[2,3,2,3] y", "float[2,3,4,5] y"
        for form, out, said in (
            ("plain", small, "kernel_shape = [2, 3], strides = [2, 1]"),
            ("padded", padded, "kernel_shape = [3, 3], pads = [1, 1, 1, 1]"),
            ("same", padded, 'kernel_shape = [3, 3], auto_pad = "SAME_UPPER"'),
        ):
            text = f"y = {op} <{said}> (x)"
            yield Form(f"{op}-{since}", form, X, out, text, text)
    for since, p in ((1, "p = 2.0"), (2, "p = 2")):
        yield Form(f"GlobalLpPool-{since}", "p of 2", X, "float[2,3,1,1] y",
                   f"y = GlobalLpPool <{p}> (x)", "y = GlobalLpPool <p = 2> (x)")  # fmt: skip
        yield Form(f"LpPool-{since}", "p of 2", X, "float[2,3,3,4] y",
                   f"y = LpPool <{p}, kernel_shape = [2, 2]> (x)",
                   "y = LpPool <p = 2, kernel_shape = [2, 2]> (x)")  # fmt: skip
    yield Form("MaxRoiPool-1", "plain", "float[1,1,6,6] x", "float[1,1,2,2] y",
               "r = Constant <value = float[1,5] {0, 0, 0, 3, 3}> () "
               "y = MaxRoiPool <pooled_shape = [2, 2]> (x, r)",
               "r = Constant <value = float[1,5] {0, 0, 0, 3, 3}> () "
               "y = MaxRoiPool <pooled_shape = [2, 2]> (x, r)")  # fmt: skip


def _shapes() -> Iterator[Form]:
    for since, said in ((1, "paddings"), (2, "pads")):
        pads = "[0, 0, 1, 2, 0, 0, 2, 0]"
        new = f"p = Constant <value_ints = {pads}> () "
        out = "float[2,3,7,7] y"
        for mode in ("constant", "edge", "reflect"):
            yield Form(f"Pad-{since}", mode, X, out,
                       f'y = Pad <{said} = {pads}, mode = "{mode}"> (x)',
                       f'{new} y = Pad <mode = "{mode}"> (x, p)')  # fmt: skip
        yield Form(f"Pad-{since}", "value", X, out, f"y = Pad <{said} = {pads}, value = 1.5> (x)",
                   f"{new} v = Constant <value = float {{1.5}}> () y = Pad (x, p, v)")  # fmt: skip
    for form, axis in (("first", "axis = 0"), ("last", "axis = 3"), ("no axis", "")):
        name = axis or "axis = 1"
        yield Form("Concat-1", form, f"{X}, float[2,3,4,5] z", f"float[{_twice(name)}] y",
                   f"y = Concat <{axis}> (x, z)" if axis else "y = Concat (x, z)",
                   f"y = Concat <{name}> (x, z)")  # fmt: skip
    for form, shape, out in (("plain", "[6, 20]", "6,20"), ("rest", "[2, -1]", "2,60"),
                             ("kept", "[0, 0, 20]", "2,3,20")):  # fmt: skip
        size = shape.count(",") + 1
        values = shape.replace("[", "{").replace("]", "}")
        yield Form("Reshape-1", form, X, f"float[{out}] y", f"y = Reshape <shape = {shape}> (x)",
                   f"s = Constant <value_ints = {shape}> () y = Reshape (x, s)")  # fmt: skip
        yield Form("Reshape-5", form, X, f"float[{out}] y",
                   f"s = Constant <value = int64[{size}] {values}> () y = Reshape (x, s)",
                   f"s = Constant <value_ints = {shape}> () y = Reshape (x, s)")  # fmt: skip
    yield from _splits()
    yield Form("Tile-1", "constants", "float[2,3] x", "float[2,9] y",
               "t = Constant <value = float {3.0}> () a = Constant <value = float {1.0}> () "
               "y = Tile (x, t, a)",
               "r = Constant <value_ints = [1, 3]> () y = Tile (x, r)")  # fmt: skip
    yield Form("Tile-6", "constant", "float[2,3] x", "float[2,9] y",
               "r = Constant <value = int64[2] {1, 3}> () y = Tile (x, r)",
               "r = Constant <value_ints = [1, 3]> () y = Tile (x, r)")  # fmt: skip
    for mode in ("nearest", "bilinear"):
        new = "linear" if mode == "bilinear" else mode
        today = ("s = Constant <value = float[4] {1.0, 1.0, 2.0, 3.0}> () "
                 f'y = Resize <mode = "{new}", coordinate_transformation_mode = "asymmetric", '
                 'nearest_mode = "floor"> (x, , s)')  # fmt: skip
        yield Form("Upsample-1", mode, X, "float[2,3,8,15] y",
                   f'y = Upsample <height_scale = 2.0, width_scale = 3.0, mode = "{mode}"> (x)',
                   today)  # fmt: skip
        yield Form("Upsample-7", mode, X, "float[2,3,8,15] y",
                   f'y = Upsample <scales = [1.0, 1.0, 2.0, 3.0], mode = "{new}"> (x)',
                   today)  # fmt: skip
    yield Form("Constant-1", "plain", "float[2] x", "float[2] y",
               "c = Constant <value = float[2] {1.0, 2.0}> () y = Max (x, c)",
               "c = Constant <value = float[2] {1.0, 2.0}> () y = Max (x, c)")  # fmt: skip


def _twice(axis: str) -> str:
    sizes = [2, 3, 4, 5]
    sizes[int(axis.rpartition(" ")[2])] *= 2
    return ",".join(map(str, sizes))


def _splits() -> Iterable[Form]:
    out = "float[2,1] y, float[2,2] z"
    sizes = "s = Constant <value_ints = [1, 2]> () "
    for since in (1, 2):
        yield Form(f"Split-{since}", "attribute", "float[2,3] x", out,
                   "y, z = Split <axis = 1, split = [1, 2]> (x)",
                   f"{sizes} y, z = Split <axis = 1> (x, s)")  # fmt: skip
        yield Form(f"Split-{since}", "equal parts", "float[2,4] x", "float[2,2] y, float[2,2] z",
                   "y, z = Split <axis = 1> (x)", "y, z = Split <axis = 1> (x)")  # fmt: skip
    yield Form("Split-1", "input", "float[2,3] x", out,
               "s = Constant <value = float[2] {1.0, 2.0}> () y, z = Split <axis = 1> (x, s)",
               f"{sizes} y, z = Split <axis = 1> (x, s)")  # fmt: skip


def _recurrent() -> Iterator[Form]:
    for op, gates, opsets in (("RNN", 1, (1,)), ("GRU", 3, (1, 3)), ("LSTM", 4, (1,))):
        inputs = f"float[5,2,3] x, float[1,{4 * gates},3] w, float[1,{4 * gates},4] r"
        biased = f"{inputs}, float[1,{8 * gates}] b"
        outputs = "float[5,1,2,4] y, float[1,2,4] h"
        for since in opsets:
            for form, said in (("plain", ""), ("output_sequence", ", output_sequence = 1")):
                given = f'direction = "forward", hidden_size = 4{said}'
                yield Form(f"{op}-{since}", form, inputs, outputs,
                           f"y, h = {op} <{given}> (x, w, r)",
                           f"y, h = {op} <hidden_size = 4> (x, w, r)")  # fmt: skip
            yield Form(f"{op}-{since}", "bias, last alone", biased, "float[1,2,4] h",
                       f'_y, h = {op} <direction = "forward", hidden_size = 4> (x, w, r, b)'
                       .replace("_y", ""),
                       f"y, h = {op} <hidden_size = 4> (x, w, r, b)")  # fmt: skip
    inputs = "float[5,2,3] x, float[1,12,3] w, float[1,12,4] r, float[1,24] b"
    yield Form("GRU-3", "linear_before_reset", inputs, "float[5,1,2,4] y",
               "y = GRU <hidden_size = 4, linear_before_reset = 1, output_sequence = 1> "
               "(x, w, r, b)",
               "y = GRU <hidden_size = 4, linear_before_reset = 1> (x, w, r, b)")  # fmt: skip


def _experiments() -> Iterator[Form]:
    one = "Constant <value = float {%s}> ()"
    yield Form("Affine-experimental", "plain", X, Y, "y = Affine <alpha = 2.0, beta = 0.5> (x)",
               f"a = {one % 2.0} b = {one % 0.5} m = Mul (x, a) y = Add (m, b)", 6)  # fmt: skip
    crop = ("s = Constant <value_ints = [%s]> () e = Constant <value_ints = [%s]> () "
            "a = Constant <value_ints = [2, 3]> () y = Slice (x, s, e, a)")  # fmt: skip
    yield Form("Crop-experimental", "border", X, "float[2,3,2,2] y",
               "y = Crop <border = [1, 1, 2, 1]> (x)", crop % ("1, 1", "3, 3"), 6)  # fmt: skip
    yield Form("Crop-experimental", "scale", X, "float[2,3,2,3] y",
               "y = Crop <border = [1, 1, 0, 0], scale = [2, 3]> (x)",
               crop % ("1, 1", "3, 4"), 6)  # fmt: skip
    yield Form("ImageScaler-experimental", "plain", X, Y,
               "y = ImageScaler <scale = 0.5, bias = [1.0, 2.0, 3.0]> (x)",
               f"c = {one % 0.5} b = Constant <value = float[3,1,1] {{1.0, 2.0, 3.0}}> () "
               "m = Mul (x, c) y = Add (m, b)", 6)  # fmt: skip
    yield Form("ParametricSoftplus-experimental", "plain", X, Y,
               "y = ParametricSoftplus <alpha = 2.0, beta = 0.5> (x)",
               f"a = {one % 2.0} b = {one % 0.5} m = Mul (x, b) s = Softplus (m) "
               "y = Mul (a, s)", 6)  # fmt: skip
    yield Form("ScaledTanh-experimental", "plain", X, Y,
               "y = ScaledTanh <alpha = 2.0, beta = 0.5> (x)",
               f"a = {one % 2.0} b = {one % 0.5} m = Mul (x, b) t = Tanh (m) "
               "y = Mul (a, t)", 6)  # fmt: skip
    yield Form("ThresholdedRelu-experimental", "plain", X, Y,
               "y = ThresholdedRelu <alpha = 0.5> (x)", "y = ThresholdedRelu <alpha = 0.5> (x)",
               6)  # fmt: skip
    yield Form("MeanVarianceNormalization-experimental", "plain", X, Y,
               "y = MeanVarianceNormalization <across_channels = 0, normalize_variance = 1> (x)",
               "y = MeanVarianceNormalization <axes = [0, 2, 3]> (x)", 6)  # fmt: skip
    yield Form("DynamicSlice-experimental", "constants", X, "float[2,3,2,5] y",
               "s = Constant <value = int64[1] {1}> () e = Constant <value = int64[1] {3}> () "
               "a = Constant <value = int64[1] {2}> () y = DynamicSlice (x, s, e, a)",
               "s = Constant <value_ints = [1]> () e = Constant <value_ints = [3]> () "
               "a = Constant <value_ints = [2]> () y = Slice (x, s, e, a)", 6)  # fmt: skip
    yield Form("GivenTensorFill-experimental", "plain", "float[2] x", "float[2] y",
               "c = GivenTensorFill <shape = [2], values = [1.0, 2.0]> () y = Max (x, c)",
               "c = Constant <value = float[2] {1.0, 2.0}> () y = Max (x, c)", 6)  # fmt: skip
    yield Form("Scale-experimental", "plain", X, Y, "y = Scale <scale = 2.0> (x)",
               f"a = {one % 2.0} y = Mul (x, a)", 6)  # fmt: skip
    yield Form("ConstantFill-experimental", "shape", "float[2] x", "float[2] y",
               "c = ConstantFill <shape = [2], value = 0.5> () y = Max (x, c)",
               "c = Constant <value = float[2] {0.5, 0.5}> () y = Max (x, c)", 6)  # fmt: skip
