"""The model as it came: what a result is compared with, and what a second try starts from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from onnx import ModelProto

from graphfix.authoring.declaring import Pass
from graphfix.ir.model import Model
from graphfix.pipeline.evaluators import evaluators_for
from graphfix.pipeline.op_types import OperatorTypes, stand_ins
from graphfix.pipeline.validation import Validity, misdeclared_outputs, validity_of
from graphfix.report import FileFacts


class Given(Struct, frozen=True):
    """What is reported of the file that a run was given, where the model does not say it.

    Attributes:
        facts: What identifies it; None for what identifies the model.
        notes: Sentences that belong to no finding.
    """

    facts: FileFacts | None = None
    notes: tuple[str, ...] = ()


NOTHING = Given()


class Original(Struct, frozen=True):
    """What must be known of the model before a pass touches it.

    Attributes:
        proto: The model; never changed.
        path: The file that holds just this model; None where there is none.
        base_dir: The folder of its external data.
        facts: What identifies it.
        validity: What the checker said of it.
        misdeclared: Outputs that it declares with a shape that they do not have.
        evaluators: Where the numpy models of its operators without schema are.
    """

    proto: ModelProto
    path: Path | None
    base_dir: str
    facts: FileFacts
    validity: Validity
    misdeclared: frozenset[str]
    evaluators: dict[tuple[str, str], str]

    @classmethod
    def of(
        cls, model: Model, passes: tuple[Pass, ...], reported: Sequence[OperatorTypes] = ()
    ) -> Original:
        """Look at a model that no pass has touched yet.

        Args:
            model: The model.
            passes: Passes that may know what its operators compute.
            reported: What the user says of the types of operators that nothing else knows.
        """
        return cls(
            model.proto,
            model.path,
            model.base_dir,
            facts_of(model),
            validity_of(model),
            misdeclared_outputs(model, passes),
            {**stand_ins(model, reported), **evaluators_for(model, passes)},
        )

    def again(self) -> Model:
        """Return the model once more, to be edited."""
        return Model(
            self.proto,
            path=self.path,
            sha256=self.facts.sha256,
            size=self.facts.bytes,
            base_dir=self.base_dir,
        )


def facts_of(model: Model) -> FileFacts:
    """Return what identifies the model."""
    return FileFacts(
        path=str(model.path) if model.path is not None else "",
        sha256=model.sha256,
        opset=model.opset,
        ir_version=model.ir_version,
        nodes=model.node_count(),
        bytes=model.size,
    )
