"""Load models with QNN's provider in its simulator, and print the parts, a line of JSON for each.

    python qnn_placed.py LEVEL MODEL...

It runs in the environment of ``qnn2``, which has no graphfix.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

ort: Any = import_module("onnxruntime")
qnn: Any = import_module("onnxruntime_qnn")


def main() -> None:
    """Run from the command line."""
    ort.set_default_logger_severity(4)
    ort.register_execution_provider_library("QNN", qnn.get_library_path())
    device = next(device for device in ort.get_ep_devices() if device.ep_name == "QNN")
    options = {"backend_path": qnn.get_qnn_htp_path(), "soc_model": "60"}
    for path in sys.argv[2:]:
        asked = ort.SessionOptions()
        asked.log_severity_level = 4
        asked.graph_optimization_level = getattr(ort.GraphOptimizationLevel, sys.argv[1])
        asked.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        asked.add_provider_for_devices([device], options)
        try:
            session = ort.InferenceSession(path, asked)
        except Exception as error:  # onnxruntime's have no common base
            print(json.dumps({"error": str(error)}), flush=True)
            continue
        parts: list[list[str]] = []
        cpu: list[str] = []
        for group in session.get_provider_graph_assignment_info():
            names = [node.name for node in group.get_nodes()]
            if group.ep_name == "QNN":
                parts.append(names)
            else:
                cpu += names
        print(json.dumps({"parts": parts, "cpu": cpu}), flush=True)


if __name__ == "__main__":
    main()
