"""Generate quantized networks of today's sizes: 640 x 640 images and 1,024 tokens; seeded.

    python -m benchmarks.speed.quantized FOLDER [NAME...]

Random weights, calibrated on one random input by onnxruntime's quantizer, as its users do it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_SIDE, _TOKENS = 640, 1024
_OPSET = 17
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class _Net:
    """A network that grows; every tensor is named after what makes it."""

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(27))
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    weights: list[TensorProto] = field(default_factory=list[TensorProto])

    def constant(self, numbers: Array | float) -> str:
        """Store a constant; a single value is a float32."""
        name = f"c{len(self.weights)}"
        alone = isinstance(numbers, (int, float))
        array = np.asarray(numbers, np.float32) if alone else np.asarray(numbers)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def normal(self, *shape: int, scale: float) -> str:
        """Store normally distributed weights."""
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def op(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; its output, or the tuple of its outputs."""
        name = f"{op.lower()}{len(self.nodes)}"
        made = [name if outputs == 1 else f"{name}.{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), made, name=name, **attributes))
        return made[0] if outputs == 1 else tuple(made)

    def conv(
        self, x: str, channels: tuple[int, int], size: int, stride: int = 1, **more: Any
    ) -> str:
        """Add a convolution that keeps the sides, up to its stride."""
        group = int(more.get("group", 1))
        fan = channels[0] // group * size * size
        weight = self.normal(channels[1], channels[0] // group, size, size, scale=fan**-0.5 * 1.4)
        bias = self.normal(channels[1], scale=0.1)
        shape: dict[str, Any] = {
            "kernel_shape": [size, size],
            "strides": [stride, stride],
            "pads": [size // 2] * 4,
        }
        made: str = self.op("Conv", x, weight, bias, **shape, **more)
        return made

    def silu(self, x: str) -> str:
        """Add x * sigmoid(x)."""
        made: str = self.op("Mul", x, self.op("Sigmoid", x))
        return made

    def linear(self, x: str, wide: int, out: int) -> str:
        """Add a matrix and a bias."""
        product = self.op("MatMul", x, self.normal(wide, out, scale=wide**-0.5))
        made: str = self.op("Add", product, self.normal(out, scale=0.1))
        return made

    def model(
        self, inputs: Mapping[str, Sequence[int]], outputs: Mapping[str, Sequence[int]]
    ) -> onnx.ModelProto:
        """Return the network with float inputs and outputs."""
        given, wanted = (
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in side.items()]
            for side in (inputs, outputs)
        )
        graph = helper.make_graph(self.nodes, "network", given, wanted, self.weights)
        opsets = [helper.make_opsetid("", _OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def _block(net: _Net, x: str, channels: tuple[int, int], repeats: int) -> str:
    """Add what YOLO calls C2f: halves, of which one goes through bottlenecks."""
    half = channels[1] // 2
    x = net.silu(net.conv(x, (channels[0], channels[1]), 1))
    sizes = net.constant(np.array([half, half], np.int64))
    parts = list(net.op("Split", x, sizes, outputs=2, axis=1))
    for _ in range(repeats):
        inner = net.silu(net.conv(net.silu(net.conv(parts[-1], (half, half), 3)), (half, half), 3))
        parts.append(net.op("Add", parts[-1], inner))
    joined = net.op("Concat", *parts, axis=1)
    return net.silu(net.conv(joined, (half * len(parts), channels[1]), 1))


def detector() -> onnx.ModelProto:
    """Return a detector for images of 640 x 640 with three heads, as YOLO has them."""
    net, wide = _Net(), (16, 32, 64, 128, 256)
    x = net.silu(net.conv("images", (3, wide[0]), 3, 2))
    levels: list[str] = []
    for depth, (one, two) in enumerate(pairwise(wide)):
        x = net.silu(net.conv(x, (one, two), 3, 2))
        x = _block(net, x, (two, two), (2, 3, 4, 4)[depth])
        levels.append(x)
    pools = [net.silu(net.conv(x, (wide[4], wide[3]), 1))]
    for _ in range(3):
        window: dict[str, Any] = {"kernel_shape": [5, 5], "strides": [1, 1], "pads": [2, 2, 2, 2]}
        pools.append(net.op("MaxPool", pools[-1], **window))
    deep = net.silu(net.conv(net.op("Concat", *pools, axis=1), (4 * wide[3], wide[4]), 1))
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    up: dict[str, Any] = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric"}
    up["nearest_mode"] = "floor"
    p4 = net.op("Concat", net.op("Resize", deep, "", scales, **up), levels[2], axis=1)
    p4 = _block(net, p4, (wide[4] + wide[3], wide[3]), 3)
    p3 = net.op("Concat", net.op("Resize", p4, "", scales, **up), levels[1], axis=1)
    p3 = _block(net, p3, (wide[3] + wide[2], wide[2]), 2)
    heads: list[str] = []
    flat = net.constant(np.array([1, 84, -1], np.int64))
    for level, channels in ((p3, wide[2]), (p4, wide[3]), (deep, wide[4])):
        box = net.conv(net.silu(net.conv(level, (channels, wide[2]), 3)), (wide[2], 4), 1)
        what = net.conv(net.silu(net.conv(level, (channels, wide[2]), 3)), (wide[2], 80), 1)
        both = net.op("Concat", box, net.op("Sigmoid", what), axis=1)
        heads.append(net.op("Reshape", both, flat))
    found = net.op("Concat", *heads, axis=2)
    net.nodes[-1].output[0] = "detections"
    assert found
    sides = sum((_SIDE // stride) ** 2 for stride in (8, 16, 32))
    return net.model({"images": [1, 3, _SIDE, _SIDE]}, {"detections": [1, 84, sides]})


def classifier() -> onnx.ModelProto:
    """Return residual blocks for images of 640 x 640, as ResNet has them."""
    net, wide = _Net(), (16, 32, 64, 128)
    x = net.op("Relu", net.conv("images", (3, wide[0]), 7, 2))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    before = wide[0]
    for level, channels in enumerate(wide):
        for place in range(2):
            stride = 2 if level and not place else 1
            kept = x if stride == 1 else net.conv(x, (before, channels), 1, 2)
            inner = net.op("Relu", net.conv(x, (before, channels), 3, stride))
            x = net.op("Relu", net.op("Add", kept, net.conv(inner, (channels, channels), 3)))
            before = channels
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    out = net.op("Gemm", x, net.normal(wide[-1], 100, scale=0.1), net.normal(100, scale=0.1))
    net.nodes[-1].output[0] = "classes"
    assert out
    return net.model({"images": [1, 3, _SIDE, _SIDE]}, {"classes": [1, 100]})


def mobile() -> onnx.ModelProto:
    """Return inverted residuals that segment images of 640 x 640, as MobileNet has them."""
    net = _Net()

    def clipped(x: str) -> str:
        made: str = net.op("Clip", x, net.constant(0), net.constant(6))
        return made

    x, before, skipped = clipped(net.conv("images", (3, 16), 3, 2)), 16, ""
    for channels, stride in (
        (16, 1),
        (24, 2),
        (24, 1),
        (32, 2),
        (32, 1),
        (64, 2),
        (64, 1),
        (96, 1),
    ):
        inner = clipped(net.conv(x, (before, 3 * before), 1))
        inner = clipped(net.conv(inner, (3 * before, 3 * before), 3, stride, group=3 * before))
        made = net.conv(inner, (3 * before, channels), 1)
        x = net.op("Add", x, made) if stride == 1 and channels == before else made
        before = channels
        skipped = x if channels == 24 else skipped
    up: dict[str, Any] = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    scales = net.constant(np.array([1, 1, 4, 4], np.float32))
    x = net.op("Resize", net.conv(x, (96, 32), 1), "", scales, **up)
    x = net.op("Concat", x, skipped, axis=1)
    x = net.conv(clipped(net.conv(x, (56, 32), 3)), (32, 19), 1)
    weight = net.normal(19, 19, 4, 4, scale=0.1)
    x = net.op("ConvTranspose", x, weight, kernel_shape=[4, 4], strides=[4, 4])
    out = net.op("Softmax", x, axis=1)
    net.nodes[-1].output[0] = "classes"
    assert out
    return net.model({"images": [1, 3, _SIDE, _SIDE]}, {"classes": [1, 19, _SIDE, _SIDE]})


def encoder() -> onnx.ModelProto:
    """Return a transformer's encoder for 1,024 tokens that are embedded already."""
    net, wide, heads, layers = _Net(), 128, 4, 4
    each = wide // heads
    split = net.constant(np.array([1, _TOKENS, heads, each], np.int64))
    joined = net.constant(np.array([1, _TOKENS, wide], np.int64))
    root = net.constant(each**0.5)

    def normed(x: str) -> str:
        centred = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1]))
        squared = net.op("ReduceMean", net.op("Mul", centred, centred), axes=[-1])
        spread = net.op("Sqrt", net.op("Add", squared, net.constant(1e-5)))
        scaled = net.op("Mul", net.op("Div", centred, spread), net.normal(wide, scale=1.0))
        made: str = net.op("Add", scaled, net.normal(wide, scale=0.1))
        return made

    def parts(x: str, perm: Sequence[int]) -> str:
        made: str = net.op(
            "Transpose", net.op("Reshape", net.linear(x, wide, wide), split), perm=perm
        )
        return made

    x = "tokens"
    for _ in range(layers):
        query, key = parts(x, (0, 2, 1, 3)), parts(x, (0, 2, 3, 1))
        scores = net.op("Div", net.op("MatMul", query, key), root)
        mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), parts(x, (0, 2, 1, 3)))
        mixed = net.op("Reshape", net.op("Transpose", mixed, perm=[0, 2, 1, 3]), joined)
        x = normed(net.op("Add", x, net.linear(mixed, wide, wide)))
        inner = net.linear(x, wide, 4 * wide)
        shifted = net.op(
            "Add",
            net.op("Erf", net.op("Div", inner, net.constant(2**0.5))),
            net.constant(1),
        )
        gelu = net.op("Mul", net.op("Mul", inner, shifted), net.constant(0.5))
        x = normed(net.op("Add", x, net.linear(gelu, 4 * wide, wide)))
    net.nodes[-1].output[0] = "encoded"
    return net.model({"tokens": [1, _TOKENS, wide]}, {"encoded": [1, _TOKENS, wide]})


class _Once:
    """Gives one random input set for calibration."""

    def __init__(self, model: onnx.ModelProto) -> None:
        random = np.random.default_rng(5)
        self._left: list[dict[str, Array]] = [
            {
                info.name: random.standard_normal(
                    [dim.dim_value for dim in info.type.tensor_type.shape.dim]
                ).astype(np.float32)
                for info in model.graph.input
            }
        ]

    def get_next(self) -> dict[str, Array] | None:
        """Return what is left."""
        return self._left.pop() if self._left else None


def _static(model: onnx.ModelProto, form: str, **options: Any) -> onnx.ModelProto:
    quantization: Any = __import__("onnxruntime.quantization", fromlist=["quantize_static"])
    reader = type("Reader", (_Once, quantization.CalibrationDataReader), {})(model)
    kinds = {
        "activation_type": quantization.QuantType.QUInt8,
        "weight_type": quantization.QuantType.QInt8,
    }
    with tempfile.TemporaryDirectory(prefix="quantized-") as scratch:
        source, out = Path(scratch) / "float.onnx", Path(scratch) / "quantized.onnx"
        source.write_bytes(model.SerializeToString())
        chosen = quantization.QuantFormat[form]
        quantization.quantize_static(source, out, reader, quant_format=chosen, **kinds | options)
        return onnx.ModelProto.FromString(out.read_bytes())


def _dynamic(model: onnx.ModelProto) -> onnx.ModelProto:
    quantization: Any = __import__("onnxruntime.quantization", fromlist=["quantize_dynamic"])
    with tempfile.TemporaryDirectory(prefix="quantized-") as scratch:
        source, out = Path(scratch) / "float.onnx", Path(scratch) / "quantized.onnx"
        source.write_bytes(model.SerializeToString())
        quantization.quantize_dynamic(source, out, per_channel=True)
        return onnx.ModelProto.FromString(out.read_bytes())


NETWORKS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "detector-qdq-640": lambda: _static(detector(), "QDQ", per_channel=True),
    "classifier-qoperator-640": lambda: _static(classifier(), "QOperator"),
    "mobile-qdq-640": lambda: _static(mobile(), "QDQ", per_channel=True),
    "encoder-qdq-1024": lambda: _static(encoder(), "QDQ"),
    "encoder-dynamic-1024": lambda: _dynamic(encoder()),
}


def write(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write networks into a folder; all of them where none is named."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for name in names or NETWORKS:
        path = folder / f"{name}.onnx"
        path.write_bytes(NETWORKS[name]().SerializeToString(deterministic=True))
        paths.append(path)
    return paths


def main(words: Sequence[str]) -> int:
    """Write the networks; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", choices=[[], *NETWORKS])
    given = parser.parse_args(words)
    for path in write(given.folder, given.names):
        print(f"{path}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
