"""The benchmark of cuts: a network that is done, one that is cut, and its page."""

from __future__ import annotations

from pathlib import Path

from benchmarks.cuts import Row, kind_of, main, read
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
    book, out = tmp_path / "rows.jsonl", tmp_path / "cuts.md"
    words = [str(tmp_path), "--target", "rknn2.3", "--rows", str(book), "-o", str(out)]
    assert main(words) == 0
    rows = read(book)
    assert [(r.file, r.code, r.cut, r.front) for r in rows] == [
        ("a.onnx", 1, "s", 0),
        ("b.onnx", 0, "", -1),
    ]
    assert kind_of(rows[0]) == "cut"
    assert "| rknn2.3 | 2 |" in out.read_text(encoding="utf-8")
    assert main(words) == 0
    assert read(book) == rows


def test_what_is_no_success() -> None:
    assert kind_of(Row("f", "t", 0, "inconclusive")) == "other"
    assert kind_of(Row("f", "t", 1, "equal")) == "other"
    assert kind_of(Row("f", "t", 1, "equal", "s", 2, "not cut")) == "other"
    assert kind_of(Row("f", "t", 1, "equal", "s", 0, "mismatch")) == "other"
    assert kind_of(Row("f", "t", 0, "equal")) == "done"
