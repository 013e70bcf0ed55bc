"""text-inputs-to-numbers: the number of a text instead of the text."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphfix import run
from graphfix.operators.labels import Labels, labelled_inputs, labelled_outputs
from graphfix.pipeline.results import Result
from graphfix.testing import outputs_of

COLOURS = ["red", "green", "blue"]
STRING, FLOAT, INT64 = TensorProto.STRING, TensorProto.FLOAT, TensorProto.INT64


def node(op: str, reads: str, gives: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, reads.split(), [gives], domain="ai.onnx.ml", **attributes)


def model(
    nodes: list[onnx.NodeProto],
    inputs: str,
    kind: int,
    shape: list[Any],
    *,
    ml: int = 3,
    constants: dict[str, list[str]] | None = None,
) -> onnx.ModelProto:
    """Return a model whose inputs are columns of texts, with one output y."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, STRING, ["N", 1]) for name in inputs.split()],
        [helper.make_tensor_value_info("y", kind, shape)],
        [
            numpy_helper.from_array(np.array(texts, object), name)
            for name, texts in (constants or {}).items()
        ],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", ml)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def fixed(given: onnx.ModelProto) -> Result:
    return run(given, "trt8.6", allow_io_change=True)


def one_hot() -> onnx.ModelProto:
    return model([node("OneHotEncoder", "x", "y", cats_strings=COLOURS)], "x", FLOAT, ["N", 1, 3])


def encoded() -> onnx.ModelProto:
    values = {"keys_strings": COLOURS, "values_int64s": [7, 5, 3], "default_int64": -9}
    return model([node("LabelEncoder", "x", "y", **values)], "x", INT64, ["N", 1])


def encoded_to_floats() -> onnx.ModelProto:
    values = {"keys_strings": COLOURS, "values_floats": [0.5, 1.5, -2.0], "default_float": 9.0}
    return model([node("LabelEncoder", "x", "y", **values)], "x", FLOAT, ["N", 1])


def listed() -> onnx.ModelProto:
    """Return the first form of LabelEncoder, which gives the place in the list."""
    values = {"classes_strings": COLOURS, "default_int64": 8}
    return model([node("LabelEncoder", "x", "y", **values)], "x", INT64, ["N", 1], ml=1)


def mapped() -> onnx.ModelProto:
    values = {"cats_strings": COLOURS, "cats_int64s": [4, 2, 6], "default_int64": 1}
    return model([node("CategoryMapper", "x", "y", **values)], "x", INT64, ["N", 1])


def same_as_red() -> onnx.ModelProto:
    nodes = [helper.make_node("Equal", ["x", "red"], ["y"])]
    made = model(nodes, "x", TensorProto.BOOL, ["N", 1], constants={"red": ["red"]})
    made.opset_import[0].version = 19
    made.ir_version = 9
    return made


MAKERS = [one_hot, encoded, encoded_to_floats, listed, mapped]


@pytest.mark.parametrize("make", MAKERS)
def test_the_numbers_are_those_of_the_texts(make: Any) -> None:
    given = make()
    result = fixed(given)
    assert result.report.verification.status.value == "equal"
    assert not [finding for finding in result.report.findings_after if finding.blocks]
    after = result.model.to_proto()
    assert labelled_inputs(after) == {"x": Labels(tuple(COLOURS), False)}
    words = np.array([["blue"], ["pink"], ["red"], ["green"]], object)
    numbers = np.array([[2], [3], [0], [1]])
    reported = outputs_of(after, {"x": numbers})["y"]
    np.testing.assert_array_equal(reported, outputs_of(given, {"x": words})["y"])
    (change,) = result.report.io_changes
    assert (change.name, change.old) == ("x", "string")
    assert change.new == "int64, whose numbers stand for red, green, blue"


def test_a_constant_text_joins_the_list() -> None:
    result = fixed(same_as_red())
    after = result.model.to_proto()
    assert labelled_inputs(after) == {"x": Labels(("red",), False)}
    reported = outputs_of(after, {"x": np.array([[0], [1], [5]])})["y"]
    assert reported.tolist() == [[True], [False], [False]]


def test_texts_that_meet_share_a_list() -> None:
    """Columns are joined before they are encoded, and one is encoded by itself as well."""
    nodes = [
        helper.make_node("Concat", ["a", "b"], ["both"], axis=1),
        node("OneHotEncoder", "both", "hot", cats_strings=["cold", "warm"]),
        node("OneHotEncoder", "b", "alone", cats_strings=["dry", "warm"]),
        helper.make_node("Concat", ["hot", "alone"], ["y"], axis=1),
    ]
    given = model(nodes, "a b", FLOAT, ["N", 3, 2])
    result = fixed(given)
    assert result.report.verification.status.value == "equal"
    after = result.model.to_proto()
    labels = Labels(tuple(labelled_inputs(after)["a"].labels), False)
    assert labelled_inputs(after) == {"a": labels, "b": labels}
    assert sorted(map(str, labels.labels)) == ["cold", "dry", "warm"]
    others: dict[str, int] = {}
    words = {"a": np.array([["warm"], ["odd"]], object), "b": np.array([["dry"], ["odd"]], object)}
    fed = {name: labels.write(texts, others) for name, texts in words.items()}
    assert others == {"odd": 0}
    np.testing.assert_array_equal(outputs_of(after, fed)["y"], outputs_of(given, words)["y"])


def test_texts_that_come_out_again() -> None:
    """No reader knows any text: whoever feeds the model numbers them as he likes."""
    result = fixed(model([helper.make_node("Identity", ["x"], ["y"])], "x", STRING, ["N", 1]))
    assert result.report.verification.status.value == "equal"
    after = result.model.to_proto()
    assert labelled_inputs(after) == {"x": Labels((), False)}
    assert labelled_outputs(after) == {"y": Labels((), False)}
    assert outputs_of(after, {"x": np.array([[4], [0]])})["y"].tolist() == [[4], [0]]


MOVED = np.array([f"t{n % 7}" for n in range(24)], object).reshape(2, 3, 4)
# Each mover of texts, their result in numpy, and the size of the result.
MOVES: list[tuple[str, Any]] = [
    ("Identity (x)", MOVED),
    ("Gather <axis = 0> (x, one)", MOVED[[1]]),
    ("Gather <axis = 1> (x, swapped)", MOVED[:, [1, 0]]),
    ("Gather <axis = 2> (x, swapped)", MOVED[:, :, [1, 0]]),
    ("Gather <axis = -3> (x, scalar)", MOVED[1]),
    ("GatherElements <axis = 0> (x, places)", MOVED[:1]),
    ("GatherND (x, pairs)", MOVED[[1, 0], [0, 2]]),
    ("Slice (x, one, end, one, back)", MOVED[:, 1::-1]),
    ("Concat <axis = 1> (x, x)", np.concatenate([MOVED, MOVED], 1)),
    ("Concat <axis = 0> (x, words)", np.concatenate([MOVED, np.full((1, 3, 4), "t3", object)])),
    ("Transpose <perm = [2, 0, 1]> (x)", MOVED.transpose(2, 0, 1)),
    ("Reshape (x, sizes)", MOVED.reshape(4, 6)),
    ("Flatten <axis = 2> (x)", MOVED.reshape(6, 4)),
    ("Where (flags, x, word)", np.where([True, False, True, False], MOVED, "t3")),
    ("Expand (x, wide)", np.broadcast_to(MOVED, (2, 2, 3, 4))),
    ("Tile (x, times)", np.tile(MOVED, (1, 2, 1))),
    ("Unsqueeze (x, one)", MOVED[:, None]),
    ("Squeeze (row)", MOVED[:1, :1, 0].reshape(())),
]


def moved(text: str, shape: tuple[int, ...]) -> onnx.ModelProto:
    given = onnx.parser.parse_model(f"""
    <ir_version: 8, opset_import: ["" : 17]>
    g (string[2, 3, 4] x) => (string{list(shape)} y)
    <int64[1] one = {{1}}, int64 scalar = {{1}}, int64[2] swapped = {{1, 0}}, int64[1] end = {{-9}},
     int64[1] back = {{-1}}, int64[1, 3, 4] places = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
     int64[2, 2] pairs = {{1, 0, 0, 2}}, int64[2] sizes = {{4, 6}}, int64[4] wide = {{2, 2, 3, 4}},
     int64[3] times = {{1, 2, 1}}, int64[3] ones = {{1, 1, 1}}, int64[3] none = {{0, 0, 0}},
     bool[4] flags = {{1, 0, 1, 0}}>
    {{ row = Slice (x, none, ones) y = {text} }}""")
    for name, words in (("word", np.array(["t3"], object)), ("words", np.full((1, 3, 4), "t3"))):
        given.graph.initializer.append(numpy_helper.from_array(words.astype(object), name))
    return given


@pytest.mark.parametrize(("text", "wanted"), MOVES, ids=[text for text, _ in MOVES])
def test_texts_are_moved_as_numpy_moves_them(text: str, wanted: Any) -> None:
    """What is right is what numpy says: onnxruntime's Gather of texts loses some."""
    result = fixed(moved(text, wanted.shape))
    assert result.report.verification.status.value == "equal"
    after = result.model.to_proto()
    labels = labelled_inputs(after)["x"]
    assert labelled_outputs(after) == {"y": labels}
    others: dict[str, int] = {}
    numbers = outputs_of(after, {"x": labels.write(MOVED, others)})["y"]
    assert np.asarray(labels.read(numbers, tuple(others))).tolist() == np.asarray(wanted).tolist()


def test_a_text_that_is_cut_into_words_stays() -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "ends"], ["flat"]),
        helper.make_node("StringNormalizer", ["flat"], ["y"], case_change_action="LOWER"),
    ]
    given = model(nodes, "x", STRING, ["M"])
    given.graph.initializer.append(helper.make_tensor("ends", INT64, [1], [-1]))
    report = fixed(given).report
    reported = [outcome.reason for outcome in report.outcomes if outcome.reason]
    reason = "texts must only be compared and moved; StringNormalizer reads them: do that before"
    assert reason in reported
    assert report.io_changes == ()


def test_keys_that_are_there_twice_stay() -> None:
    values = {"keys_strings": ["a", "a"], "values_int64s": [1, 2]}
    given = model([node("LabelEncoder", "x", "y", **values)], "x", INT64, ["N", 1])
    assert fixed(given).report.io_changes == ()


def test_it_needs_consent() -> None:
    report = run(one_hot(), "trt8.6", verify="off").report
    assert report.io_changes == ()
    assert "io:string-input" in {str(finding.feature) for finding in report.findings_after}


def test_before_min_took_integers() -> None:
    given = mapped()
    given.opset_import[0].version = 11
    result = fixed(given)
    assert result.report.verification.status.value == "equal"
    reported = outputs_of(result.model.to_proto(), {"x": np.array([[2], [3], [0], [9]])})["y"]
    assert reported.tolist() == [[6], [1], [4], [1]]


def test_refuses_texts_that_are_not_utf8() -> None:
    given = mapped()
    (texts,) = (one for one in given.graph.node[0].attribute if one.name == "cats_strings")
    texts.strings[0] = b"\xff"
    reasons = [outcome.reason for outcome in fixed(given).report.outcomes]
    assert "texts must be UTF-8; b'\\xff' is not" in reasons
