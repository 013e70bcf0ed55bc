"""The Python API on one model: check, explain, run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onnx import ModelProto

from graphfix.authoring.declaring import Pass
from graphfix.engines.profile import Target
from graphfix.ir.model import Model
from graphfix.ir.operator_aliases import treated
from graphfix.pipeline.findings import findings_of
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.model_files import as_model, guarded
from graphfix.pipeline.op_types import OpTypes
from graphfix.pipeline.results import Result
from graphfix.pipeline.settings import QUESTIONS, PassLike, RunOptions, Settings, inputs_file
from graphfix.report import Findings
from graphfix.report.explanations import Explanation


@guarded
def check(
    model: Model | str | Path | ModelProto,
    target: str | Target,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    assume_ops: Sequence[str] = (),
    op_types: OpTypes = None,
    passes: Sequence[Pass] | None = None,
    treat_as: Sequence[str] = (),
    no_fallback: bool = False,
) -> Findings:
    """Return everything that blocks a model on a target, as a tuple.

    `treat_as` and `no_fallback` as for `run`.

    Raises:
        InvalidModel: The model cannot be read.
        UsageError: The target is not known, a shape does not fit its input, or a type its output.
    """
    options = RunOptions(
        target=target,
        shapes=shapes or {},
        assume_ops=assume_ops,
        op_types=op_types,
        no_fallback=no_fallback,
    )
    fresh, _ = treated(as_model(model), treat_as)
    return Findings(findings_of(fresh, _with_passes(options, passes)))


def _with_passes(options: RunOptions, passes: Sequence[Pass] | None) -> Settings:
    settings = options.settings()
    return settings if passes is None else replace(settings, available=tuple(passes))


@guarded
def explain(
    model: Model | str | Path | ModelProto,
    target: str | Target,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    assume_ops: Sequence[str] = (),
    op_types: OpTypes = None,
    passes: Sequence[Pass] | None = None,
) -> tuple[Explanation, ...]:
    """Return, for every finding, the passes that could remove it, which would, and why not others.

    The passes are run on a copy; no numbers are compared. Arguments and errors as for `check`.
    """
    from graphfix.pipeline.explanations import explanations_of

    options = RunOptions(
        target=target, shapes=shapes or {}, assume_ops=assume_ops, op_types=op_types
    )
    settings = _with_passes(options, passes)
    found = findings_of(as_model(model), settings)
    return explanations_of(as_model(model), settings, found)


@guarded
def run(
    model: Model | str | Path | ModelProto,
    target: str | Target | None = None,
    *,
    opset: int | None = None,
    passes: Sequence[PassLike] | None = None,
    skip: Sequence[str] = (),
    only: Sequence[str] = (),
    excepted: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    assume_ops: Sequence[str] = (),
    op_types: OpTypes = None,
    allow_lossy: bool = False,
    allow_mended: bool = False,
    allow_io_change: bool = False,
    trust_rules: bool = False,
    no_fallback: bool = False,
    partial: bool = False,
    verify: str = "auto",
    compute_capability: str = "",
    questions: int = QUESTIONS,
    inputs: str | Path | Mapping[str, Any] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    pass_files: Sequence[str | Path] = (),
    reproducers: str | Path | None = None,
    anonymize: bool = False,
    hooks: Sequence[Hook] = (),
    treat_as: Sequence[str] = (),
) -> Result:
    """Repair a model for a target; the model given is not changed.

    Args:
        model: A loaded model, a path, or a proto.
        target: The target's name; None for named passes or opset conversion alone.
        opset: The opset to convert to.
        passes: Exactly these passes, in this order: names, or passes themselves.
        skip: Passes that are not to run.
        only: Repair these nodes alone: names, patterns (``*/attn/*``), ``op:Mod``, ``index:12``.
        excepted: Leave these nodes alone. A change of opset is of the whole file, and not limited.
        options: ``"PASS.KEY" -> value``.
        assume_ops: Operators that the engine is said to have, ``[DOMAIN::]OP``.
        op_types: What operators without schema give, ``{"acme::MyNorm": "like:0"}``, or a file;
            see `graphfix.pipeline.op_types`.
        allow_lossy: Consent to lossy sites.
        allow_mended: Consent to how places are read that have no meaning under ONNX.
        allow_io_change: Consent to changes of inputs and outputs.
        trust_rules: Exit code 0 for an engine whose converter guesses (ncnn, TFLite) although it
            was not asked.
        no_fallback: Refuse, and repair, what the target leaves to the engine after it (the CPU).
        partial: Apply big decompositions although findings are left.
        verify: ``auto`` (each site and the whole model, and what the target's own engine computes
            where this machine has it), ``sites``, ``full`` (the whole model alone), ``engine``
            (``auto``, and an error where this machine does not have it) or ``off``.
        compute_capability: What that engine is to build for, such as ``sm89``; empty for what it
            builds for by itself.
        questions: How often that engine may be given a model to find the nodes that it says no
            to, which are repaired as well; 0 for never.
        inputs: An .npz file, or a mapping of arrays, to compare on.
        shapes: Input name -> sizes, for dynamic inputs.
        seed: For the inputs that are made.
        pass_files: Files with further passes.
        reproducers: The folder for reproducers of what passes do wrong; None for none.
        anonymize: Write reproducers without names and weights.
        hooks: Notified of stages and passes.
        treat_as: ``[DOMAIN::]OP=[DOMAIN::]OP``: nodes of the one operator are taken for the other;
            the domain ``aten`` stands for a call of ATen.

    Raises:
        InvalidModel: The model cannot be read.
        UsageError: A name or an argument is wrong.
        PassBug: A pass broke its declaration in a way that cannot be undone.
    """
    from graphfix.pipeline.files import finished

    fresh, _ = treated(as_model(model), treat_as)
    asked = RunOptions(
        target=target,
        opset=opset,
        passes=passes,
        skip=skip,
        only=only,
        excepted=excepted,
        options=options or {},
        assume_ops=assume_ops,
        op_types=op_types,
        allow_lossy=allow_lossy,
        allow_mended=allow_mended,
        allow_io_change=allow_io_change,
        trust_rules=trust_rules,
        no_fallback=no_fallback,
        partial=partial,
        verify=verify,
        compute_capability=compute_capability,
        questions=questions,
        inputs=inputs,
        shapes=shapes or {},
        seed=seed,
        pass_files=pass_files,
    )
    folder = Path(reproducers) if reproducers is not None else None
    with inputs_file(inputs) as file:
        return finished(fresh, asked.settings(file), hooks, folder, anonymize=anonymize)
