"""Inspection: operators of every scope by the right opset, data files looked at, weights not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper, parser

from graphfix.errors import InvalidModel
from graphfix.inspection.inspection import (
    ExternalFile,
    OpCount,
    Port,
    Weight,
    inspect_file,
    inspect_proto,
)
from graphfix.ir.storage import weights

SCOPES = """
<ir_version: 9, opset_import: ["": 17, "acme": 1], producer_name: "me", producer_version: "2">
g (float[n, 3] x, bool c, float w) => (float[n, 3] y)
<float w = {1.0}, float[2, 3] big = {1, 2, 3, 4, 5, 6}>
{
    a = acme.Twice(x)
    b = Softmax(a)
    y = If (c) <
        then_branch = t () => (tt) { tt = Add(b, w) },
        else_branch = e () => (ee) { ee = Softmax(b) }
    >
}
<domain: "acme", opset_import: ["": 11]>
Twice (p) => (q) { q = Softmax(p) }
"""


def test_every_scope_counts_with_its_own_opset() -> None:
    found = inspect_proto(parser.parse_model(SCOPES), Path("m.onnx"), 10)
    assert found.nodes == 6
    assert found.histogram == (
        OpCount("", "Softmax", 3, 13),  # 11 in the function, 13 in the graph: the higher one
        OpCount("", "Add", 1, 14),
        OpCount("", "If", 1, 16),
        OpCount("acme", "Twice", 1, None),
    )
    assert found.lowest_opset == 16
    assert found.opsets == {"": 17, "acme": 1}
    assert found.producer == "me 2"
    assert found.functions == ("acme::Twice",)
    assert (found.ir_version, found.bytes) == (9, 10)


def test_inputs_with_a_stored_default_need_not_be_fed() -> None:
    found = inspect_proto(parser.parse_model(SCOPES), Path("m.onnx"), 0)
    assert found.inputs == (Port("x", "float32", ("n", 3)), Port("c", "bool", ()))
    assert found.outputs == (Port("y", "float32", ("n", 3)),)
    assert found.weights == (
        Weight("big", "float32", (2, 3), 24),
        Weight("w", "float32", (), 4),
    )
    assert (found.weight_count, found.weight_bytes) == (2, 28)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            helper.make_tensor_value_info("v", TensorProto.BFLOAT16, [None, 2]),
            Port("v", "bfloat16", (None, 2)),
        ),
        (
            helper.make_tensor_value_info("v", TensorProto.INT8, None),
            Port("v", "int8", None),
        ),
        (
            helper.make_tensor_sequence_value_info("v", TensorProto.FLOAT, [1]),
            Port("v", "seq(float32)", None),
        ),
        (
            helper.make_value_info(
                "v",
                helper.make_optional_type_proto(
                    helper.make_tensor_type_proto(TensorProto.DOUBLE, [1])
                ),
            ),
            Port("v", "optional(float64)", None),
        ),
        (
            helper.make_value_info(
                "v",
                helper.make_map_type_proto(
                    TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
                ),
            ),
            Port("v", "map(int64, float32)", None),
        ),
    ],
)
def test_types(value: ValueInfoProto, expected: Port) -> None:
    proto = ModelProto()
    proto.graph.input.append(value)
    assert inspect_proto(proto, Path("m.onnx"), 0).inputs == (expected,)


def external_tensor(name: str, location: str) -> TensorProto:
    """A tensor of four floats whose values lie in a file."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[4])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "16")):
        tensor.external_data.add(key=key, value=value)
    return tensor


def test_external_data_is_looked_at_and_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(16))
    (tmp_path / "link.bin").symlink_to("/etc/hostname")
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[4] x) => (float[4] y) { y = Abs(x) }'
    )
    for name, location in (
        ("a", "w.bin"),
        ("b", "w.bin"),
        ("c", "gone.bin"),
        ("d", "../up.bin"),
        ("e", "/etc/passwd"),
        ("f", "link.bin"),
    ):
        proto.graph.initializer.append(external_tensor(name, location))
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    opened: list[Path] = []
    read_bytes = Path.read_bytes

    def note(self: Path) -> bytes:
        opened.append(self)
        return read_bytes(self)

    monkeypatch.setattr(Path, "read_bytes", note)
    monkeypatch.setattr(weights, "load_array", None)
    found = inspect_file(path)
    assert opened == [path]
    assert found.external == (
        ExternalFile("w.bin", 16, True, False),
        ExternalFile("gone.bin", None, False, False),
        ExternalFile("../up.bin", None, False, True),
        ExternalFile("/etc/passwd", None, False, True),
        ExternalFile("link.bin", None, False, True),
    )
    assert found.weights[0] == Weight("a", "float32", (4,), 16)
    assert found.weight_bytes == 96
    assert found.bytes == path.stat().st_size


def test_strings_and_packed_types_have_their_size() -> None:
    proto = ModelProto()
    proto.graph.initializer.append(
        numpy_helper.from_array(np.array(["ab", "cde"], dtype=object), "s")
    )
    proto.graph.initializer.append(
        TensorProto(name="q", data_type=TensorProto.INT4, dims=[5], raw_data=b"123")
    )
    found = inspect_proto(proto, Path("m.onnx"), 0)
    assert {w.name: w.bytes for w in found.weights} == {"s": 5, "q": 3}


@pytest.mark.parametrize("content", [None, b"", b"nonsense"])
def test_what_is_no_model(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "m.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidModel) as caught:
        inspect_file(path)
    assert caught.value.where == str(path)


def test_unknown_operators_and_opsets_need_nothing() -> None:
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float x) => (float y) '
        "{ z = NoSuchOp(x) y = other.Thing(z) }"
    )
    found = inspect_proto(proto, Path("m.onnx"), 0)
    assert found.lowest_opset is None
    assert [o.since_opset for o in found.histogram] == [None, None]
