"""Whole runs over broken files: consent, verdicts, and what is never mended."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.cli import main
from graphfix.report import Status, Verdict
from graphfix.testing import parse
from graphfix.validity.mending.whole_files import mended_types

quantization: Any = import_module("onnxruntime.quantization")

CASES = Path(__file__).parents[3] / "shared" / "cases"
FIXTURES = Path(__file__).parents[2] / "fixtures"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
MIXED = HEAD + "g (float16[N,4] x, float[4] w) => (float[N,4] y) { y = Mul (x, w) }"
UNCLEAR = HEAD + "g (float[4] x, int64[4] w) => (float[4] y) { y = Mul (x, w) }"


def written(text: str, folder: Path) -> Path:
    path = folder / "m.onnx"
    path.write_bytes(parse(text).SerializeToString())
    return path


def is_valid(model: graphfix.Model) -> bool:
    try:
        onnx.checker.check_model(  # pyright: ignore[reportUnknownMemberType]
            model.to_proto(), full_check=True
        )
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def test_without_consent_it_is_written_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = written(MIXED, tmp_path), tmp_path / "o.onnx"
    assert main(["run", str(model), "--target", "ort-1.32", "-o", str(out)]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("MENDED: m.onnx for ort-1.32: repaired as it was read;")
    assert "`--allow-mended` accepts the readings that are listed, and ends with 0." in printed
    assert is_valid(graphfix.load(out))


def test_with_consent_it_ends_with_0_and_says_how_it_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = written(MIXED, tmp_path), tmp_path / "o.onnx"
    words = ["run", str(model), "--target", "ort-1.32", "-o", str(out), "--allow-mended", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["reading"]["status"] == "equal"
    (outcome,) = [o for o in found["outcomes"] if o["pass"] == "mixed-types-read"]
    (site,) = outcome["sites"]
    assert site["accuracy"] == "mended"
    assert site["reading"].startswith("x (float16) is read as float32: the float16 operand is")


def test_a_name_that_is_given_alone_is_no_consent() -> None:
    result = graphfix.run(parse(MIXED), passes=["mixed-types-read"])
    assert result.exit_code == 1
    consented = graphfix.run(parse(MIXED), passes=["mixed-types-read"], allow_mended=True)
    assert consented.exit_code == 0
    assert consented.report.verification.status is Verdict.EQUAL


def test_two_readings_are_refused_and_both_are_named() -> None:
    result = graphfix.run(parse(UNCLEAR), "ort-1.32", allow_mended=True)
    assert result.exit_code == 1
    (refused,) = [o for o in result.report.outcomes if o.status is Status.REFUSED]
    assert "x (float32) taken as int64, or w (int64) taken as float32" in refused.reason


def test_the_mended_file_is_repaired_for_a_target_like_any_other() -> None:
    inputs = "g (float16[3,4] x, float[4] w) => (float[3,4] y)"
    text = f"{HEAD}{inputs} {{ m = Mul (x, w) y = Mod <fmod = 1> (m, w) }}"
    result = graphfix.run(parse(text), "trt7.0", allow_mended=True)
    assert result.exit_code == 0, result.report
    applied = {o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED}
    assert {"mixed-types-read", "mod-elimination"} <= applied


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases lie outside of the repository")
@pytest.mark.parametrize(
    "name", ["r5b_cast_to_float", "r7_resize_fp16_scales", "r8_pad_value_type", "r11_fp16_loop"]
)
def test_the_cases(name: str) -> None:
    result = graphfix.run(CASES / f"{name}.onnx", "ort", allow_mended=True)
    assert result.exit_code == 0, result.report
    assert result.report.reading is not None
    assert result.report.reading.status is Verdict.EQUAL


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.onnx")), ids=lambda path: path.stem)
def test_a_valid_file_is_never_read_in_another_way(path: Path) -> None:
    model = graphfix.load(path)
    assert not is_valid(model) or mended_types(model).places == []


def test_a_network_in_float16_that_is_quantized_is_mended_without_a_fault(tmp_path: Path) -> None:
    """As onnxruntime's quantizer leaves what was exported in float16.

    Inputs above 65504 are infinite in float16, and what an infinity is quantized to ONNX leaves
    open: no repair is blamed for it.
    """
    model = parse("""<ir_version: 9, opset_import: ["": 17]>
    g (float[N,3,H,W] x) => (float[N,4,H,W] y) {
      h = Cast <to = 10> (x)
      c = Conv <pads = [1,1,1,1]> (h, w, b)
      s = Sigmoid (c)  m = Mul (c, s)
      d = Conv (m, w2, b2)
      y = Cast <to = 1> (d) }""")
    rng = np.random.default_rng(0)
    for name, shape in (("w", (8, 3, 3, 3)), ("b", (8,)), ("w2", (4, 8, 1, 1)), ("b2", (4,))):
        drawn = rng.normal(size=shape).astype(np.float16)
        model.graph.initializer.append(onnx.numpy_helper.from_array(drawn, name))
    plain, quantized = tmp_path / "plain.onnx", tmp_path / "quantized.onnx"
    plain.write_bytes(model.SerializeToString())
    quantization.quantize_dynamic(plain, quantized, per_channel=True)
    result = graphfix.run(quantized, target="trt10", allow_mended=True)
    assert result.exit_code == 0
    assert [o.pass_id for o in result.report.outcomes if o.status is Status.FAILED] == []
    assert result.report.verification.status is Verdict.EQUAL
    assert result.report.reading is not None
    assert result.report.reading.status is Verdict.EQUAL
