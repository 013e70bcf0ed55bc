"""What a template has imported for the children that follow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from graphfix.worker.limits import Limits
from graphfix.worker.messages import IMPORTED, read_imported, write_imported
from graphfix.worker.service import ask, end_template


@pytest.mark.parametrize(
    ("module", "kept"),
    [("onnx.inliner", True), ("graphfix.api", True), ("xdrlib_of_no_one", False)],
)
def test_what_a_child_had_to_import_the_next_one_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, kept: bool
) -> None:
    (tmp_path / "xdrlib_of_no_one.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    end_template()
    there: list[bool] = []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        task, limits = "tests.worker.tasks:imported", Limits(20.0)
        there.append(ask(task, folder, {"module": module}, limits, dict[str, Any])["there"])
    assert there == [False, kept, kept]


def test_operators_of_the_evaluator_and_modules_of_others_are_not_said(tmp_path: Path) -> None:
    write_imported(
        tmp_path, ["onnx.reference.ops", "onnx.reference.ops.op_abs", "json", "numpy.fft"]
    )
    assert (tmp_path / IMPORTED).read_text() == "onnx.reference.ops"


def test_a_child_names_no_module_that_is_not_of_these(tmp_path: Path) -> None:
    (tmp_path / IMPORTED).write_text("onnx.inliner\nantigravity\n")
    assert read_imported(tmp_path) == ["onnx.inliner"]
    assert read_imported(tmp_path / "gone") == []
