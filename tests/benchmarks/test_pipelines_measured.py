"""The judge of the benchmark on exporters and tools, its rows and its page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from benchmarks.pipelines import judging, measure, off_weights
from benchmarks.pipelines.callers import Caller
from benchmarks.pipelines.catalogue import HERE
from benchmarks.pipelines.draws import drawn, feeds, running_sizes, session_of, size_of
from benchmarks.pipelines.measured import (
    Measured,
    page,
    rate,
    read_rows,
    reason_class,
    row_line,
)
from benchmarks.pipelines.widening import fed, widened

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
SIZES = (2, 6, 4, 32, 5)
GOOD = Measured("trt8", "qdq", "optimum", "bert", "seen", True, 0, "equal", "equal", 0.5, 2.0, "")


def saved(path: Path, text: str) -> str:
    path.write_bytes(parser.parse_model(HEAD + text).SerializeToString())
    return str(path)


@pytest.mark.parametrize(
    ("symbol", "place", "rank", "size"),
    [
        (7, 0, 2, 7),
        ("batch_size", 0, 2, 2),
        ("past_sequence_length + sequence_length", 1, 2, 10),
        ("past_sequence_length+1", 2, 4, 5),
        ("num_channels", 1, 4, 3),
        ("height", 2, 4, 32),
        ("encoder_sequence_length", 2, 4, 6),
        ("sequence_length", 1, 2, 6),
        (None, 0, 3, 2),
        ("s77", 1, 3, 5),
    ],
)
def test_sizes_follow_names(symbol: object, place: int, rank: int, size: int) -> None:
    assert size_of(symbol, place, rank, SIZES) == size


def test_values_follow_names_and_types() -> None:
    rng = np.random.default_rng(0)
    assert drawn("attention_mask", "tensor(int64)", (2, 3), rng).tolist() == [[1, 1, 1]] * 2
    assert drawn("position_ids", "tensor(int64)", (2, 3), rng).tolist() == [[0, 1, 2]] * 2
    assert drawn("token_type_ids", "tensor(int64)", (1, 2), rng).tolist() == [[0, 0]]
    image = drawn("pixel_values", "tensor(float)", (1, 3, 8, 8), rng)
    assert image.dtype == np.float32
    assert 0 <= image.min() < image.max() <= 1
    assert drawn("x", "tensor(float)", (50,), rng).min() < 0
    with pytest.raises(KeyError):
        drawn("x", "tensor(complex64)", (1,), rng)


def test_sizes_that_run_are_found(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "m.onnx",
        "(float[n, k] x) => (float[n, r] y) <float[8, 1] w = {1, 1, 1, 1, 1, 1, 1, 1}>"
        "{ y = MatMul (x, w) }",
    )
    session = session_of(path)
    sizes = running_sizes(session)
    assert sizes[4] == 8
    (feed,) = feeds(session.get_inputs(), sizes, 1, 0)
    assert feed["x"].shape == (sizes[0], 8)


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ([1.0, -4.0], [1.0, -3.0], 0.25),
        ([1.0, np.nan], [1.0, np.nan], 0.0),
        ([1.0, np.inf], [1.0, np.nan], np.inf),
        ([1.0, 2.0], [1.0, np.nan], np.inf),
        ([1.0, 2.0], [[1.0, 2.0]], np.inf),
        ([0.0], [1e-6], 0.1),
        ([], [], 0.0),
    ],
)
def test_floats_are_apart_by_the_largest_value(left: object, right: object, found: float) -> None:
    assert judging.apart(np.array(left), np.array(right)) == pytest.approx(found)


def test_of_steps_a_few_may_be_far() -> None:
    left = np.ones(100)
    right = left.copy()
    right[0] = 1.05
    assert judging.apart(left, right, steps=True) == pytest.approx(0.015)
    assert judging.apart(left, right) == pytest.approx(0.05)
    assert judging.apart(left, left + 0.05, steps=True) == pytest.approx(0.1)


def test_integers_are_apart_by_their_share_and_bytes_by_steps() -> None:
    a = np.array([1, 2, 3, 4])
    assert judging.apart(a, np.array([1, 2, 3, 5])) == 0.25
    assert judging.apart(a, a.astype(np.int32)) == np.inf
    assert judging.apart(a.astype(np.uint8), (a + 1).astype(np.uint8)) == pytest.approx(1 / 255)


def test_what_is_let_through() -> None:
    assert judging.bound(["Add"], [1]) == 1e-3
    assert judging.bound(["Add"], [1, 10]) == 2e-2
    assert judging.bound(["DequantizeLinear", "Add"], [1]) == 3e-2
    assert judging.compared([5e-4], [0.0], 1e-3) == ("equal", 0.5)
    assert judging.compared([2e-3], [0.0], 1e-3)[0] == "different"
    # Where onnxruntime differs from itself by as much, the result may.
    assert judging.compared([2e-3], [1e-3], 1e-3)[0] == "equal"
    assert judging.compared([0.2], [1.0], 1e-3)[0] == "different"
    assert judging.compared([np.inf], [np.inf], 1e-3)[0] == "different"


def test_the_furthest_of_all_draws_counts() -> None:
    assert judging.furthest([[0.0, 0.2], [0.5, 0.1]]) == [0.5, 0.2]
    assert judging.furthest([[0.1], [0.0, 0.2]]) == [0.1, 0.2]
    assert judging.furthest([]) == []


def test_results_are_judged(tmp_path: Path) -> None:
    first = saved(tmp_path / "a.onnx", "(float[n] x) => (float[n] y) { y = Neg (x) }")
    same = saved(
        tmp_path / "b.onnx", "(float[n] x) => (float[n] y) <float z = {0}> { y = Sub (z, x) }"
    )
    wrong = saved(tmp_path / "c.onnx", "(float[n] x) => (float[n] y) { y = Abs (x) }")
    other = saved(tmp_path / "d.onnx", "(float[n] z) => (float[n] y) { y = Neg (z) }")
    fixed = saved(tmp_path / "e.onnx", "(float[3] x) => (float[3] y) { y = Neg (x) }")
    bad = saved(tmp_path / "f.onnx", "(float[n] x) => (float[n] y) { y = NoSuch (x) }")
    found = {path: judging.judged(first, path) for path in (same, wrong, other, fixed, bad)}
    assert all(answer["runs"] for answer in found.values())
    statuses = ["equal", "different", "other inputs", "does not run", "does not load"]
    assert [answer["status"] for answer in found.values()] == statuses
    assert not judging.judged(bad, same)["runs"]


def test_what_onnxruntime_computes_in_two_ways_is_no_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "a.onnx", "(float[n] x) => (float[n] y) { y = Neg (x) }")
    other = saved(tmp_path / "b.onnx", "(float[n] x) => (float[n] y) { y = Abs (x) }")

    def started(source: str, described: bytes | None) -> tuple[object, object]:
        return session_of(path), session_of(other if described else path)

    monkeypatch.setattr(judging, "_started", started)
    answer = judging.judged(path, path)
    assert (answer["runs"], answer["status"]) == (False, "-")
    assert answer["reason"] == "onnxruntime computes something else without optimizations"


def test_results_run_in_another_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = saved(
        tmp_path / "a.onnx", "(float[n] x) => (float[n] y, float[n] z) { y = Neg (x) z = Abs (x) }"
    )
    same = saved(
        tmp_path / "b.onnx", "(float[n] x) => (float[n] y, float[n] z) { z = Abs (x) y = Neg (x) }"
    )
    wrong = saved(
        tmp_path / "c.onnx", "(float[n] x) => (float[n] z, float[n] y) { z = Abs (x) y = Neg (x) }"
    )
    bad = saved(tmp_path / "d.onnx", "(float[n] x) => (float[n] y) { y = NoSuch (x) }")
    engine = (sys.executable, "onnxruntime")
    statuses = [judging.judged(first, path, engine)["status"] for path in (same, wrong, bad)]
    assert statuses == ["equal", "different", "does not run"]


def test_the_best_of_what_is_equal_up_to_rounding_is_no_reference_for_another_engine(
    tmp_path: Path,
) -> None:
    text = (
        "(float[n] x) => (float[5] y) <float[5] s = {%s}, int64[1] k = {5}, float[5] h = {1, 9, "
        "20, 31, 40}> { e = ReduceMax <keepdims = 0> (x) z = Sub (e, e) t = Add (s, z) "
        "v, i = TopK <largest = 0> (t, k) y = Gather (h, i) }"
    )
    engine = (sys.executable, "onnxruntime")
    for scores, runs in (
        ("0.1, 0.1, 0.1, 0.1, 0.1", False),
        ("0.1, 0.2, 0.3, 0.4, 0.5", True),
        ("1, 1, 1, 1, 1", True),  # integers are positions, not weights
    ):
        path = saved(tmp_path / "a.onnx", text % scores)
        answer = judging.judged(path, path, engine)
        assert answer["runs"] is runs
        assert ("off by a rounding error" in answer["reason"]) is not runs
        assert judging.judged(path, path)["status"] == "equal"  # of the same kernels it is one


def test_what_float16_decides_is_no_reference_for_an_engine_of_float32(tmp_path: Path) -> None:
    text = (
        "(float[n] x) => (float[n] y) <float16 k = {%s}, float16 least = {8192}, int64[1] o = {0}> "
        "{ h = Cast <to = 10> (x) a = Add (h, k) u = Unsqueeze (a, o) s = Squeeze (u, o) "
        "b = Sub (s, k) d = Sub (b, h) c = Abs (d) e = Greater (c, least) y = Cast <to = 1> (e) }"
    )
    big, small = 25600, 0  # the bits of 1024, which float16 has in ones, and of 0
    for bits, runs in ((big, False), (small, True)):
        path = saved(tmp_path / "a.onnx", text % bits)
        answer = judging.judged(path, path, (sys.executable, "openvino"))
        assert answer["runs"] is runs
        assert ("in float32 than in float16" in answer["reason"]) is not runs
        assert judging.judged(path, path, (sys.executable, "onnxruntime"))["status"] == "equal"


def test_float16_becomes_float32_in_subgraphs_too(tmp_path: Path) -> None:
    text = (
        "(float16[2] x, bool c) => (float16[2] y) <float16[2] w = {15360, 16384}> "
        "{ y = If (c) <then_branch = t () => (float16[2] a) { h = Constant <value = float16[2] "
        "{15360, 0}> () a = Add (x, h) }, else_branch = e () => (float16[2] b) "
        "{ f = Cast <to = 1> (w) b = Cast <to = 10> (f) }> }"
    )
    given = {"x": np.array([2049, 1], np.float32), "c": np.array(True)}
    described = widened(parser.parse_model(HEAD + text).SerializeToString())
    (tmp_path / "a.onnx").write_bytes(described)
    wide = session_of(str(tmp_path / "a.onnx"))
    assert wide.run(None, given)[0].tolist() == [2050, 1]  # float16 has no 2049
    assert wide.run(None, {**given, "c": np.array(False)})[0].tolist() == [1, 2]
    narrow = fed({"x": np.ones(1, np.float16), "c": given["c"]})
    assert [narrow["x"].dtype, narrow["c"].dtype] == [np.float32, np.bool_]


def test_weights_that_are_sizes_are_not_rounded(tmp_path: Path) -> None:
    text = (
        "(float[1, 1, 3, 3] x) => (float[1, 1, 6, 6] y) <float[4] f = {1, 1, 2, 2}, float w = {3}> "
        "{ r = Resize (x, , f) y = Mul (r, w) }"
    )
    path = saved(tmp_path / "a.onnx", text)
    described = Path(path).read_bytes()
    stored = {
        t.name: t for t in onnx.load_from_string(off_weights.rounded(described)).graph.initializer
    }
    assert numpy_helper.to_array(stored["f"]).tolist() == [1, 1, 2, 2]
    assert abs(float(numpy_helper.to_array(stored["w"])) / 3 - 1) == pytest.approx(1e-6, rel=0.2)
    assert judging.judged(path, path, (sys.executable, "onnxruntime"))["status"] == "equal"


def test_rows_come_back_and_are_counted(tmp_path: Path) -> None:
    wrong = msgspec.structs.replace(
        GOOD, half="unseen", code=1, judged="-", reason="left: op:Mod of 'a'\n at 12.5 ms"
    )
    seen = msgspec.structs.replace(wrong, half="seen")
    broken = msgspec.structs.replace(GOOD, runs=False, code=3, judged="-", file="t5")
    path = tmp_path / "rows.tsv"
    path.write_text(
        "\n".join(["header", *map(row_line, (GOOD, seen, broken, wrong))]) + "\n", "utf-8"
    )
    first, second, third, last = read_rows(path)
    assert (first, third) == (GOOD, broken)
    assert (last.half, last.reason) == ("unseen", "")
    assert second.reason == "left: op:Mod of 'a' at 12.5 ms"
    assert reason_class(second) == "exit 1, left: op:Mod of ... at N ms"
    assert rate([GOOD, wrong, broken]) == "1 of 2 (50%)"
    assert rate([broken]) == "-"
    text = page([GOOD, wrong, broken], 3)
    assert "| qdq | 1 of 1 (100%) | 0 of 1 (0%) |" in text
    assert "op:Mod" not in text  # of the unseen half
    assert "| trt8 | 1 | exit 1, left: op:Mod of ... at N ms |" in page([GOOD, second], 3)


def test_a_folder_is_measured_and_what_is_done_is_not_done_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "files"
    for kind in ("exported", "float16"):
        (folder / kind / "own").mkdir(parents=True)
    saved(folder / "exported/own/m.onnx", "(float[2] x) => (float[2] y) { y = Abs (x) }")
    rows, out = tmp_path / "rows.tsv", tmp_path / "page.md"
    words = [str(folder), "--target", "trt8", "--rows", str(rows), "-o", str(out)]
    assert measure.main(words) == 0
    (row,) = read_rows(rows)
    assert (row.target, row.kind, row.exporter, row.file) == ("trt8", "exported", "own", "m")
    assert (row.runs, row.code, row.judged, row.good) == (True, 0, "equal", True)
    assert "| exported |" in out.read_text("utf-8")
    capsys.readouterr()
    assert measure.main(words) == 0
    assert capsys.readouterr().out == ""
    assert len(read_rows(rows)) == 1


def test_the_judge_is_called_in_a_process_of_its_own(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.onnx", "(float[n] x) => (float[n] y) { y = Neg (x) }")
    answer = tmp_path / "answer.json"
    with Caller(Path(sys.executable), HERE / "judging.py", 60.0, 4.0) as judge:
        assert judge.call([path, path, str(answer)]) == ""
    assert json.loads(answer.read_bytes())["status"] == "equal"


def test_what_a_consent_changes_has_a_table_of_its_own() -> None:
    left = msgspec.structs.replace(GOOD, code=1, judged="-")
    other = msgspec.structs.replace(left, file="whisper", half="unseen")
    text = page([left, other], 2, [msgspec.structs.replace(GOOD)])
    assert "| trt8 | 2 | 1 | 1 | 1 of 1 (100%) | 0 of 1 (0%) |" in text.splitlines()
    assert "--allow-io-change" not in page([left, other], 2)


@pytest.mark.parametrize(
    ("labels", "scores", "status"),
    [
        ("classlabels_int64s = [7, 3]", "Identity (x)", "equal"),
        ('classlabels_strings = ["b", "a"]', "Identity (x)", "equal"),
        ("classlabels_int64s = [7, 3]", "Gather <axis = 1> (x, order)", "different"),
    ],
)
def test_maps_are_held_to_columns(tmp_path: Path, labels: str, scores: str, status: str) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]> g (float[n, 2] x) => '
    key = "int64" if "int64s" in labels else "string"
    maps = f"(seq(map({key}, float)) y) {{ y = ai.onnx.ml.ZipMap <{labels}> (x) }}"
    first = tmp_path / "a.onnx"
    first.write_bytes(parser.parse_model(head + maps).SerializeToString())
    columns = f"(float[n, 2] y) <int64[2] order = {{1, 0}}> {{ y = {scores} }}"
    second = saved(tmp_path / "b.onnx", "(float[n, 2] x) => " + columns)
    assert judging.judged(str(first), second)["status"] == status


def test_float8_is_held_to_what_runs_without_optimizations(tmp_path: Path) -> None:
    # onnxruntime's optimizations leave out a Relu before QuantizeLinear to float8.
    head = '<ir_version: 9, opset_import: ["" : 19]> g (float[n] x) => (float[n] y) '
    quantized = "q = QuantizeLinear (r, s, z) y = DequantizeLinear (q, s, z) }"
    parts = {"a": "r = Relu (x)", "b": "o = Relu (x) r = Relu (o)", "c": "r = Identity (x)"}
    paths: dict[str, str] = {}
    for name, first in parts.items():
        text = f"<float s = {{0.5}}, float8e4m3fn z = {{0}}> {{ {first} {quantized}"
        (tmp_path / f"{name}.onnx").write_bytes(parser.parse_model(head + text).SerializeToString())
        paths[name] = str(tmp_path / f"{name}.onnx")
    assert judging.judged(paths["a"], paths["b"])["status"] == "equal"
    assert judging.judged(paths["a"], paths["c"])["status"] == "different"
