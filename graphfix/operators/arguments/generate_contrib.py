"""Write `contrib.json`: inputs and attributes of the operators that onnxruntime registers.

    python -m graphfix.operators.arguments.generate_contrib

Source: ``onnxruntime.capi.onnxruntime_pybind11_state.get_all_operator_schema``, which holds
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md as a program.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from onnx import AttributeProto

FILE = Path(__file__).with_name("contrib.json")
DOMAIN = "com.microsoft"


def _default(raw: bytes) -> object:
    if not raw:
        return None
    proto = AttributeProto.FromString(raw)
    kind = proto.type
    if kind == AttributeProto.STRING:
        return proto.s.decode()
    if kind == AttributeProto.STRINGS:
        return [text.decode() for text in proto.strings]
    value = {
        AttributeProto.INT: proto.i, AttributeProto.FLOAT: proto.f,
        AttributeProto.INTS: [*proto.ints], AttributeProto.FLOATS: [*proto.floats],
    }.get(kind)  # fmt: skip
    if value is None:
        raise ValueError(f"a default of type {kind}")
    return value


def rows() -> dict[str, dict[str, Any]]:
    """Return inputs, outputs and attributes with defaults by operator; null for no default."""
    state: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    found: dict[str, dict[str, Any]] = {}
    for schema in sorted(state.get_all_operator_schema(), key=lambda each: str(each.name)):
        if schema.domain == DOMAIN:
            found[schema.name] = {
                "inputs": [one.name for one in schema.inputs],
                "outputs": [one.name for one in schema.outputs],
                "attributes": {
                    name: _default(schema.attributes[name]._default_value)
                    for name in sorted(schema.attributes)
                },
            }
    return found


def main() -> int:
    """Write the file."""
    found = rows()
    lines = [f" {json.dumps(name)}: {json.dumps(row)}" for name, row in found.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{FILE.name}: {len(found)} operators")
    return 0


if __name__ == "__main__":
    sys.exit(main())
