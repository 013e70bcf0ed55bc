"""The model's own values: what they show that made ones do not, and when they are left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from msgspec.structs import replace

import graphfix
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites import cases
from graphfix.proving.sites.cases import (
    MOST_ELEMENTS,
    CaptureRequest,
    WholeModel,
    capture_activations,
    captured_feed,
    too_big,
)
from graphfix.proving.sites.shorter import shorter
from graphfix.report import Certificate, Report, Status, Verdict

# Right but between 7777 and 7778, where the model's own values are.
HIDDEN = """
from graphfix import EXACT, rewrite

@rewrite("Relu", emits=("Where", "And", "Greater", "Less", "Max", "Neg"), accuracy=EXACT)
def wrong(node, build):
    x = node.inputs[0]
    if node.name == "good":
        return build.Max(x, 0.0)
    hit = build.And(build.Greater(x, 7777.0), build.Less(x, 7778.0))
    return build.Where(hit, build.Neg(x), build.Max(x, 0.0))
"""
SHIFTED = onnx.parser.parse_model(
    """
    <ir_version: 8, opset_import: ["" : 13]>
    g (float[3, 4] x) => (float[3, 4] y) <float shift = {7777}>
    {
        s = Sigmoid (x)
        far = Add (s, shift)
        [good] a = Relu (far)
        [bad] b = Relu (far)
        y = Sub (a, b)
    }
    """
)
# No one guesses that the rows have 37 elements.
SIZES = onnx.parser.parse_model(
    f"""
    <ir_version: 8, opset_import: ["" : 13]>
    g (float[N] x, int64[2] sizes) => (float[A, B] y)
    <float[37, 2] w = {{{", ".join(str(n % 7 - 3) for n in range(74))}}}>
    {{ rows = Reshape (x, sizes)  y = MatMul (rows, w) }}
    """
)
TURNED = """
from graphfix import EXACT, rewrite

@rewrite("MatMul", emits=("MatMul", "Transpose"), accuracy=EXACT)
def turned(node, build):
    a, b = node.inputs
    both = build.MatMul(build.Transpose(b, perm=[1, 0]), build.Transpose(a, perm=[1, 0]))
    return build.Transpose(both, perm=[1, 0])
"""


def _proofs(report: Report, status: Status = Status.APPLIED) -> dict[str, Certificate]:
    return {
        site.node.name: site.certificate
        for outcome in report.outcomes
        if outcome.status is status
        for site in outcome.sites
        if site.certificate is not None
    }


def _run(folder: Path, model: onnx.ModelProto) -> Report:
    file = folder / "wrong_pass.py"
    file.write_text(HIDDEN, encoding="utf-8")
    return graphfix.run(model, passes=["wrong"], pass_files=[file], verify="sites").report


def test_a_fault_that_only_the_models_own_values_meet_is_found(tmp_path: Path) -> None:
    report = _run(tmp_path, SHIFTED)
    good = _proofs(report)["good"]
    assert (good.status, good.own) == (Verdict.EQUAL, 1)
    assert good.samples > good.own
    bad = _proofs(report, Status.FAILED)["bad"]
    assert bad.status is Verdict.MISMATCH
    assert "(the model's own values); the smallest input found: far = float32[3, 4]" in bad.reason


def test_the_users_inputs_come_first(tmp_path: Path) -> None:
    model = onnx.ModelProto()
    model.CopyFrom(SHIFTED)
    model.graph.node[0].op_type = "Abs"
    del model.graph.initializer[:]
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0, np.float32), "shift"))
    file = tmp_path / "wrong_pass.py"
    file.write_text(HIDDEN, encoding="utf-8")
    inputs = {"x": np.full((3, 4), -7777.5, np.float32)}
    reported = graphfix.run(
        model, passes=["wrong"], pass_files=[file], verify="sites", inputs=inputs
    ).report
    assert list(_proofs(reported, Status.FAILED)) == ["bad"]
    assert not _proofs(_run(tmp_path, model), Status.FAILED)


def test_values_that_are_not_numbers_are_left_out(tmp_path: Path) -> None:
    model = onnx.ModelProto()
    model.CopyFrom(SHIFTED)
    model.graph.initializer[0].CopyFrom(
        onnx.numpy_helper.from_array(np.array(np.inf, np.float32), "shift")
    )
    proofs = _proofs(_run(tmp_path, model))
    assert [(proof.status, proof.own) for proof in proofs.values()] == [(Verdict.EQUAL, 0)] * 2


def test_a_model_that_is_too_big_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert too_big(SHIFTED) == ""
    monkeypatch.setattr(cases, "MOST_NODES", 4)
    assert too_big(SHIFTED) == "it has 5 nodes"
    proofs = _proofs(_run(tmp_path, SHIFTED))
    assert [(proof.status, proof.own) for proof in proofs.values()] == [(Verdict.EQUAL, 0)] * 2
    monkeypatch.setattr(cases, "MOST_WEIGHTS", 3)
    assert too_big(SHIFTED).endswith("of weights")


def test_weights_in_a_file_of_their_own_may_be_bigger_than_those_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cases, "MOST_INSIDE", 2**16)
    model = onnx.ModelProto()
    model.CopyFrom(SHIFTED)
    weights = np.zeros((2**15,), np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "more"))
    assert too_big(model) == "it has 0 MiB of weights"
    tensor = model.graph.initializer[-1]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="more.bin")
    assert too_big(model) == ""
    tensor.dims[:] = [2**28 + 1]
    assert too_big(model) == "it has 1.0 GiB of weights"


def test_a_model_that_takes_too_long_costs_its_own_values_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cases.WATCHING == -1  # the number that no site has
    source = tmp_path / "slow_child.py"
    source.write_text(
        "import time\nimport graphfix.proving.sites.certifying as c\n"
        "c.PATIENCE = 0.2\nc.capture_activations = lambda *given: time.sleep(5)\n"
        "from graphfix.proving.tasks import certify\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("graphfix.proving.sites.prover.TASK", "slow_child:certify")
    proofs = _proofs(_run(tmp_path, SHIFTED))
    assert [(proof.status, proof.own) for proof in proofs.values()] == [(Verdict.EQUAL, 0)] * 2


def test_numbers_vary_in_the_models_own_shapes_where_no_made_ones_agree(tmp_path: Path) -> None:
    file = tmp_path / "turned.py"
    file.write_text(TURNED, encoding="utf-8")
    inputs = {"x": np.linspace(-1, 1, 74, dtype=np.float32), "sizes": np.array([2, 37])}

    result = graphfix.run(
        SIZES, passes=["turned"], pass_files=[file], verify="sites", inputs=inputs
    )
    (proof,) = _proofs(result.report).values()
    assert (proof.status, proof.own) == (Verdict.EQUAL, 1)
    assert proof.samples > 3


def _watched(folder: Path, types: Mapping[str, int], **further: Any) -> tuple[dict[str, Any], str]:
    path = folder / "model.onnx"
    path.write_bytes(SHIFTED.SerializeToString())
    never: Any = None
    request = replace(WholeModel(never).request(path), **further)
    return capture_activations(request, types, Evaluators({}))


def test_weights_and_inputs_are_values_too(tmp_path: Path) -> None:
    values, why = _watched(tmp_path, {"x": 1, "far": 1, "shift": 1, "elsewhere": 1})
    assert (sorted(values), why) == (["far", "shift", "x"], "")
    assert values["shift"] == 7777
    sigmoid = 1 / (1 + np.exp(-values["x"].astype(np.float64)))
    np.testing.assert_allclose(values["far"], 7777 + sigmoid, rtol=1e-6)


def test_why_there_are_no_values_is_said(tmp_path: Path) -> None:
    assert _watched(tmp_path, {"far": 1}, model=None, too_big="it is big") == ({}, "it is big")
    path = tmp_path / "absent.onnx"
    values, why = _watched(tmp_path, {"far": 1}, model=path)
    assert not values
    assert why.startswith("is not a model")


def test_what_does_not_fit_a_site_is_no_sample() -> None:
    site = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 13]>
        site (float[2, N] b0) => (float[2, N] r0) { r0 = Relu (b0) }
        """
    )
    names = {"b0": "far"}
    fits = np.ones((2, 3), np.float32)
    found = captured_feed(site, names, {"far": fits})
    assert found is not None
    assert found["b0"] is fits
    for value in (
        fits.astype(np.float64),
        fits[0],
        np.ones((3, 3), np.float32),
        np.full((2, 3), math.nan, np.float32),
        np.ones((2, MOST_ELEMENTS), np.float32),
        [fits],
        None,
    ):
        assert captured_feed(site, names, {"far": value}) is None
    assert captured_feed(site, names, {}) is None


def test_a_corner_serves_sites_on_shorter_axes(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        whole (float[1, 3, 640, 512] x) => (float[1, 3, 640, 512] y) {
            h = Sigmoid (x)
            y = Relu (h)
        }
        """
    )
    path = tmp_path / "whole.onnx"
    path.write_bytes(model.SerializeToString())
    request = CaptureRequest(path, None, 0, {}, "", corner=True)
    values, why = capture_activations(request, {"h": 1}, Evaluators({}), corner=True)
    assert not why
    h = values["h"]
    assert isinstance(h, np.ndarray)
    assert h.shape == (1, 3, 128, 128)
    site = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        site (float[1, 3, 640, 512] b0) => (float[1, 3, 640, 512] r0) { r0 = Relu (b0) }
        """
    )
    short = shorter(site, site)
    assert short is not None
    feed = captured_feed(site, {"b0": "h"}, values, short)
    assert feed is not None
    b0 = feed["b0"]
    assert isinstance(b0, np.ndarray)
    assert max(b0.shape) < 128
    assert np.isin(b0, h).all()
    assert captured_feed(site, {"b0": "h"}, values) is None  # the site at its own sizes
