"""The benchmark of cuts: a network that is done, one that is cut, and its page."""

from __future__ import annotations

from pathlib import Path

from benchmarks.cuts import Row, kind_of, main, page, read
from graphfix.testing import parse

TEXT = (
    '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 3, 8, 8] x) => ({}) '
    "<float[1, 3, 2, 2] w = {{{}}}, float t = {{0.25}}> {{ c = Conv (x, w)  s = Sigmoid (c)  {} }}"
)


def test_a_detector_is_cut_and_its_front_is_done(tmp_path: Path) -> None:
    weights = ", ".join(str(k / 12) for k in range(12))
    found = TEXT.format("int64[4, n] y", weights, "k = Greater (s, t)  y = NonZero (k)")
    (tmp_path / "a.onnx").write_bytes(parse(found).SerializeToString())
    plain = parse(TEXT.format("float[a, b, c, d] y", weights, "y = Neg (s)"))
    (tmp_path / "b.onnx").write_bytes(plain.SerializeToString())
    free = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3] x) => (float[N, 3] y) '
        "{ s = Shape (x) k = ConstantOfShape <value = float[1] {2.0}> (s) y = Mul (x, k) }"
    )
    (tmp_path / "c.onnx").write_bytes(parse(free).SerializeToString())
    book, out = tmp_path / "rows.jsonl", tmp_path / "cuts.md"
    words = [str(tmp_path), "--target", "rknn2.3", "--rows", str(book), "-o", str(out)]
    assert main(words) == 0
    rows = read(book)
    assert [(r.file, r.code, r.cut, r.front) for r in rows] == [
        ("a.onnx", 1, "s", 0),
        ("b.onnx", 0, "", -1),
        ("c.onnx", 0, "", -1),
    ]
    assert [r.sizes for r in rows] == ["", "", "--shape x=1x3"]
    assert kind_of(rows[0]) == "cut"
    lines = out.read_text(encoding="utf-8").splitlines()
    assert "| rknn2.3 | 3 | 1 | 1 | 1 | 0 | 0 |" in lines
    assert lines[-3:] == ["| a.onnx | cut |", "| b.onnx | 0 |", "| c.onnx | 0 s |"]
    assert main(words) == 0
    assert read(book) == rows


def test_what_is_left_is_named() -> None:
    rows = [
        Row("a", "t", 1, "equal", left="op:Mod", asked=True),
        Row("a", "u", 0, "equal", asked=True),
        Row("b", "u", 1, "equal", "s", 0, "equal"),
    ]
    lines = page(rows, "").splitlines()
    assert "| a | t | 1 | equal |  |  | op:Mod |" in lines
    assert lines[-4:] == [
        "| file | t | u |",
        "|---|---|---|",
        "| a | **1** e | 0 e |",
        "| b |  | cut |",
    ]


def test_what_is_no_success() -> None:
    assert kind_of(Row("f", "t", 0, "inconclusive")) == "other"
    assert kind_of(Row("f", "t", 1, "equal")) == "other"
    assert kind_of(Row("f", "t", 1, "equal", "s", 2, "not cut")) == "other"
    assert kind_of(Row("f", "t", 1, "equal", "s", 0, "mismatch")) == "other"
    assert kind_of(Row("f", "t", 0, "equal")) == "done"
