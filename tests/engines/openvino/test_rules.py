"""What the rules of OpenVINO say of a node."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import parser

from graphfix.analysis.inference import infer_model
from graphfix.cli import main
from graphfix.engines.checking import check_model
from graphfix.engines.engine import engine_of
from graphfix.engines.targets import load_target
from graphfix.ir.model import Model

OLD, NEW = "openvino2024.0", "openvino2026.4"
REDUCE = "g (float[2, 3] x) => (float[1, 3] y) <int64[1] axes = {0}> { y = ReduceMean (x, axes) }"
ALL = "g (float[2, 3] x) => (float[1, 1] y) { y = ReduceMean (x) }"
POOL = (
    "g (float[1, 1, 8, 8] x) => (float[1, 1, a, b] y) "
    "{ y = AveragePool <kernel_shape = [2, 2], dilations = [%s], auto_pad = '%s'> (x) }"
).replace("'", '"')


def found(target: str, text: str, opset: int = 20) -> list[tuple[str, str]]:
    model = Model(parser.parse_model(f'<ir_version: 9, opset_import: ["": {opset}]> {text}'))
    infer_model(model)
    return [(f.rule, f.severity.value) for f in check_model(model, load_target(target))]


AXES = ("reduction-ignores-axes-input", "wrong")
DILATED = ("average-pool-ignores-dilations", "wrong")
WIDE = (
    "g (float[1, 1, 2, 2] x) => (float[1, 1, 1, 1] y) "
    "{ y = AveragePool <kernel_shape = [3, 2], pads = [%s], ceil_mode = 1> (x) }"
)
WINDOW = ("window-beyond-data", "reject")
GRID = (
    "g (float[1, 2, %s] x, float[1, %s, 2] grid) => (float[1, 2, %s] y) "
    "{ y = GridSample (x, grid) }"
)
VOLUME = (
    "g (float[1, 2, 4, 4, 4] x, float[1, 3, 3, 3, 3] grid) => (float[1, 2, 3, 3, 3] y) "
    "{ y = GridSample (x, grid) }"
)
RANK = ("gridsample-rank-of-input-0", "reject")
SAME = ("dilated-pool-of-same-size", "wrong")
PADDED = (
    "g (float[1, 1, 9, 9] x) => (float[1, 1, a, b] y) "
    "{ y = %s <kernel_shape = [3, 3], pads = [%s]%s> (x) }"
)
PADS = ("pads-as-wide-as-the-window", "reject")

PIECES = ("pieces-of-an-unknown-size", "reject")
CUT = (
    "g (float[%s] x) => (float[a, b] y) <int64 one = {1}, int64[2] two = {1, 2}> "
    "{ s = SplitToSequence <axis = %d> (x%s) y = ConcatFromSequence <axis = 0> (s) }"
)
HELD = "g (float[N, 3] x) => (seq(float[]) s) { s = SplitToSequence (x) }"
KNOWN = (AXES, DILATED, SAME, WINDOW, RANK, PADS, PIECES)


@pytest.mark.parametrize(
    ("target", "text", "expected"),
    [
        (OLD, REDUCE, AXES),
        (NEW, REDUCE, None),
        (OLD, ALL, None),
        (OLD, POOL % ("2, 2", "NOTSET"), DILATED),
        (OLD, POOL % ("1, 1", "SAME_UPPER"), None),
        (NEW, POOL % ("2, 2", "NOTSET"), None),
        (NEW, POOL % ("2, 2", "SAME_UPPER"), SAME),
        (NEW, POOL % ("1, 1", "SAME_UPPER"), None),
        (NEW, WIDE % "0, 0, 0, 0", WINDOW),
        (NEW, WIDE % "0, 0, 1, 0", None),
        (NEW, GRID % ("4, 4", "3, 3", "3, 3"), None),
        (NEW, VOLUME, RANK),
        (NEW, PADDED % ("AveragePool", "1, 1, 2, 3", ""), PADS),
        (NEW, PADDED % ("AveragePool", "3, 0, 0, 0", ""), PADS),
        (OLD, PADDED % ("AveragePool", "3, 0, 0, 0", ""), None),
        (NEW, PADDED % ("AveragePool", "2, 2, 2, 2", ""), None),
        (NEW, PADDED % ("AveragePool", "3, 3, 3, 3", ", dilations = [2, 2]"), None),
        (NEW, PADDED % ("AveragePool", "5, 3, 3, 3", ", dilations = [2, 2]"), PADS),
        (NEW, PADDED % ("AveragePool", "1, 1, 2, 3", ", count_include_pad = 1"), None),
        (NEW, PADDED % ("AveragePool", "0, 0, 0, 0", ', auto_pad = "VALID"'), None),
        (NEW, PADDED % ("MaxPool", "1, 1, 2, 3", ""), None),
        (NEW, CUT % ("N, 3", 0, ""), PIECES),
        (NEW, CUT % ("N, 3", 0, ", one"), PIECES),
        (NEW, CUT % ("N, 3", 0, ", two"), None),
        (NEW, CUT % ("N, 3", 1, ""), None),
        (NEW, CUT % ("3, 3", 0, ""), None),
        (OLD, CUT % ("N, 3", 0, ""), None),
        (NEW, HELD, PIECES),
    ],
)
def test_what_is_refused_or_computed_wrongly_is_reported(
    target: str, text: str, expected: tuple[str, str] | None
) -> None:
    said = [pair for pair in found(target, text) if pair in KNOWN]
    assert (said[-1] if said else None) == expected


def test_reductions_of_older_opsets_are_right() -> None:
    text = "g (float[2, 3] x) => (float[1, 3] y) { y = ReduceMean <axes = [0]> (x) }"
    assert AXES not in found(OLD, text, 17)


def test_a_refusal_names_its_node() -> None:
    said = "While validating ONNX node '<Node(GridSample): c>': GridSample is only supported for 4D"
    assert engine_of("openvino").blamed(said) == ("GridSample", "c")
    assert engine_of("openvino").blamed("No conversion rule found") == ("", "")
    follows = f"{said} While validating ONNX node '<Node(Conv): d>'"
    assert engine_of("openvino").blamed(follows) == ("", ""), "which is first is not said"


@pytest.mark.parametrize(("target", "code"), [(NEW, 0), ("tvm0.27", 0), ("tract0.23", 1)])
def test_names_of_nodes_may_repeat(target: str, code: int, tmp_path: Path) -> None:
    text = 'g (float[2] x) => (float[2] y) { ["n"] a = Relu (x) ["n"] y = Neg (a) }'
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["": 17]> {text}')
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert main(["check", str(tmp_path / "m.onnx"), "--target", target]) == code


@pytest.mark.parametrize("kind", ["float", "int64", "int32", "uint8"])
@pytest.mark.parametrize(
    ("node", "target", "code"),
    [("Not (x)", NEW, 0), ("Not (x)", "tvm0.27", 1), ("And (x, x)", NEW, 1)],
)
def test_not_of_numbers_is_taken(
    kind: str, node: str, target: str, code: int, tmp_path: Path
) -> None:
    text = f"g ({kind}[2] x) => (bool[2] y) {{ y = {node} }}"
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["": 17]> {text}')
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert main(["check", str(tmp_path / "m.onnx"), "--target", target]) == code
