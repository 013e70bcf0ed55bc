"""The trtexec line: options by version, sizes that are open, and shell quoting."""

from __future__ import annotations

import pytest

from graphfix.engines.engine import engine_of
from graphfix.engines.interface import Written
from graphfix.engines.targets import load_target
from graphfix.engines.tensorrt.engine import trtexec_line


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("trt5.1", "trtexec --onnx=a.onnx"),
        ("trt6", "trtexec --onnx=a.onnx"),
        ("trt6-fulldims", "trtexec --onnx=a.onnx --explicitBatch"),
        ("trt7.2", "trtexec --onnx=a.onnx --explicitBatch"),
        ("trt8.6", "trtexec --onnx=a.onnx"),
        ("trt10.10", "trtexec --onnx=a.onnx"),
    ],
)
def test_static_inputs_need_the_file_only(target: str, expected: str) -> None:
    assert trtexec_line("a.onnx", [("x", (1, 3, 224, 224))], load_target(target)) == expected


def test_open_sizes_are_by_name_in_all_three_options() -> None:
    inputs = [("x", ("batch", 3, None, 224)), ("ids", (1, 8)), ("mask", ("batch",))]
    shapes = "x:<batch>x3x<dim2>x224,mask:<batch>"
    assert trtexec_line("a b.onnx", inputs, load_target("trt8.6")) == (
        f"trtexec '--onnx=a b.onnx' '--minShapes={shapes}' '--optShapes={shapes}' "
        f"'--maxShapes={shapes}'"
    )


@pytest.mark.parametrize(
    ("target", "option"),
    [("trt8.5", "--plugins"), ("trt8.6", "--staticPlugins"), ("trt10.0", "--staticPlugins")],
)
def test_plugin_libraries(target: str, option: str) -> None:
    line = trtexec_line("a.onnx", [], load_target(target), ("libmine.so",))
    assert line == f"trtexec --onnx=a.onnx {option}=libmine.so"


def test_plugins_that_nvidia_ships_are_named() -> None:
    target = load_target("trt8.6")
    line = trtexec_line("a b.onnx", [], target, (), ("EfficientNMS_TRT", "ROIAlign_TRT"))
    assert line == (
        "trtexec '--onnx=a b.onnx'  # with EfficientNMS_TRT, ROIAlign_TRT of libnvinfer_plugin, "
        "which trtexec loads"
    )


def test_the_step_names_plugins_and_says_what_to_put_into_the_line() -> None:
    target = load_target("trt8.6")
    written = Written("a.onnx", True, lambda: ([("x", ("n", 3))], frozenset({"NMS_TRT", "Relu"})))
    step = engine_of("trt").next_step(written, target)
    assert step is not None
    assert step.command == (
        "trtexec --onnx=a.onnx '--minShapes=x:<n>x3' '--optShapes=x:<n>x3' '--maxShapes=x:<n>x3' "
        "'--staticPlugins=<your-plugins.so>'  # with NMS_TRT of libnvinfer_plugin, which trtexec "
        "loads"
    )
    assert (step.intent, step.note[:25]) == ("Build the engine", "Put the smallest, the usu")


def test_a_family_without_a_next_step_reads_no_file() -> None:
    def contents() -> tuple[list[tuple[str, tuple[int, ...]]], frozenset[str]]:
        raise AssertionError("no one needs them")

    written = Written("a.onnx", False, contents)
    assert engine_of("ort").next_step(written, load_target("ort-1.10")) is None


def test_tensorrt_for_rtx_has_a_program_of_its_own() -> None:
    line = trtexec_line("m.onnx", [("x", ("n", 3))], load_target("trt-rtx1.7"), ["own.so"])
    assert line == (
        "tensorrt_rtx --onnx=m.onnx '--minShapes=x:<n>x3' '--optShapes=x:<n>x3' "
        "'--maxShapes=x:<n>x3' --staticPlugins=own.so"
    )
