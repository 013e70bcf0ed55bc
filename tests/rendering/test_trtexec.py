"""The trtexec line: options by version, sizes that are open, and shell quoting."""

from __future__ import annotations

import pytest

from graphfix.rendering.trtexec import trtexec_line


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("trt5.1", "trtexec --onnx=a.onnx"),
        ("trt6", "trtexec --onnx=a.onnx"),
        ("trt6-fulldims", "trtexec --onnx=a.onnx --explicitBatch"),
        ("trt7.2", "trtexec --onnx=a.onnx --explicitBatch"),
        ("trt8.6", "trtexec --onnx=a.onnx"),
        ("trt10.10", "trtexec --onnx=a.onnx"),
        ("ort-1.10", ""),
        ("", ""),
    ],
)
def test_static_inputs_need_the_file_only(target: str, expected: str) -> None:
    assert trtexec_line("a.onnx", [("x", (1, 3, 224, 224))], target) == expected


def test_open_sizes_stand_by_name_in_all_three_options() -> None:
    inputs = [("x", ("batch", 3, None, 224)), ("ids", (1, 8)), ("mask", ("batch",))]
    shapes = "x:<batch>x3x<dim2>x224,mask:<batch>"
    assert trtexec_line("a b.onnx", inputs, "trt8.6") == (
        f"trtexec '--onnx=a b.onnx' '--minShapes={shapes}' '--optShapes={shapes}' "
        f"'--maxShapes={shapes}'"
    )


@pytest.mark.parametrize(
    ("target", "option"),
    [("trt8.5", "--plugins"), ("trt8.6", "--staticPlugins"), ("trt10.0", "--staticPlugins")],
)
def test_plugin_libraries(target: str, option: str) -> None:
    line = trtexec_line("a.onnx", [], target, ("libmine.so",))
    assert line == f"trtexec --onnx=a.onnx {option}=libmine.so"


def test_plugins_that_nvidia_ships_are_named() -> None:
    line = trtexec_line("a b.onnx", [], "trt8.6", (), ("EfficientNMS_TRT", "ROIAlign_TRT"))
    assert line == (
        "trtexec '--onnx=a b.onnx'  # with EfficientNMS_TRT, ROIAlign_TRT of libnvinfer_plugin, "
        "which trtexec loads"
    )
