"""The list: every operator of com.microsoft that the installed onnxruntime registers.

    python -m benchmarks.coverage.contrib.registered            (writes contrib.json)

Source: ``onnxruntime.capi.onnxruntime_pybind11_state``, which gives the schemas and the kernels.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

FACTS = Path(__file__).parents[1] / "contrib.json"
DOMAIN = "com.microsoft"


def write() -> int:
    """Write the list of the installed onnxruntime and return how many operators it has."""
    state: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    ort: Any = import_module("onnxruntime")
    kernels = {
        kernel.op_name
        for kernel in state.get_all_opkernel_def()
        if kernel.domain == DOMAIN and kernel.provider == "CPUExecutionProvider"
    }
    rows = {
        schema.name: [len(schema.inputs), len(schema.outputs), int(schema.name in kernels)]
        for schema in sorted(state.get_all_operator_schema(), key=lambda each: each.name)
        if schema.domain == DOMAIN
    }
    head = {
        "source": f"python -m benchmarks.coverage.contrib.registered, onnxruntime "
        f"{ort.__version__}: get_all_operator_schema and get_all_opkernel_def",
        "columns": ["inputs", "outputs", "the CPU provider has a kernel"],
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()]
    text = json.dumps(head, indent=1).removesuffix("\n}")
    FACTS.write_text(text + ',\n "operators": {\n' + ",\n".join(lines) + "\n }\n}\n", "utf-8")
    return len(rows)


def read() -> dict[str, bool]:
    """Return by operator whether the CPU provider has a kernel."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    return {name: bool(row[2]) for name, row in facts["operators"].items()}


if __name__ == "__main__":
    print(write(), "operators")
