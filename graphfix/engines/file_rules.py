"""Faults of a file for any engine; found by `graphfix.validity`.

These rules are asked once of the model as it came and once of the result, not at every step.
"""

from __future__ import annotations

from graphfix.engines.rule import NOTE, REJECT, WRONG, Rule
from graphfix.report import Severity

_ONNX = "onnx/checker.cc and onnx/defs of the installed onnx"
_ORT = f"{_ONNX}; onnxruntime 1.32 refuses to load it"


def file_rule(
    name: str,
    message: str,
    severity: Severity = REJECT,
    *,
    feature: str = "",
    source: str = _ORT,
) -> Rule:
    """Return a rule about the file alone; `graphfix.validity` asks, so that it has no check."""
    return Rule(
        id=name,
        check=_asked_elsewhere,
        ops=(),
        feature=feature or f"model:{name}",
        versions="*",
        severity=severity,
        text="",
        message=message,
        source=source,
        whole=True,
        of_file=True,
    )


def _asked_elsewhere(*_: object) -> None:
    """Answer nothing: the complaint itself is the answer."""


UNKNOWN_ATTRIBUTE = file_rule(
    "unknown-attribute", "A node has an attribute that its operator does not define at this opset."
)
MISSING_ATTRIBUTE = file_rule("missing-attribute", "A node lacks a required attribute.")
ATTRIBUTE_TYPE = file_rule(
    "attribute-type", "An attribute has a different type than its operator defines."
)
ATTRIBUTE_TWICE = file_rule("attribute-twice", "A node has the same attribute twice.")
INPUT_COUNT = file_rule("input-count", "A node has more or fewer inputs than its operator defines.")
OUTPUT_COUNT = file_rule(
    "output-count", "A node has more or fewer outputs than its operator defines."
)
DEPRECATED_OPERATOR = file_rule(
    "deprecated-operator", "An operator was removed before the opset of the file."
)
ELEMENT_TYPE = file_rule(
    "element-type", "A node reads an element type that its operator supports at no opset."
)
TYPE_OF_NEWER_OPSET = file_rule(
    "type-of-newer-opset",
    "A node reads an element type that its operator supports from a newer opset on.",
    feature="model:type-of-newer-opset.{op}",
)
TYPES_DIFFER = file_rule(
    "types-differ", "A node reads two element types where its operator requires one."
)
TYPE_CONTRADICTION = file_rule(
    "type-contradiction", "Attributes or types of a node contradict each other."
)
SHAPE_CONTRADICTION = file_rule("shape-contradiction", "Shapes of a node do not match.")
OUTPUT_TYPE_DECLARED = file_rule(
    "output-type-declared",
    "A graph output is declared with a different type than its node returns.",
)
TYPE_DECLARED = file_rule(
    "type-declared",
    "A tensor is declared with a different type than its node returns.",
)
SHAPE_DECLARED = file_rule(
    "shape-declared",
    "A tensor is declared with a different shape than its node returns.",
    NOTE,
    source="onnxruntime 1.32 warns and takes what it infers",
)
REPEATED_DECLARATION = file_rule(
    "repeated-declaration",
    "A tensor is declared more than once.",
    NOTE,
    source="onnxruntime 1.32 takes the last entry",
)
BRANCH_INPUTS = file_rule(
    "branch-inputs",
    "A branch of an If declares inputs.",
)
OPSET_NUMBER = file_rule("opset-number", "The file imports an unknown opset.")
STORED_DATA = file_rule(
    "stored-data", "A stored tensor has more or less data than its type and shape require."
)
STORED_TYPE = file_rule(
    "stored-type", "An initializer is listed as an input of another element type."
)
NEGATIVE_SIZE = file_rule("negative-size", "A stored tensor has a negative size.")
INVALID_MODEL = file_rule("invalid-model", "The ONNX checker refuses the file.")
DATA_TWICE = file_rule(
    "data-twice",
    "A stored tensor has its data twice.",
    NOTE,
    source="onnx/checker.cc; onnxruntime 1.32 reads the raw data",
)
UNSORTED = file_rule(
    "unsorted",
    "Nodes precede the nodes whose outputs they read.",
    NOTE,
    source="onnx/checker.cc; onnxruntime sorts them",
)
FORMALITY = file_rule(
    "formality",
    "The ONNX checker reports a formality that engines do not need.",
    NOTE,
    source="onnx/checker.cc; onnxruntime takes such models of the open corpus",
)
REPEATED_CONSTANT = file_rule(
    "repeated-constant",
    "Two constants of one scope have the same name.",
    NOTE,
    feature="model:duplicate-name",
    source="graph.cc of onnxruntime 1.32: the last one counts",
)
BAKED_SIZE = file_rule(
    "baked-size",
    "A dynamic input dimension works with one size only, fixed in the shape of a Reshape.",
    NOTE,
    source="Reshape in onnx/defs/tensor: the number of elements stays",
)
DOES_NOT_LOAD = file_rule(
    "does-not-load",
    "The engine installed on this machine refuses to load the model.",
    source="the engine that is installed here, asked where it is the target's version",
)
COMPUTES_DIFFERENTLY = file_rule(
    "computes-otherwise",
    "The engine accepts the model and computes different values than onnxruntime.",
    WRONG,
    source="the engine on this machine, asked by --verify engine",
)
BEYOND_FLOAT16 = file_rule(
    "beyond-float16",
    "An engine that computes in float16 returns different values than onnxruntime.",
    WRONG,
    source="the model itself, run in onnxruntime with every float rounded to float16",
)
NOT_OPENED = file_rule(
    "not-opened",
    "The engine installed on this machine could not be run to load the model.",
    NOTE,
    source="the engine that is installed here, asked where it is the target's version",
)
TEXT_FORM = file_rule(
    "text-form",
    "The file is the text form of a model.",
    source="onnxruntime 1.32 refuses to load it: Protobuf parsing failed",
)
REPEATED_NODE_NAME = file_rule(
    "repeated-node-name",
    "Two nodes of one graph have the same name.",
    source="graph.cc of onnxruntime 1.32 refuses it",
)
REPEATED_NODE = file_rule(
    "repeated-node",
    "Two nodes of one graph are the same and write the same tensors.",
    source="onnx/checker.cc: names are written once; graph.cc of onnxruntime 1.32 refuses it",
)
MISPLACED_NODE = file_rule(
    "misplaced-node",
    "A node lies outside of the subgraph whose tensors it reads.",
    source="microsoft/onnxconverter-common#260; graph.cc of onnxruntime 1.32 refuses it",
)
SHADOWED_NAME = file_rule(
    "shadowed-name", "A subgraph reuses the name of a tensor of an outer graph."
)
