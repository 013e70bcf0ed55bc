"""Forms of the operators of ai.onnx.ml, as the converters of scikit-learn and Spark write them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, TypeProto, helper, numpy_helper

F, D, I64, TEXT = (
    TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.STRING,
)  # fmt: skip
_ROWS = np.array([[0, 0, 0], [1, -1, 0.5], [2, 0.25, -1.75], [-1, -2, -0.5], [3, 1, -4]])
_KINDS = (("float32", F), ("float64", D), ("int64", I64))
_COLOURS = ["red", "green", "blue"]
_ENCODER_FORMS: tuple[tuple[str, int, int, dict[str, Any]], ...] = (
    ("numbers", I64, F, {"keys_int64s": [2, 0, -1], "values_floats": [0.5, -1.5, 4.0]}),
    ("integers", I64, I64, {"keys_int64s": [2, 0, -1], "values_int64s": [7, 5, 6]}),
    ("floats", F, I64, {"keys_floats": [2.0, 0.5], "values_int64s": [7, 5]}),
    ("to texts", I64, TEXT, {"keys_int64s": [2, 0], "values_strings": ["a", "b"]}),
)


@dataclass(frozen=True)
class Form:
    """A model, and what to feed it.

    Attributes:
        entry: The operator.
        form: What is special of it.
        model: The model.
        feed: Its inputs.
    """

    entry: str
    form: str
    model: onnx.ModelProto
    feed: Mapping[str, Any]


def forms() -> Iterator[Form]:
    """Yield all forms."""
    yield from _numbers()
    yield from _linear()
    yield from _vectors()
    yield from _trees()
    yield from _texts_and_maps()


def _model(
    nodes: Sequence[onnx.NodeProto],
    x: Any,
    outputs: Sequence[tuple[str, TypeProto]],
    version: int = 1,
    weights: Sequence[TensorProto] = (),
) -> onnx.ModelProto:
    value = x if isinstance(x, TypeProto) else helper.make_tensor_type_proto(*x)
    ends = [helper.make_value_info(name, kind) for name, kind in outputs]
    graph = helper.make_graph(nodes, "g", [helper.make_value_info("x", value)], ends, weights)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def _node(op: str, outputs: Sequence[str] = ("y",), **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, ["x"], outputs, domain="ai.onnx.ml", **attributes)


def _tensor(kind: int, *sizes: int | str) -> TypeProto:
    return helper.make_tensor_type_proto(kind, sizes)


def _one(
    op: str, form: str, kind: int = F, result: int = F, *, width: int | str = 3, **attributes: Any
) -> Form:
    """Return a form of one node that reads rows and gives rows."""
    feed = {"x": _ROWS.astype(helper.tensor_dtype_to_np_dtype(kind))}
    ends = [("y", _tensor(result, "N", width))]
    version = 2 if op == "LabelEncoder" else 1  # that of 1 has texts alone
    model = _model([_node(op, **attributes)], (kind, ["N", 3]), ends, version)
    return Form(op, form, model, feed)


def _classified(op: str, form: str, texts: bool, scores: int, **attributes: Any) -> Form:
    """Return a form of one node that reads rows and gives labels and scores."""
    name = "classlabels_int64s" if op.startswith("Tree") else "classlabels_ints"
    count = int(attributes.pop("classes", 3))
    labels = {"classlabels_strings": _COLOURS[:count]} if texts else {name: [*range(4, 4 + count)]}
    node = _node(op, ["label", "y"], **labels, **attributes)
    ends = [("label", _tensor(TEXT if texts else I64, "N")), ("y", _tensor(F, "N", scores))]
    return Form(op, form, _model([node], (F, ["N", 3]), ends), {"x": _ROWS.astype(np.float32)})


def _numbers() -> Iterator[Form]:
    for name, kind in _KINDS:
        for norm in ("MAX", "L1", "L2"):
            yield _one("Normalizer", f"{norm} {name}", kind, norm=norm)
        yield _one("Scaler", name, kind, offset=[1.0, 0.5, 0.0], scale=[2.0, 0.5, 1.0])
        yield _one("FeatureVectorizer", name, kind, inputdimensions=[3])
    yield _one("Scaler", "one number", offset=[1.0], scale=[2.0])
    yield _one("Binarizer", "above a half", threshold=0.5)
    for missing in (0.0, float("nan")):
        yield _one(
            "Imputer",
            f"{missing} by column",
            imputed_value_floats=[9.0, 8.0, 7.0],
            replaced_value_float=missing,
        )
    yield _one("Imputer", "integers", I64, I64, imputed_value_int64s=[9], replaced_value_int64=0)
    for form, key, result, given in _ENCODER_FORMS:
        yield _one("LabelEncoder", form, key, result, **given)
    hot = _node("OneHotEncoder", cats_int64s=[0, 1, 2])
    ends = [("y", _tensor(F, "N", 3, 3))]
    feed = {"x": _ROWS.astype(np.int64)}
    yield Form("OneHotEncoder", "integers", _model([hot], (I64, ["N", 3]), ends), feed)
    columns = numpy_helper.from_array(np.array([2, 0]), "columns")
    node = helper.make_node("ArrayFeatureExtractor", ["x", "columns"], ["y"], domain="ai.onnx.ml")
    for name, kind in _KINDS:
        model = _model([node], (kind, ["N", 3]), [("y", _tensor(kind, "N", 2))], 1, [columns])
        yield Form("ArrayFeatureExtractor", name, model, {"x": _ROWS.astype(name)})


def _linear() -> Iterator[Form]:
    three = [0.5, -1.0, 2.0, 1.5, 0.25, -0.5, -1.0, 1.0, 0.0]
    for after in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"):
        yield _one(
            "LinearRegressor",
            f"three targets {after}",
            coefficients=three,
            intercepts=[0.1, -0.2, 0.3],
            targets=3,
            post_transform=after,
        )
        for texts in (False, True):
            yield _classified(
                "LinearClassifier",
                f"{after} {'texts' if texts else 'integers'}",
                texts,
                3,
                coefficients=three,
                intercepts=[0.1, -0.2, 0.3],
                post_transform=after,
            )
    yield _one("LinearRegressor", "one target", width=1, coefficients=three[:3], intercepts=[1.0])
    yield _classified(
        "LinearClassifier", "one score of two", False, 2,
        classes=2, coefficients=three[:3], intercepts=[0.1],
    )  # fmt: skip


def _vectors() -> Iterator[Form]:
    rng = random.Random(1)

    def drawn(count: int) -> list[float]:
        return [rng.uniform(-1.5, 1.5) for _ in range(count)]

    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        shared: dict[str, Any] = {"kernel_type": kernel, "kernel_params": [0.5, 0.25, 2.0]}
        for one_class in (0, 1):
            yield _one(
                "SVMRegressor",
                f"{kernel}{' one class' if one_class else ''}",
                width=1,
                n_supports=2,
                support_vectors=drawn(6),
                coefficients=drawn(2),
                rho=drawn(1),
                one_class=one_class,
                **shared,
            )
        for classes, proba in ((2, False), (2, True), (3, False), (3, True)):
            pairs = classes * (classes - 1) // 2
            odds = {"prob_a": drawn(pairs), "prob_b": drawn(pairs)} if proba else {}
            yield _classified(
                "SVMClassifier",
                f"{kernel} {classes} classes{' with probabilities' if proba else ''}",
                False,
                classes,
                classes=classes,
                vectors_per_class=[2] * classes,
                support_vectors=drawn(6 * classes),
                coefficients=drawn(2 * classes * (classes - 1)),
                rho=drawn(pairs),
                **shared,
                **odds,
            )


def _tree_lists(modes: Sequence[str], votes: str, targets: Sequence[int]) -> dict[str, Any]:
    """Return two trees: x0 ? (x1 ? . : .) : . and x1 ? . : ."""
    count = len(targets)
    return {
        "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
        "nodes_featureids": [0, 1, 0, 0, 0, 1, 0, 0],
        "nodes_modes": [modes[0], modes[1], "LEAF", "LEAF", "LEAF", modes[2], "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0],
        "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0],
        "nodes_values": [0.5, -1.0, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0],
        "nodes_hitrates": [1.0] * 8,
        f"{votes}_treeids": [0, 0, 0, 1, 1][:count],
        f"{votes}_nodeids": [2, 3, 4, 1, 2][:count],
        f"{votes}_ids": list(targets),
        f"{votes}_weights": [0.125, 0.5, 0.25, 0.375, 0.0625][:count],
    }


def _trees() -> Iterator[Form]:
    for mode in ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ"):
        lists = _tree_lists([f"BRANCH_{mode}"] * 3, "target", [0, 0, 0, 1, 1])
        yield _one("TreeEnsembleRegressor", mode, width=2, n_targets=2, **lists)
    mixed = {"n_targets": 1} | _tree_lists(
        ["BRANCH_LEQ", "BRANCH_EQ", "BRANCH_GT"], "target", [0] * 5
    )
    for how in ("SUM", "AVERAGE", "MIN", "MAX"):
        yield _one(
            "TreeEnsembleRegressor", f"mixed modes {how}", width=1, aggregate_function=how, **mixed
        )
    missing: dict[str, Any] = {"nodes_missing_value_tracks_true": [1, 0, 0, 0, 0, 0, 0, 0]}
    yield _one("TreeEnsembleRegressor", "missing values", width=1, **mixed, **missing)
    three = _tree_lists(["BRANCH_LEQ"] * 3, "class", [0, 1, 2, 1, 2])
    shares = _tree_lists(["BRANCH_LEQ"] * 3, "class", [0] * 5)
    for texts in (False, True):
        name = "texts" if texts else "integers"
        yield _classified("TreeEnsembleClassifier", f"three classes {name}", texts, 3, **three)
        yield _classified(
            "TreeEnsembleClassifier", f"two classes {name}", texts, 2, classes=2, **shares
        )
    signed = {**shares, "class_weights": [0.5, -2.0, 1.0, 0.25, -0.5]}
    yield _classified(
        "TreeEnsembleClassifier", "boosted", False, 2,
        classes=2, post_transform="LOGISTIC", base_values=[0.1], **signed,
    )  # fmt: skip
    yield _newer_trees()


def _newer_trees() -> Form:
    def tensor(values: Sequence[float], kind: Any = np.float32) -> TensorProto:
        return numpy_helper.from_array(np.array(values, kind))

    node = _node(
        "TreeEnsemble",
        n_targets=2,
        nodes_featureids=[0, 1, 1],
        nodes_splits=tensor([0.5, 0.0, 0.25]),
        nodes_modes=tensor([0, 6, 3], np.uint8),
        nodes_truenodeids=[1, 0, 3],
        nodes_falsenodeids=[2, 1, 3],
        nodes_trueleafs=[0, 1, 1],
        nodes_falseleafs=[1, 1, 1],
        tree_roots=[0, 2],
        leaf_targetids=[0, 0, 0, 1],
        leaf_weights=tensor([1.0, 2.0, 4.0, 8.0]),
        membership_values=tensor([1.0, 0.25, float("nan")]),
    )
    model = _model([node], (F, ["N", 3]), [("y", _tensor(F, "N", 2))], 5)
    return Form("TreeEnsemble", "members of a set", model, {"x": _ROWS.astype(np.float32)})


def _texts_and_maps() -> Iterator[Form]:
    for texts in (False, True):
        labels: dict[str, Any] = (
            {"classlabels_strings": _COLOURS} if texts else {"classlabels_int64s": [4, 5, 6]}
        )
        kind = helper.make_sequence_type_proto(
            helper.make_map_type_proto(TEXT if texts else I64, _tensor(F))
        )
        model = _model([_node("ZipMap", **labels)], (F, ["N", 3]), [("y", kind)])
        feed = {"x": np.abs(_ROWS).astype(np.float32)}
        yield Form("ZipMap", "texts" if texts else "integers", model, feed)
    mapped = helper.make_map_type_proto(I64, _tensor(F))
    ends = [("y", _tensor(F, 1, "C"))]
    cast = _node("CastMap", cast_to="TO_FLOAT", map_form="DENSE")
    feed = {"x": {0: 1.5, 1: -2.0}}
    yield Form("CastMap", "integers to floats", _model([cast], mapped, ends), feed)
    vectorized = _node("DictVectorizer", int64_vocabulary=[1, 0])
    yield Form("DictVectorizer", "integers to floats", _model([vectorized], mapped, ends), feed)
    texts_in, ends = (TEXT, ["N"]), [("y", _tensor(I64, "N"))]
    mapper = _node("CategoryMapper", cats_strings=_COLOURS, cats_int64s=[1, 2, 3])
    words = {"x": np.array(["green", "red", "none"], object)}
    yield Form("CategoryMapper", "texts to integers", _model([mapper], texts_in, ends), words)
    encoder = _node("LabelEncoder", keys_strings=_COLOURS, values_int64s=[1, 2, 3])
    yield Form("LabelEncoder", "from texts", _model([encoder], texts_in, ends, 2), words)
