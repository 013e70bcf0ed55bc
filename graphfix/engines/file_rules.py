"""What is wrong with a file whichever engine reads it; found by `graphfix.validity`.

These rules are asked once of the model as it came and once of the result, not at every step.
"""

from __future__ import annotations

from graphfix.engines.rule import NOTE, REJECT, Rule
from graphfix.report import Severity

_ONNX = "onnx/checker.cc and onnx/defs of the installed onnx"
_ORT = f"{_ONNX}; onnxruntime 1.32 refuses to load it"


def _known(
    name: str,
    message: str,
    severity: Severity = REJECT,
    *,
    note_for: str = "",
    versions: str = "*",
    feature: str = "",
    source: str = _ORT,
) -> Rule:
    return Rule(
        id=name,
        check=_asked_elsewhere,
        ops=(),
        feature=feature or f"model:{name}",
        versions=versions,
        but="",
        severity=severity,
        text="",
        message=message,
        source=source,
        whole=True,
        of_file=True,
        note_for=note_for,
    )


def _asked_elsewhere(*_: object) -> None:
    """Answer nothing: the complaint itself is the answer."""


UNKNOWN_ATTRIBUTE = _known(
    "unknown-attribute", "A node has an attribute that its operator does not have at the opset."
)
MISSING_ATTRIBUTE = _known("missing-attribute", "A node lacks an attribute that it must have.")
ATTRIBUTE_TYPE = _known("attribute-type", "An attribute is of another type than its operator's.")
ATTRIBUTE_TWICE = _known("attribute-twice", "A node has the same attribute twice.")
INPUT_COUNT = _known("input-count", "A node has more or fewer inputs than its operator takes.")
OUTPUT_COUNT = _known("output-count", "A node has more or fewer outputs than its operator gives.")
DEPRECATED_OPERATOR = _known(
    "deprecated-operator", "An operator is no longer there at the opset of the file."
)
ELEMENT_TYPE = _known("element-type", "A node gets an element type that its operator never takes.")
TYPE_OF_NEWER_OPSET = _known(
    "type-of-newer-opset",
    "A node gets an element type that its operator takes from a newer opset on.",
    note_for="trt",
    feature="model:type-of-newer-opset.{op}",
    source=f"{_ORT}; TensorRT looks at the type alone, whatever the opset: verdicts of its parser",
)
TYPES_DIFFER = _known("types-differ", "A node gets two types where its operator wants one.")
TYPE_CONTRADICTION = _known(
    "type-contradiction", "Attributes or types of a node cannot be what they are said to be."
)
SHAPE_CONTRADICTION = _known("shape-contradiction", "Sizes do not fit together at a node.")
OUTPUT_TYPE_DECLARED = _known(
    "output-type-declared", "A graph output is declared with another type than it gets."
)
TYPE_DECLARED = _known(
    "type-declared",
    "A tensor is declared with another type than its node gives.",
    note_for="trt",
    source=f"{_ORT}; TensorRT never reads value_info (ModelImporter.cpp, 8.6.1)",
)
SHAPE_DECLARED = _known(
    "shape-declared",
    "A tensor is declared with another shape than its node gives.",
    NOTE,
    source="onnxruntime 1.32 warns and takes what it infers; TensorRT never reads it",
)
BRANCH_INPUTS = _known(
    "branch-inputs",
    "A branch of an If declares inputs.",
    note_for="trt",
    source=f"{_ORT}; TensorRT takes what a branch captures by name: verdicts of its parser",
)
OPSET_NUMBER = _known("opset-number", "The file says an opset that is not known.")
STORED_DATA = _known("stored-data", "A stored tensor has more or less data than its type says.")
NEGATIVE_SIZE = _known("negative-size", "A stored tensor has a negative size.")
INVALID_MODEL = _known("invalid-model", "The ONNX checker refuses the file.")
DATA_TWICE = _known(
    "data-twice",
    "A stored tensor has its data twice.",
    NOTE,
    source="onnx/checker.cc; onnxruntime 1.32 reads the raw data",
)
UNSORTED = _known(
    "unsorted",
    "Nodes stand before what they use.",
    NOTE,
    source="onnx/checker.cc; onnxruntime and TensorRT sort them",
)
FORMALITY = _known(
    "formality",
    "The ONNX checker asks for what no engine misses.",
    NOTE,
    source="onnx/checker.cc; models of the open corpus that onnxruntime and TensorRT take",
)
REPEATED_CONSTANT = _known(
    "repeated-constant",
    "Two constants of one scope have the same name.",
    NOTE,
    feature="model:duplicate-name",
    source="graph.cc of onnxruntime 1.32: the last one counts; TensorRT has a rule of its own",
)
BAKED_SIZE = _known(
    "baked-size",
    "A free dimension of an input runs with one size alone, which a Reshape has baked in.",
    NOTE,
    source="Reshape in onnx/defs/tensor: the number of elements stays",
)
DOES_NOT_LOAD = _known(
    "does-not-load",
    "The onnxruntime that is installed here refuses to load the model.",
    versions="ort",
    source="the onnxruntime that is installed here, asked where it is the target's version",
)
NOT_OPENED = _known(
    "not-opened",
    "The onnxruntime that is installed here could not be asked whether it loads the model.",
    NOTE,
    versions="ort",
    source="the onnxruntime that is installed here, asked where it is the target's version",
)
REPEATED_NODE_NAME = _known(
    "repeated-node-name",
    "Two nodes of one graph have the same name.",
    note_for="trt",
    source="graph.cc of onnxruntime 1.32 refuses it; TensorRT's parser makes names of its own",
)
SHADOWED_NAME = _known("shadowed-name", "A body gives a tensor the name of one around it.")
