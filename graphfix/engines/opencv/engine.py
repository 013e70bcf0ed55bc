"""OpenCV DNN as an engine family: what `cv2.dnn.readNetFromONNX` reads and computes on the CPU."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from graphfix.engines.engine import Engine
from graphfix.engines.interface import Fed, NextStep, Written

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
        """Return how to read the file, and how to run it.

        What OpenCV 4 takes is float32, with a vector for a scalar; it returns columns for vectors.
        """
        from graphfix.engines.feeding import FEED, program_of

        read = f"import cv2; net = cv2.dnn.readNetFromONNX({written.path!r})"
        old = target.level < (5,)
        program = program_of(
            Path(__file__).with_name(FEED),
            written,
            _by_opencv_4 if old else None,
            vectors="  # of a vector a column comes" if old else "",
        )
        return NextStep(f'python -c "{read}"', "Read it", program=program)


def _by_opencv_4(fed: Fed) -> Fed:
    return replace(fed, element_type="float32", shape=fed.shape or (1,))
