"""Which library writes a foreign operator: the table, and what findings say of it."""

from __future__ import annotations

import pytest
from onnx import parser

import graphfix
from graphfix.engines.reported_findings import libraries, library_of

HEAD = '<ir_version: 8, opset_import: ["" : 17, "{domain}" : 1]> g (float[2] x) => (float[2] y) '


@pytest.mark.parametrize(
    ("domain", "op", "name"),
    [
        ("mmcv", "MMCVDeformConv2d", "mmcv"),
        ("finn.custom_op.fpgadataflow", "MVAU_hls", "FINN"),
        ("qonnx.custom_op.general", "MultiThreshold", "QONNX"),
        ("", "RequantShift", "Deeploy"),
        ("TRT", "EfficientNMS_TRT", "a TensorRT plugin"),
        ("", "BatchedNMS_TRT", "a TensorRT plugin"),
        ("org.pytorch._caffe2", "GenerateProposals", "detectron2's Caffe2 export"),
        ("ai.onnx.contrib", "SentencepieceTokenizer", "onnxruntime-extensions"),
    ],
)
def test_the_library_of_an_operator(domain: str, op: str, name: str) -> None:
    found = library_of(domain, op)
    assert found is not None
    assert found.name == name


def test_no_one_is_named_for_what_is_not_known() -> None:
    assert library_of("my.ops", "Inverse") is None
    assert library_of("", "RequantShift2") is None


def test_every_entry_says_where_it_was_read_and_what_to_do() -> None:
    for known in libraries():
        assert known.domain or known.ops
        assert known.repository.count("/") == 1
        assert known.file
        assert known.advice


@pytest.mark.parametrize("target", ["trt8.6", "ort-1.31"])
def test_a_finding_names_the_library_and_what_its_users_do(target: str) -> None:
    text = HEAD.replace("{domain}", "mmcv") + "{ y = mmcv.MMCVRoiAlign (x) }"
    (found,) = graphfix.check(parser.parse_model(text), target)
    assert "; mmcv writes it (open-mmlab/mmcv, mmcv/ops): export with mmdeploy" in found.message


def test_an_operator_of_onnx_is_no_one_elses() -> None:
    text = HEAD.replace("{domain}", "mmcv") + "{ y = mmcv.Relu (x) }"
    found = graphfix.check(parser.parse_model(text), "trt8.6")
    assert [f.feature for f in found] == ["domain:mmcv::Relu"]
    plain = HEAD.replace("{domain}", "mmcv") + "{ y = Mish (x) }"
    assert all(
        "writes it" not in f.message for f in graphfix.check(parser.parse_model(plain), "trt8")
    )
