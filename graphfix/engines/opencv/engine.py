"""OpenCV DNN as an engine family: what `cv2.dnn.readNetFromONNX` reads and computes on the CPU."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine
from graphfix.engines.interface import NextStep, Written

if TYPE_CHECKING:
    from graphfix.engines.profile import Target
    from graphfix.ir.views import Value

# The newest wheel of each minor release; before 5.0 they hold modules for numpy 1.
_WHEELS = {
    "opencv4.8": ("opencv-python-headless==4.8.1.78", "numpy<2"),
    "opencv4.10": ("opencv-python-headless==4.10.0.84", "numpy<2"),
    "opencv5.0": ("opencv-python-headless==5.0.0.93", "numpy"),
}
_NODE = re.compile(
    r"Node \[(?P<op>\w+)@[\w.]*\]:\((?:onnx_node!|onnx_node_output_\d+!)?(?P<name>[^)]*)\)"
)


class OpenCV(Engine):
    """The module dnn of OpenCV, on the CPU."""

    family = "opencv"
    title = "OpenCV"
    spellings = ("cv", "opencv-dnn")
    order = 20
    requirements = MappingProxyType(_WHEELS)
    wants_sizes = True
    blaming = (_NODE,)

    def is_constant(self, value: Value) -> bool:
        """Say whether it holds the values, as it does of overridable initializers."""
        from graphfix.engines.operands import is_stored

        return is_stored(value)

    def next_step(self, written: Written, target: Target) -> NextStep:
        """Return how to read the file."""
        read = f"import cv2; net = cv2.dnn.readNetFromONNX({written.path!r})"
        return NextStep(f'python -c "{read}"', "Read it")
