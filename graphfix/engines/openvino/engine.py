"""OpenVINO as an engine family."""

from __future__ import annotations

import re
from types import MappingProxyType

from graphfix.engines.engine import Engine

RELEASES = {"2023.0": "2023.0.1", "2024.0": "2024.0.0", "2026.4": "2026.4.1"}
_NUMPY = {"2023.0": "numpy<1.25", "2024.0": "numpy<2", "2026.4": "numpy"}

_NODE = re.compile(r"ONNX node '<Node\((?P<op>\w+)\): (?P<name>[^']*)>'")


class OpenVINO(Engine):
    """OpenVINO on the CPU, in float32."""

    family = "openvino"
    title = "OpenVINO"
    order = 10
    requirements = MappingProxyType(
        {
            f"openvino{version}": (f"openvino=={release}", _NUMPY[version])
            for version, release in RELEASES.items()
        }
    )
    tolerates = frozenset({"element-type:Not", "repeated-node-name"})
    sources = MappingProxyType(
        {
            "element-type": "OpenVINO 2026.4.1 takes Not of numbers: float32, int64, int32, uint8",
            "repeated-node-name": "OpenVINO 2026.4.1 takes them, in all graphs that were tried",
        }
    )
    newest_python = MappingProxyType({"openvino2023.0": "3.11", "openvino2024.0": "3.12"})

    def blamed(self, said: str) -> tuple[str, str]:
        """Return the operator, and the name or the output of the node, in a refusal.

        A refusal that names several is of one, and of what follows it: it names none for sure.
        """
        found = {(match["op"], match["name"]) for match in _NODE.finditer(said)}
        return found.pop() if len(found) == 1 else ("", "")
