"""OpenVINO as an engine family."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine

if TYPE_CHECKING:
    from graphfix.engines.interface import NextStep, Written
    from graphfix.engines.profile import Target

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

    def next_step(self, written: Written, target: Target) -> NextStep | None:
        """Return how to run the file; before 2023.1 the module has the longer name alone."""
        from graphfix.engines.feeding import FEED, run_step

        module = "openvino.runtime" if target.level < (2023, 1) else "openvino"
        return run_step(Path(__file__).with_name(FEED), written, module=module)

    def blamed(self, said: str) -> tuple[str, str]:
        """Return the operator, and the name or the output of the node, in a refusal.

        A refusal that names several is of one, and of what follows it: it names none for sure.
        """
        found = {(match["op"], match["name"]) for match in _NODE.finditer(said)}
        return found.pop() if len(found) == 1 else ("", "")
