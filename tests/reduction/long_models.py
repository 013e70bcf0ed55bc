"""A model of as many nodes as one wants, with branches, and a script that looks for an operator."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

WIDTH = 4

# Ends with code 3 where the file holds the text, and says so; else with 0.
LOOKS = """import sys
if sys.argv[2].encode() in open(sys.argv[1], "rb").read():
    print("it cannot do", sys.argv[2])
    sys.exit(3)
"""


def long_model(count: int, special: dict[int, str], seed: int = 0) -> ModelProto:
    """Return a model of `count` nodes, some of them of a given operator with one input.

    Each node reads a tensor that is at most six nodes older, every fourth another one too.
    """
    rng = np.random.default_rng(seed)
    nodes: list[NodeProto] = []
    weights: list[TensorProto] = []
    made = ["x"]
    for number in range(count):
        read = [made[int(rng.integers(max(0, len(made) - 6), len(made)))]]
        op = special.get(number) or ("Relu", "MatMul", "Add", "Tanh")[number % 4]
        if op == "MatMul":
            values = rng.standard_normal((WIDTH, WIDTH)).astype(np.float32)
            weights.append(numpy_helper.from_array(values, f"w{number}"))
            read.append(f"w{number}")
        elif op == "Add":
            read.append(made[int(rng.integers(len(made)))])
        nodes.append(helper.make_node(op, read, [f"t{number}"], name=f"n{number}"))
        made.append(f"t{number}")
    used = {name for node in nodes for name in node.input}
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "long",
        [info("x", 1, [8, WIDTH])],
        [info(name, 1, [8, WIDTH]) for name in made if name not in used],
        weights,
    )
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def looking_for(text: str, folder: Path) -> str:
    """Return a command line that fails on a model whose file holds a text."""
    script = folder / "looks.py"
    script.write_text(LOOKS, encoding="utf-8")
    return f"'{sys.executable}' -I -S '{script}' {{}} {text}"


def checked(model: Path | ModelProto) -> ModelProto:
    """Return a model that the checker and strict shape inference do not complain of."""
    proto = model if isinstance(model, ModelProto) else ModelProto.FromString(model.read_bytes())
    onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return proto
