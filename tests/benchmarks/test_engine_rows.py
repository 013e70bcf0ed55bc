"""The table of what became of networks in an engine, and what the page says of it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.engines.page import table
from benchmarks.engines.rows import FORMS, Row, append, read, write

_EQUAL = dict.fromkeys(FORMS, "equal")
_WRONG = {**_EQUAL, FORMS[0]: "wrong"}
_REFUSED = {**_EQUAL, FORMS[0]: "refused", FORMS[2]: "none"}


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    rows = [
        Row("a.onnx", {}),
        Row("b.onnx", _EQUAL),
        Row("c.onnx", _REFUSED, 1, ("reject", "wrong"), True, ("--allow-io-change",), 'a "b" c'),
        Row("d.onnx", _WRONG, 0, ("possibly wrong",)),
    ]
    write(path, reversed(rows))
    assert read(path) == rows


def test_the_last_row_of_a_model_holds(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    assert read(path) == []
    append(path, Row("b.onnx", _REFUSED, 1, (), words="of /a/b/site-packages/two\n\tlines"))
    append(path, Row("a.onnx", {}))
    assert read(path)[0].words == "of site-packages/two lines"
    append(path, Row("b.onnx", _EQUAL))
    assert read(path) == [Row("b.onnx", _EQUAL), Row("a.onnx", {})]


def test_what_was_foreseen() -> None:
    assert Row("a", _EQUAL).foreseen
    assert not Row("a", _EQUAL, 0, ("wrong",)).foreseen
    assert Row("a", _EQUAL, 0, ("note",)).foreseen
    assert not Row("a", _WRONG).foreseen
    assert Row("a", _WRONG, 0, ("possibly wrong",)).foreseen
    assert Row("a", _REFUSED, 1, ("reject",)).foreseen


def test_the_page_counts_what_the_rows_say() -> None:
    page = table(
        "tvm0.27",
        [
            Row("a", _EQUAL),
            Row("b", _EQUAL, 0, ("wrong",)),
            Row("c", _WRONG, 0, ("possibly wrong",)),
            Row("d", {**_WRONG, FORMS[2]: "wrong"}, words="1 of 2 numbers differ"),
            Row("e", _REFUSED, 1, ("reject",)),
            Row("f", {}),
        ],
    )
    assert "5 models that onnxruntime runs, of 6 that were tried" in page
    assert (
        "graphfix calls 4 of them fixed; of these the engine refuses or computes wrongly 1." in page
    )
    assert "taken or not as by the engine 5 of 5;" in page
    assert (
        "none where it is right 3 of 5; warned of what the engine computes wrongly 1 of 2;" in page
    )
    assert "called wrong though it is right 1 of 2." in page
    assert "| d | 0 | wrong | 1 of 2 numbers differ |" in page


def test_a_node_that_is_wrong_alone_is_rightly_called_so() -> None:
    rows = [Row("a", _EQUAL, 0, ("wrong alone",)), Row("b", _EQUAL, 0, ("wrong",))]
    said = "it is right 1 of 2; of 1 more a node that is called wrong is so alone."
    assert said in table("tvm0.27", rows)
