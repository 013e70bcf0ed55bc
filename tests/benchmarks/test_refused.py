"""The page on files that were refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.corpus.refused import Both, Entry, entries, page
from benchmarks.corpus.row import Row

DONE = Row(file="a.onnx", code=0, seconds=1, resolved="trt8.6", verification="equal", written=True)
LEFT = Row(
    file="a.onnx",
    code=1,
    seconds=1,
    resolved="trt8.6",
    after=("reject op:X",),
    verification="skipped",
    left_because=("reject op:X: no pass removes it",),
)


def test_the_list_names_each_file_once_and_says_why_what_is_refused() -> None:
    listed = entries()
    assert len({entry.file for entry in listed}) == len(listed)
    for entry in listed:
        assert bool(entry.why) == (entry.how == "refused"), entry.file
        assert bool(entry.options) == (entry.how in ("consent", "plugin")), entry.file


def test_another_word_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.write_text('[[file]]\nfile = "a.onnx"\nhow = "perhaps"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="perhaps"):
        entries(path)


def test_what_became_of_a_file_is_held_to_the_list() -> None:
    assert Both(Entry("a.onnx", "consent", ("--allow-io-change",)), LEFT, DONE).fits
    assert not Both(Entry("a.onnx", "consent", ("--allow-io-change",)), LEFT, LEFT).fits
    assert Both(Entry("a.onnx", "refused", why="no"), LEFT, LEFT).fits
    assert not Both(Entry("a.onnx", "refused", why="no"), DONE, DONE).fits


def test_the_page_has_a_line_for_each_file() -> None:
    reported = Both(Entry("a.onnx", "plugin", ("--assume-op", "X")), LEFT, DONE)
    refused = Both(Entry("b.onnx", "refused", why="a search"), LEFT, LEFT)
    wrong = Both(Entry("c.onnx", "exact"), LEFT, LEFT)
    text = page([reported, refused, wrong], "command")
    assert "Done: 1 of 3." in text
    line = "| a.onnx | 1 left, exit 1 skipped | `--assume-op X` | done, equal | plugin |  |"
    assert line in text.splitlines()
    assert "| b.onnx | 1 left, exit 1 skipped |  |  | refused | a search |" in text.splitlines()
    assert "c.onnx | 1 left, exit 1 skipped |  |  | exact | reject op:X: no pass removes it" in text
