"""Faults that several engines share: joined axes, output_shape, averages, slopes."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

JOINED = "(float[{}] x) => (float[A,B,C] y) {{ y = {} <axis = {}> (x) }}"
SHAPED = (
    "(float[1,2,{0}] x, float[2,3,3] w) => (float[A,B,C] y)"
    " {{ y = ConvTranspose <strides = [2], output_shape = [{1}]{2}> (x, w) }}"
)
AVERAGE = (
    "(float[1,1,{0},4] x) => (float[1,1,A,B] y) {{ y = AveragePool <kernel_shape = [3,3],"
    " strides = [2,2], pads = [1,1,1,1], ceil_mode = {1}, count_include_pad = {2}> (x) }}"
)
SLOPE = "(float[{}] x, float[{}] s) => (float[{}] y) {{ y = PRelu (x, s) }}"


@pytest.mark.parametrize(
    ("target", "op", "opset", "found"),
    [
        ("openvino2026.4", "Softmax", 11, True),
        ("openvino2026.4", "Softmax", 12, True),
        ("openvino2026.4", "Softmax", 10, False),
        ("openvino2026.4", "Softmax", 13, False),
        ("openvino2026.4", "LogSoftmax", 12, False),
        ("opencv4.10", "Softmax", 9, True),
        ("opencv4.10", "LogSoftmax", 12, True),
        ("opencv4.10", "LogSoftmax", 13, False),
        ("mnn3.6", "LogSoftmax", 11, True),
        ("mnn3.6", "Softmax", 11, False),
    ],
)
def test_axes_are_joined(target: str, op: str, opset: int, found: bool) -> None:
    rule = "softmax-of-joined-axes"
    graph = JOINED.format("2,3,4", op, 1)
    if found:
        feature = f"form:{op}.flattened"
        assert_yes(Yes(graph, rule, feature, "wrong", target=target, opset=opset))
    else:
        assert_no(No(graph, rule, target=target, opset=opset))


def test_axes_of_size_one_join_nothing() -> None:
    rule, target = "softmax-of-joined-axes", "openvino2026.4"
    for sizes, axis in (("2,3,1", 1), ("2,3,4", 2), ("2,3,4", -1)):
        assert_no(No(JOINED.format(sizes, "Softmax", axis), rule, target=target, opset=11))
    free = JOINED.format("2,3,N", "Softmax", 1)
    assert_yes(Yes(free, rule, "form:Softmax.flattened", "wrong", target=target, opset=11))


@pytest.mark.parametrize("target", ["tvm0.27", "tract0.23", "ncnn1.0", "rknn2.3"])
def test_output_shape(target: str) -> None:
    rule = "pads-of-output-shape"
    feature = "attr:ConvTranspose.output_shape"
    assert_yes(Yes(SHAPED.format(5, 10, ""), rule, feature, "wrong", target=target))
    even = SHAPED.format(5, 9, "")
    if target == "rknn2.3":
        assert_no(No(even, rule, target=target))
    else:
        assert_yes(Yes(even, rule, feature, "wrong", target=target))
    assert_no(No(SHAPED.format(5, 11, ""), rule, target=target))
    automatic = SHAPED.format(5, 10, ', auto_pad = "SAME_UPPER"')
    assert_no(No(automatic, rule, target=target))
    assert_unknown(Unknown(SHAPED.format("N", 10, ""), rule, "sizes of x", target=target))


@pytest.mark.parametrize("target", ["openvino2026.4", "rknn2.3"])
def test_averages_beyond_the_end(target: str) -> None:
    rule, feature = "average-beyond-the-end", "attr:AveragePool.count_include_pad"
    assert_yes(Yes(AVERAGE.format(4, 1, 1), rule, feature, "wrong", target=target))
    for sizes in ((5, 0, 1), (4, 1, 0)):
        assert_no(No(AVERAGE.format(*sizes), rule, target=target))
    free = AVERAGE.format("N", 1, 1)
    assert_unknown(Unknown(free, rule, "sizes of x", target=target))
    if target == "openvino2026.4":
        assert_no(No(AVERAGE.format(4, 1, 1).replace("1,1,1,1]", "0,0,0,0]"), rule, target=target))


@pytest.mark.parametrize(
    ("rule", "target"),
    [("average-beyond-the-end", "ncnn1.0"), ("average-beyond-padding", "opencv5.0")],
)
def test_averages_of_open_sizes(rule: str, target: str) -> None:
    free = AVERAGE.format("N", 1, 1)
    assert_unknown(Unknown(free, rule, "sizes of x", target=target, opset=19))
    batch = AVERAGE.format(4, 1, 1).replace("float[1,", "float[N,")
    assert batch != AVERAGE.format(4, 1, 1)
    feature = "attr:AveragePool.count_include_pad"
    assert_yes(Yes(batch, rule, feature, "wrong", target=target, opset=19))
    assert_no(No(free.replace("strides = [2,2]", "strides = [1,1]"), rule, target=target, opset=19))


def test_slopes() -> None:
    rule, target = "slope-of-the-last-axis", "openvino2026.4"
    same = SLOPE.format("1,3,2,3", "3", "1,3,2,3")
    assert_yes(Yes(same, rule, "rank:PRelu.slope", "wrong", target=target))
    for sizes in (("1,2,2,3", "3"), ("1,3,2,3", "1,1,1,3"), ("4,3", "3"), ("1,1,2", "1")):
        assert_no(No(SLOPE.format(*sizes, sizes[0]), rule, target=target))
    free = SLOPE.format("1,N,2,3", "3", "1,N,2,3")
    assert_unknown(Unknown(free, rule, "sizes of x", target=target))


def test_casts_through_integers() -> None:
    rule, feature = "cast-through-integers", "form:Cast.to-bool"
    graph = "({0}[4] x) => (bool[4] y{2}) {{ a = Cast <to = {1}> (x) y = Cast <to = 9> (a) }}"
    for types in (("float", 6), ("float16", 7), ("double", 7)):
        found = graph.format(*types, "")
        assert_yes(Yes(found, rule, feature, "wrong", target="ort-1.25"))
        assert_no(No(found, rule, target="ort-1.26"))
    for other in (("int32", 7, ""), ("float", 1, ""), ("float", 7, ", int64[4] a")):
        assert_no(No(graph.format(*other), rule, target="ort-1.20"))
    direct = "(float[4] x) => (bool[4] y) { y = Cast <to = 9> (x) }"
    assert_no(No(direct, rule, target="ort-1.20"))


def test_windows_after_the_end() -> None:
    rule, feature = "window-after-the-end", "attr:AveragePool.ceil_mode"
    graph = (
        "(float[1,1,17,17] x) => (float[1,1,9,9] y) {{ y = AveragePool <kernel_shape = [2,2],"
        " strides = [2,2], pads = [1,1,1,1], ceil_mode = {}> (x) }}"
    )
    assert_yes(Yes(graph.format(1), rule, feature, "wrong", target="openvino2024.0"))
    assert_no(No(graph.format(0), rule, target="openvino2024.0"))
    assert_no(No(graph.format(1), rule, target="openvino2026.4"))


@pytest.mark.parametrize(("op", "size", "found"), [
    ("MaxPool", "6", True), ("MaxPool", "7", False), ("MaxPool", "N", None),
    ("AveragePool", "6", True), ("AveragePool", "7", True),
])  # fmt: skip
def test_automatic_pads_of_pools(op: str, size: str, found: bool | None) -> None:
    rule, target = "automatic-padding", "ncnn1.0"
    graph = (
        f"(float[1,3,7,{size}] x) => (float[1,3,A,B] y) {{ y = {op} <auto_pad ="
        ' "SAME_UPPER", strides = [2,2], kernel_shape = [3,3]> (x) }'
    )
    if found:
        assert_yes(Yes(graph, rule, f"attr:{op}.auto_pad", "wrong", target=target))
    elif found is None:
        assert_unknown(Unknown(graph, rule, "sizes of x", target=target))
    else:
        assert_no(No(graph, rule, target=target))
    for old, new in (("SAME_UPPER", "VALID"), ("SAME_UPPER", "NOTSET")):
        assert_no(No(graph.replace(old, new), rule, target=target))
    if op == "MaxPool" and found is not None:
        assert_no(No(graph.replace("[3,3]", "[2,2]"), rule, target=target))
    if size == "7":
        counted = graph.replace("<auto_pad", "<count_include_pad = 1, auto_pad")
        assert_no(No(counted if op == "AveragePool" else graph, rule, target=target))
