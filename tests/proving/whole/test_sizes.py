"""Whole models are compared with sizes of 0 and 1, where the original runs there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from onnx import parser

from graphfix.proving import models
from graphfix.proving.models import compare_files
from graphfix.proving.whole.options import ComparisonOptions, ComparisonRequest
from graphfix.report import Verdict
from graphfix.worker.service import Crashed, ask

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
KEPT = "g (float[N, M] x) => (float[A, B] y) <int64[2] s = {0, 0}> { y = Reshape (x, s) }"
LEFT = "g (float[N, M] x) => (float[A, B] y) <int64[2] s = {0, -1}> { y = Reshape (x, s) }"
SIDE = """
    g (float[1, 2, H, W] x) => (float[1] y)
    {{ s = Shape <start = {}, end = {}> (x)  f = Cast <to = 1> (s)
      m = ReduceMean <keepdims = 0> (x)  y = Mul (m, f) }}
"""
HIGH, WIDE = SIDE.format(2, 3), SIDE.format(3, 4)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(parser.parse_model(HEAD + text).SerializeToString())
    return path


@pytest.mark.parametrize(
    ("after", "edges", "status"),
    [
        (KEPT, (1, 0), Verdict.EQUAL),
        (LEFT, (1, 0), Verdict.MISMATCH),
        (LEFT, (1,), Verdict.EQUAL),
    ],
)
def test_a_result_that_raises_on_an_empty_input_differs(
    after: str, edges: tuple[int, ...], status: Verdict, tmp_path: Path
) -> None:
    paths = written(tmp_path, "a.onnx", KEPT), written(tmp_path, "b.onnx", after)
    found = compare_files(*paths, ComparisonOptions(edges=edges))
    assert found.status is status, found.reason
    count = 3 * len(edges)
    if status is Verdict.EQUAL:
        assert f"5 samples and {count} with sizes of 0 or 1" in found.method
    else:
        assert "the result fails where the original runs" in found.reason


EMPTY = "g (float[0, 3] x, float[2, 3] z) => (float[2, 3] y) { c = Concat<axis = 0>(x, z)"
TURNED = "Transpose <perm = [1, 0]> (x)"
NOTHING = "g (float[0, 3] x, float[3] z) => (float[0, 3] y) { y = Add (x, z) }"


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        (EMPTY + " y = Exp (c) }", EMPTY + " y = Exp (c) }", Verdict.EQUAL),
        (EMPTY + " y = Exp (c) }", EMPTY + " y = Tanh (c) }", Verdict.MISMATCH),
        (NOTHING, NOTHING.replace("Add", "Mul"), Verdict.EQUAL),
        (NOTHING, NOTHING.replace("Add (x, z)", TURNED), Verdict.MISMATCH),
    ],
)
def test_a_declared_size_of_0_is_compared_at_0(
    before: str, after: str, status: Verdict, tmp_path: Path
) -> None:
    found = compare_files(written(tmp_path, "a.onnx", before), written(tmp_path, "b.onnx", after))
    assert found.status is status, found.reason


def test_height_and_width_that_were_mixed_up_differ(tmp_path: Path) -> None:
    paths = written(tmp_path, "a.onnx", WIDE), written(tmp_path, "b.onnx", HIGH)
    assert compare_files(paths[0], paths[0]).status is Verdict.EQUAL
    assert compare_files(*paths).status is Verdict.MISMATCH


def test_an_engine_that_crashes_on_an_empty_input_is_asked_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crashing(task: str, folder: Path, request: ComparisonRequest, *rest: Any) -> Any:
        if request.options.edges:
            raise Crashed("the engine crashed (SIGFPE)")
        return ask(task, folder, request, *rest)

    monkeypatch.setattr(models, "ask", crashing)
    path = written(tmp_path, "a.onnx", KEPT)
    found = compare_files(path, path)
    assert found.status is Verdict.EQUAL
    assert "sizes of 0" not in found.method
