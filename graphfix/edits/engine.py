"""Edits in the order given, all or none, each with the proof of what it claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from onnx import ModelProto

from graphfix.edits.proof import HowToProve, Proof, prove
from graphfix.edits.step import Edit, FreeSize, Step, Subject
from graphfix.edits.stored import Store
from graphfix.errors import InvalidModel, UsageError
from graphfix.ir.model import Model
from graphfix.ir.storage.reading import check_proto
from graphfix.ir.storage.shared_weights import Shared
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.model_files import as_model, check_acyclic, guarded
from graphfix.pipeline.settings import inputs_file
from graphfix.pipeline.validation import new_complaints, validity_of
from graphfix.proving.inputs.maker import check_inputs_fit

VERIFY = ("auto", "off")
ModelLike = Model | str | Path | ModelProto


class How(TypedDict, total=False):
    """How an edit is proved, which every function of an edit takes by keyword; see `edit`."""

    verify: str
    inputs: str | Path | Mapping[str, Any] | None
    seed: int
    shapes: Mapping[str, Sequence[int]] | None


@dataclass(frozen=True, slots=True)
class Done:
    """One edit, done.

    Attributes:
        option: The option of the command line that asks for it, such as ``--rename``.
        said: What it did, one line each.
        proofs: What it claims, and what became of the claims; empty with ``verify="off"``.
        unfinished: What it was to do and could not, one line each.
        free_size: The size that it made free, and for which sizes it was shown to be right.
    """

    option: str
    said: tuple[str, ...]
    proofs: tuple[Proof, ...]
    unfinished: tuple[str, ...] = ()
    free_size: FreeSize | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """What edits made of a model.

    Attributes:
        model: The model after them.
        steps: What each did, in order.
        parts: Further models that they made, by the file that each is for.
        verified: Whether proofs were asked for.
        shared: What became of weights that several results hold; None where that was not asked.
        arrays: Arrays by name that edits took out of the model, by the .npz file that each is for.
    """

    model: Model
    steps: tuple[Done, ...]
    parts: Mapping[Path, Model] = field(default_factory=dict[Path, Model])
    verified: bool = True
    shared: Shared | None = None
    arrays: Mapping[Path, Mapping[str, Any]] = field(default_factory=dict[Path, Mapping[str, Any]])

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """The proofs of all edits."""
        return tuple(proof for step in self.steps for proof in step.proofs)

    @property
    def exit_code(self) -> int:
        """0 done, claims shown or none asked for; 1 not all of it; 4 one shown to be wrong."""
        if any(proof.wrong for proof in self.proofs):
            return 4
        done = not any(step.unfinished for step in self.steps)
        return 0 if done and all(proof.equal for proof in self.proofs) else 1


@guarded
def edit(
    model: Model | str | Path | ModelProto,
    edits: Sequence[Edit],
    *,
    verify: str = "auto",
    inputs: str | Path | Mapping[str, Any] | None = None,
    seed: int = 0,
    shapes: Mapping[str, Sequence[int]] | None = None,
    hooks: Sequence[Hook] = (),
) -> Edited:
    """Apply edits to a copy of a model, in order.

    Args:
        model: A loaded model, a path, or a proto; it is not changed.
        edits: What to do.
        verify: ``auto`` proves what each edit claims, ``off`` does not.
        inputs: An .npz file, or a mapping of arrays, to prove it on.
        seed: For inputs that are made.
        shapes: Sizes of dynamic inputs to prove it at, by name.
        hooks: Notified of stages.

    Raises:
        InvalidModel: The model cannot be read.
        UsageError: A name is not known, or an edit cannot be done on this model.
    """
    if verify not in VERIFY:
        raise UsageError(f"{verify!r} is not {' or '.join(VERIFY)}", where="--verify")
    if not edits:
        raise UsageError("nothing to do", hint="give an edit, such as --rename old=new")
    loaded = as_model(model)
    if verify == "auto":
        check_inputs_fit(loaded.to_proto().graph, str(loaded.path or "the model"))
    arrays = dict[Path, Mapping[str, Any]]()
    proto, parts, done = loaded.to_proto(), dict[Path, ModelProto](), list[Done]()
    store = Store(proto, loaded.base_dir)
    sizes = {name: tuple(size) for name, size in (shapes or {}).items()}
    with inputs_file(inputs) as file:
        how = HowToProve(file, seed, sizes)
        for each in edits:
            if parts:
                raise UsageError("comes after the model was split", where=each.option)
            subject = Subject(proto, loaded.base_dir, verify == "auto", file, store)
            step = _applied(each, subject, hooks)
            proofs = _proved(step, loaded.base_dir, how, hooks) if verify == "auto" else ()
            done.append(Done(each.option, step.said, proofs, step.unfinished, step.free_size))
            proto, parts = step.proto, dict(step.parts)
            arrays.update(step.arrays)
    models = {path: Model(part, base_dir=loaded.base_dir) for path, part in parts.items()}
    result = Model(proto, base_dir=loaded.base_dir)
    for made in (result, *models.values()):
        store.keep_for(made)
    return Edited(result, tuple(done), models, verify == "auto", None, arrays)


def _applied(each: Edit, subject: Subject, hooks: Sequence[Hook]) -> Step:
    for hook in hooks:
        hook.stage("edit")
    step = each.apply(subject)
    for proto in (step.proto, *step.parts.values()):
        _check(proto, subject, each.option)
    return step


def _check(proto: ModelProto, subject: Subject, option: str) -> None:
    """Check that an edit left a model.

    Raises:
        UsageError: It did not, though the model was one before.
    """
    try:
        check_proto(proto, option)
        model = Model(proto, base_dir=subject.base_dir)
        check_acyclic(model)
    except InvalidModel as error:
        raise UsageError(f"the result would be no model: {error.message}", where=option) from error
    before = Model(subject.proto, base_dir=subject.base_dir)
    complaint = new_complaints(validity_of(before), validity_of(model))
    if complaint:
        raise UsageError(f"the result would be no valid model: {complaint}", where=option)


def _proved(step: Step, base_dir: str, how: HowToProve, hooks: Sequence[Hook]) -> tuple[Proof, ...]:
    for hook in hooks:
        hook.stage("verify")
    return tuple(prove(claim, base_dir, how) for claim in step.claims)
