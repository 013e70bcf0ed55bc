"""What the user can do next about what is left: only advice that follows from the report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from graphfix.authoring.registry import shipped_passes
from graphfix.ir.printing import in_code, shell_line, shell_word
from graphfix.ir.schemas import form_of, newest_opset
from graphfix.rendering.grouping import distinct, node_label
from graphfix.rendering.style import capped
from graphfix.rendering.wording import misread, needs_consent, problems
from graphfix.report import Accuracy, Finding, Report, Reproduced, Status, Verdict

UNTYPED = "types-unknown"
_INPUTS_SHOWN = 3
_CONTRIB = "com.microsoft"
_LOSSY = "--allow-lossy"
_CONSENT = re.compile(r"--allow-(?:lossy|io-change)\b")
_CHANGES = {
    _LOSSY: "the outputs change",
    "--allow-io-change": "inputs or outputs get another type or shape",
    f"--allow-io-change {_LOSSY}": "inputs or outputs get another type, and the outputs change",
}
_OF_SIZES = re.compile(
    r"\b(size|shape|dim|dimension|length|rank|number)s?\b.*\b(known|unknown|open|dynamic|fixed|static)\b"
    r"|\b(unknown|dynamic|open) (size|shape|dimension|length|rank)s?\b"
)


def reproduced_at(made: Reproduced) -> str:
    """Say which pass a reproducer is of, and where it was at fault."""
    who = made.pass_id or "the run"
    where = f" at {node_label(made.node)}" if made.node.op else ""
    return f"{who}{where}{'' if made.folder else ': none was written'}"


def rule_fault_text(made: Reproduced) -> str:
    """Say that a rule failed when a model was checked, and how that is seen again."""
    where = f" at {node_label(made.node)}" if made.node.op else ""
    again = f"`{replay_line(made)}` shows it" if made.folder else f"no reproducer: {made.reason}"
    return f"the rule {made.pass_id} failed{where}, a fault of graphfix; {again}; please report it"


def replay_line(made: Reproduced) -> str:
    """Return the command that shows the fault again; empty where there is no folder."""
    if not made.folder:
        return ""
    return shell_line(["graphfix", "replay", made.folder])


def _sizes(report: Report) -> str:
    """Return the options that fix the sizes of the inputs, with what the file says of them."""
    options: list[str] = []
    declared: list[str] = []
    shown = zip(report.open_inputs, report.example_sizes, strict=True)
    for (name, shape), dims in islice(shown, _INPUTS_SHOWN):
        options.append(f"--shape {shell_word(f'{name}=' + 'x'.join(map(str, dims)))}")
        sizes = ", ".join("?" if dim is None else str(dim) for dim in shape)
        declared.append(f"{in_code(name)} is [{in_code(sizes)}]")
    reported = (
        f"`{' '.join(options)}` with your own sizes fixes what is open ({'; '.join(declared)})"
    )
    return f"{reported}; passes that refused for want of a size may act then."


def _consents(report: Report) -> list[str]:
    """Return one sentence for each consent that would let passes try what is left."""
    able = {name for f in problems(report.findings_after) for name in f.removed_by}
    asked: dict[str, list[str]] = {}
    for outcome in report.outcomes:
        if outcome.status is not Status.REFUSED:
            continue
        options = _CONSENT.findall(outcome.reason)
        if not options and any(s.accuracy is Accuracy.LOSSY for s in outcome.sites):
            options = [_LOSSY]
        if options and (outcome.pass_id in able or _LOSSY in options):
            asked.setdefault(" ".join(sorted(set(options))), []).append(outcome.pass_id)
    return [
        f"`{options}` lets {capped(distinct(names), 3)} run; {_CHANGES[options]}; the "
        "report says how."
        for options, names in asked.items()
    ]


def _aliases(left: Sequence[Finding]) -> Sequence[str]:
    """Return what operators that no pass knows may be by their names, as --op-alias takes it."""
    known = {feature for declared in shipped_passes() for feature in declared.removes}
    found: list[str] = []
    for finding in left:
        kind, _, full = finding.feature.partition(":")
        domain, _, op = full.rpartition("::")
        if kind not in ("op", "domain") or finding.rule == UNTYPED or finding.removed_by:
            continue
        if domain and form_of(op, newest_opset()) is not None:
            found.append(in_code(f"{full}={op}"))
        elif domain != _CONTRIB and f"op:{_CONTRIB}::{op}" in known:
            found.append(in_code(f"{full}={_CONTRIB}::{op}"))
    return distinct(found)


def _cut(report: Report) -> str:
    """Return the command that separates what is left, to be computed by the application."""
    model = report.input.path or "MODEL"
    where = f"{','.join(report.front)}=front.onnx,back.onnx"
    command = shell_line(["graphfix", "edit", model, "--split", where])
    again = shell_line(["graphfix", "run", "front.onnx", "--target", report.target])
    return (
        f"`{in_code(command)}` cuts it in two: front.onnx has none of what is left, then "
        f"`{in_code(again)}`; the application computes back.onnx, with onnxruntime for example."
    )


def _is_foreign(finding: Finding) -> bool:
    """Say whether ONNX does not know the operator of a finding."""
    if finding.node.domain not in ("", "ai.onnx"):
        return True
    return form_of(finding.feature.removeprefix("op:"), newest_opset()) is None


def next_steps(report: Report, exit_code: int) -> tuple[str, ...]:
    """Return sentences, the most useful first; empty when there is nothing to do."""
    steps: list[str] = []
    left = problems(report.findings_after)
    refused = [o for o in report.outcomes if o.status is Status.REFUSED]
    steps += _consents(report) if left else []
    untyped = distinct(in_code(f.feature.removeprefix("op:")) for f in left if f.rule == UNTYPED)
    if untyped:
        steps.append(
            f"What {capped(untyped, 3)} gives is not known; `--op-type {untyped[0]}=like:0` says "
            "that it is of the type and shape of its input 0, other forms are in "
            "`graphfix run --help`."
        )
    missing = distinct(in_code(f.missing) for f in left if f.rule != UNTYPED)
    if missing:
        steps.append(f"Some problems depend on what the file does not say ({capped(missing, 3)}).")
    wanting = [m for m in missing if not m.startswith("dtype")]
    wanting += [o.reason for o in refused if _OF_SIZES.search(o.reason)] if exit_code else []
    if wanting and report.open_inputs:
        steps.append(_sizes(report))
    unrepaired = [
        f
        for f in left
        if f.feature.startswith("op:") and f.rule != UNTYPED and not f.removed_by and not f.withheld
    ]
    own = distinct(in_code(f.feature.removeprefix("op:")) for f in unrepaired if _is_foreign(f))
    if own:
        steps.append(
            f"If your engine has {capped(own, 3)} as a plugin, say so: "
            f"{' '.join(f'`--assume-op {name}`' for name in own[:3])}."
        )
    if report.front:
        steps.append(_cut(report))
    lone = distinct(f.feature.removeprefix("op:") for f in unrepaired if not _is_foreign(f))
    if lone and not report.front:
        steps.append(
            f"No repair is known for {capped(lone, 3)}; "
            "`graphfix edit MODEL --split TENSOR=FRONT.onnx,BACK.onnx` cuts a model in two there, "
            "so that the application can compute what lies between."
        )
    alias = _aliases(left)
    if alias:
        steps.append(
            f"If {'it is' if len(alias) == 1 else 'they are'} what the name says, say so: "
            f"{' '.join(f'`--op-alias {text}`' for text in alias[:3])}."
        )
    failed = distinct(o.pass_id for o in report.outcomes if o.status is Status.FAILED)
    if failed:
        steps.append(
            f"{capped(failed, 3)} failed and left the model as it was: a fault worth reporting, "
            "with the reason above."
        )
    if exit_code == 1 and not left and needs_consent(report) and not misread(report):
        steps.append("`--allow-mended` accepts the readings that are listed, and ends with 0.")
    if report.verification.status in (Verdict.INCONCLUSIVE, Verdict.SKIPPED) and exit_code == 1:
        steps.append(
            "`--inputs FILE.npz` compares on inputs of your own, where generated ones do not tell."
        )
    return tuple(steps)
