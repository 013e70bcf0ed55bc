"""Generate the models that the speed benchmark runs on; seeded, so that runs can be compared.

    python -m benchmarks.speed.generate nodes N OUT.onnx      # N nodes in blocks of ten, input 4x16
    python -m benchmarks.speed.generate sparse OUT.onnx --gib 100
    python -m benchmarks.speed.generate pair FOLDER --gib 8

`nodes` is what an exporter writes when it traces shapes: a third of the nodes compute. `sparse` has
weights in a data file that takes no space on disk, and one integer Mod to repair. `pair` are two
such models with equal weights in a file each, and ends as a decoder and one with past have them.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

_ROWS, _WIDTH = 4, 16
_MATMULS = 50
_PAGE = 4096  # offsets in a data file are page-aligned, so that engines can map them


def many_nodes(count: int) -> onnx.ModelProto:
    """Return a model of `count` nodes, rounded down to a multiple of ten, at opset 17.

    Each block is MatMul, Add, Relu, Shape, Gather, Unsqueeze, Concat, Reshape, Identity, Tanh. Its
    weights move the columns about and keep each near 0 or near 0.8, as the input had it: so the
    output still depends on the input and on every block after thousands of them.
    """
    random = np.random.default_rng(20)
    initializers = [
        numpy_helper.from_array(np.array(0, np.int64), "first"),
        numpy_helper.from_array(np.array([0], np.int64), "axis"),
        numpy_helper.from_array(np.array([-1], np.int64), "rest"),
    ]
    nodes: list[NodeProto] = []
    value = "x"
    for block in range(count // 10):

        def named(part: str, block: int = block) -> str:
            return f"block{block}.{part}"

        move = 1.5 * np.eye(_WIDTH)[random.permutation(_WIDTH)]
        weight = move + random.normal(scale=0.002, size=(_WIDTH, _WIDTH))
        bias = random.normal(-0.05, 0.005, _WIDTH)
        initializers += [
            numpy_helper.from_array(weight.astype(np.float32), named("weight")),
            numpy_helper.from_array(bias.astype(np.float32), named("bias")),
        ]
        steps: tuple[tuple[str, list[str], dict[str, Any]], ...] = (
            ("MatMul", [value, named("weight")], {}),
            ("Add", [named("MatMul"), named("bias")], {}),
            ("Relu", [named("Add")], {}),
            ("Shape", [named("Relu")], {}),
            ("Gather", [named("Shape"), "first"], {"axis": 0}),
            ("Unsqueeze", [named("Gather"), "axis"], {}),
            ("Concat", [named("Unsqueeze"), "rest"], {"axis": 0}),
            ("Reshape", [named("Relu"), named("Concat")], {}),
            ("Identity", [named("Reshape")], {}),
            ("Tanh", [named("Identity")], {}),
        )
        for op, inputs, attributes in steps:
            nodes.append(helper.make_node(op, inputs, [named(op)], name=named(op), **attributes))
        value = named("Tanh")
    shape = [_ROWS, _WIDTH]
    graph = helper.make_graph(
        nodes,
        "blocks",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, shape)],
        initializers,
    )
    return _model(graph)


def sparse(gib: int, data: Path) -> onnx.ModelProto:
    """Return a model with `gib` GiB of weights in a new file `data`, which takes no disk space."""
    width = math.isqrt(gib * 1024**3 // 4 // _MATMULS)
    length = width * width * 4
    stride = -(-length // _PAGE) * _PAGE
    nodes: list[NodeProto] = []
    initializers: list[TensorProto] = []
    value = "x"
    for number in range(_MATMULS):
        weight = TensorProto(name=f"weight{number}", data_type=TensorProto.FLOAT)
        weight.dims.extend([width, width])
        weight.data_location = TensorProto.EXTERNAL
        for key, entry in (
            ("location", data.name),
            ("offset", str(number * stride)),
            ("length", str(length)),
        ):
            weight.external_data.add(key=key, value=entry)
        initializers.append(weight)
        nodes.append(helper.make_node("MatMul", [value, weight.name], [f"y{number}"]))
        value = f"y{number}"
    initializers.append(numpy_helper.from_array(np.array([7], np.int64), "seven"))
    nodes.append(helper.make_node("Mod", ["step", "seven"], ["phase"]))
    graph = helper.make_graph(
        nodes,
        "sparse",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, width]),
            helper.make_tensor_value_info("step", TensorProto.INT64, [1]),
        ],
        [
            helper.make_tensor_value_info(value, TensorProto.FLOAT, [1, width]),
            helper.make_tensor_value_info("phase", TensorProto.INT64, [1]),
        ],
        initializers,
    )
    with data.open("wb") as file:
        file.truncate(_MATMULS * stride)
    return _model(graph)


def pair(gib: int, folder: Path) -> dict[str, onnx.ModelProto]:
    """Return two models by their names, each with `gib` GiB of weights in a new file of `folder`.

    A number in front of each weight tells it from the others of its file.
    """
    found: dict[str, onnx.ModelProto] = {}
    for name in ("decoder_model", "decoder_with_past_model"):
        data = folder / f"{name}.onnx_data"
        found[name] = sparse(gib, data)
        with data.open("r+b") as file:
            for number, tensor in enumerate(found[name].graph.initializer):
                places = [entry.value for entry in tensor.external_data if entry.key == "offset"]
                for place in places:
                    file.seek(int(place))
                    file.write(np.float32(number + 1).tobytes())
    first, later = (model.graph for model in found.values())

    def end(side: Any, name: str, length: str) -> None:
        side.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", length, 4]))

    end(first.input, "encoder_hidden_states", "encoded")
    end(first.output, "present.key", "total")
    end(first.output, "present.encoder.key", "encoded")
    first.node.append(helper.make_node("Neg", ["encoder_hidden_states"], ["present.key"]))
    first.node.append(helper.make_node("Abs", ["encoder_hidden_states"], ["present.encoder.key"]))
    end(later.input, "past.key", "past")
    end(later.output, "present.key", "total")
    later.node.append(helper.make_node("Concat", ["past.key", "past.key"], ["present.key"], axis=1))
    return found


def _model(graph: onnx.GraphProto) -> onnx.ModelProto:
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="generate"
    )


def main(words: Sequence[str]) -> int:
    """Write one model; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    nodes = kinds.add_parser("nodes")
    nodes.add_argument("count", type=int)
    nodes.add_argument("out", type=Path)
    weights = kinds.add_parser("sparse")
    weights.add_argument("out", type=Path)
    weights.add_argument("--gib", type=int, default=100)
    decoders = kinds.add_parser("pair")
    decoders.add_argument("out", type=Path)
    decoders.add_argument("--gib", type=int, default=8)
    given = parser.parse_args(words)
    if given.kind == "pair":
        given.out.mkdir(parents=True, exist_ok=True)
        for name, each in pair(given.gib, given.out).items():
            (given.out / f"{name}.onnx").write_bytes(each.SerializeToString())
        return 0
    if given.kind == "nodes":
        model = many_nodes(given.count)
    else:
        model = sparse(given.gib, given.out.with_name(f"{given.out.name}.data"))
    given.out.write_bytes(model.SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
