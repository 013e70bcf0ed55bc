"""Forests of ai.onnx.ml: two small trees, as a regressor, a classifier, and in the form of 5."""

import random
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Two trees: x0 ? (x1 ? 1 : 2) : 3 for target 0, and x1 ? 4 : 5 for target 1.
VALUES = [0.5, -1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]
WEIGHTS = [1.0, 2.0, 3.0, 4.0, 5.0]
GRID = np.array([[a, b] for a in (0.4, 0.5, 0.6) for b in (-1.5, -1.0, 0.0, 2.0, 3.0)])
ROUNDED: dict[str, Any] = {"rtol": 2e-6, "atol": 2e-7}


def forest(mode: str = "BRANCH_LEQ", *, double: bool = False, **changes: Any) -> onnx.ModelProto:
    branch, leaf = mode, "LEAF"
    attributes: dict[str, Any] = {
        "n_targets": 2,
        "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
        "nodes_featureids": [0, 1, 0, 0, 0, 1, 0, 0],
        "nodes_modes": [branch, branch, leaf, leaf, leaf, branch, leaf, leaf],
        "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0],
        "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0],
        "target_treeids": [0, 0, 0, 1, 1],
        "target_nodeids": [2, 3, 4, 1, 2],
        "target_ids": [0, 0, 0, 1, 1],
    }
    if double:
        for name, numbers in (("nodes_values", VALUES), ("target_weights", WEIGHTS)):
            tensor = numpy_helper.from_array(np.array(numbers, np.float64), name)
            attributes[f"{name}_as_tensor"] = tensor
    else:
        attributes |= {"nodes_values": VALUES, "target_weights": WEIGHTS}
    attributes |= changes
    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **attributes
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", kind, ["N", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def full(trees: int, depth: int) -> onnx.ModelProto:
    """Return trees all of whose leaves are equally deep."""
    inner, count = 2**depth - 1, 2 ** (depth + 1) - 1
    ends = count - inner
    rng = random.Random(0)

    def drawn(number: int) -> list[float]:
        return [rng.gauss(0, 1) for _ in range(number)]

    return forest(
        nodes_treeids=[tree for tree in range(trees) for _ in range(count)],
        nodes_nodeids=[*range(count)] * trees,
        nodes_featureids=[at % 2 for at in range(count)] * trees,
        nodes_modes=(["BRANCH_LEQ"] * inner + ["LEAF"] * ends) * trees,
        nodes_truenodeids=([2 * at + 1 for at in range(inner)] + [0] * ends) * trees,
        nodes_falsenodeids=([2 * at + 2 for at in range(inner)] + [0] * ends) * trees,
        nodes_values=drawn(count * trees),
        nodes_hitrates=[1.0] * (count * trees),
        target_treeids=[tree for tree in range(trees) for _ in range(ends)],
        target_nodeids=[*range(inner, count)] * trees,
        target_ids=[at % 2 for at in range(ends * trees)],
        target_weights=drawn(ends * trees),
    )


def classifier(
    labels: list[int] | list[str], kind: int = TensorProto.FLOAT, **changes: Any
) -> onnx.ModelProto:
    """Return the same trees as a classifier, which gives labels and scores."""
    text = isinstance(labels[0], str)
    model = forest()
    node = model.graph.node[0]
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    del given["n_targets"]
    given |= {f"class_{k[7:]}": given.pop(k) for k in list(given) if k.startswith("target_")}
    given["classlabels_strings" if text else "classlabels_int64s"] = labels
    given |= changes
    node.CopyFrom(
        helper.make_node(
            "TreeEnsembleClassifier", ["x"], ["label", "y"], domain="ai.onnx.ml", **given
        )
    )
    model.graph.input[0].type.tensor_type.elem_type = kind
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = len(labels)
    form = TensorProto.STRING if text else TensorProto.INT64
    model.graph.output.insert(0, helper.make_tensor_value_info("label", form, ["N"]))
    return model


def newer(**changes: Any) -> onnx.ModelProto:
    """Return two trees in the form of ai.onnx.ml 5: x0 <= 0.5 ? (x1 in {1, 3} ? a : b) : c, d."""

    def tensor(values: list[float], kind: Any = np.float32) -> onnx.TensorProto:
        return numpy_helper.from_array(np.array(values, kind))

    attributes: dict[str, Any] = {
        "n_targets": 2,
        "nodes_featureids": [0, 1, 1],
        "nodes_splits": tensor([0.5, 0.0, 2.0]),
        "nodes_modes": tensor([0, 6, 3], np.uint8),
        "nodes_truenodeids": [1, 0, 3],
        "nodes_falsenodeids": [2, 1, 3],
        "nodes_trueleafs": [0, 1, 1],
        "nodes_falseleafs": [1, 1, 1],
        "tree_roots": [0, 2],
        "leaf_targetids": [0, 0, 0, 1],
        "leaf_weights": tensor([1.0, 2.0, 4.0, 8.0]),
        "membership_values": tensor([1.0, 3.0, float("nan")]),
    }
    attributes |= changes
    node = helper.make_node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])],
    )
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 5)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)
