"""The table of what rows say: an answer for every operator of the list."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.coverage.listed import ENDLESS, read
from graphfix.authoring.registry import shipped_passes

FILE = RESULTS / "coverage-aten.md"
Row = Mapping[str, Any]
_LONGEST = 110
_KINDS = {
    "random": "refused: it draws at random, so that nothing equals it",
    "changes": "refused: it changes its input; exporters write the operator that does not",
    "gradient": "refused: a gradient, which no exported network computes",
    "special": "refused: sparse, quantized, nested or complex tensors, which ONNX has not, or a "
    "function of one device",
    "none": "none to do: no tensor in it, so that a trace has its result as a constant",
}
_NOWHERE = (
    "replaced by no pass, and asked of PyTorch's exporter where a file has them (refused without "
    "PyTorch); PyTorch's own operator inputs have no call of them that is one node"
)
_HEAD = """# Operators of ATen

`python -m benchmarks.coverage list`, `cells`, `judge` and `table` write this page. The list is
`benchmarks/coverage/aten.json`: every operator of ATen that the installed PyTorch registers, which
its exporters could write as an ATen node. Cells are the first calls of PyTorch's own operator
inputs (`torch.testing._internal.common_methods_invocations`, float32 and int64, sizes fixed and
open) that a trace has as one node, in the layout of the TorchScript exporter. Each is repaired for
a target as a user does it, with proofs: what they take back is refused. The result is run in
onnxruntime and held to PyTorch's own: integers to the last digit, float32 to 1e-3 of the number and
1e-4 of the largest; `shown by the run` counts those that the run itself proved equal before. A cell
of which the target still refuses something is refused. Where not all cells were judged they are a
sample that a seed draws: one of every operator before the second of any. With PyTorch, which is
slow, operators were judged of which the first cell is refused without it; of the others the row
holds what no PyTorch is asked about, because `aten-by-exporter` comes behind every other pass.

No finite form, and so none of the operators that are counted as having one: what draws at random,
changes its input, is a gradient, gives numbers that nobody has set (empty and the like), is of
tensors that ONNX has not, or needs endless iterations (eigenvalues); they stand below with the
reason.

"""


def written(paths: Sequence[Path]) -> int:
    """Write the table and return the exit code."""
    rows = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    FILE.write_text(_HEAD + "\n".join([*_summary(rows), "", *_answers(rows)]) + "\n", "utf-8")
    return 0


def _operator(row: Row) -> str:
    return str(row["cell"]).partition(".")[0]


def _of(row: Row) -> tuple[str, bool]:
    return str(row["target"]), bool(row["pytorch"])


def _reachable(operator: str, kinds: Mapping[str, tuple[str, bool]]) -> bool:
    """Say whether an operator has a finite form and a result of its own."""
    plain = kinds.get(operator, ("ordinary", False))[0] == "ordinary"
    return plain and operator not in ENDLESS and "empty" not in operator


def _summary(rows: Sequence[Row]) -> list[str]:
    kinds = read()
    groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for row in rows:
        groups[_of(row)].append(row)
    lines = [
        "| target | PyTorch | cells | equal | shown by the run | refused | differs | does not run "
        "| operators with a finite form | with an equal cell | all cells equal |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (target, pytorch), own in sorted({**groups}.items()):
        several = [*own, *_without_asking(own, groups[target, False])] if pytorch else own
        counts = Counter(str(row["verdict"]) for row in several)
        by: dict[str, set[str]] = defaultdict(set)
        for row in several:
            if _reachable(_operator(row), kinds):
                by[_operator(row)].add(str(row["verdict"]))
        some = sum("equal" in verdicts for verdicts in by.values())
        every = sum(verdicts == {"equal"} for verdicts in by.values())
        shown = sum(_equal(row) and row.get("proof") == "equal" for row in several)
        verdicts = (str(counts[v]) for v in ("refused", "wrong", "failed"))
        cells = " | ".join((str(counts["equal"]), str(shown), *verdicts))
        lines.append(
            f"| {target} | {'installed' if pytorch else 'not installed'} | {len(several)} "
            f"| {cells} | {len(by)} | {some} | {every} |"
        )
    for (target, pytorch), own in sorted({**groups}.items()):
        there = {_operator(row) for row in groups[target, False]} if pytorch else set[str]()
        held = {_operator(row) for row in (*own, *_without_asking(own, groups[target, False]))}
        left = sorted(operator for operator in there - held if _reachable(operator, kinds))
        if left:
            lines += ["", f"Not judged with PyTorch for {target}, and refused without it: "
                      f"{len(left)} operators ({', '.join(left)})."]  # fmt: skip
    early = Counter(_of(row)[0] for row in rows if _equal(row) and "proof" not in row)
    if early:
        counts_of = ", ".join(f"{count} of {target}" for target, count in sorted(early.items()))
        lines += ["", f"Equal cells that were judged without proofs: {counts_of}."]
    return lines


def _without_asking(own: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    """Return first cells that are equal without PyTorch, of operators that it was not asked of."""
    asked = {_operator(row) for row in own}
    first: dict[str, Row] = {}
    for row in others:
        first.setdefault(_operator(row), row)
    return [row for operator, row in first.items() if operator not in asked and _equal(row)]


def _answers(rows: Sequence[Row]) -> list[str]:
    passes = _passes()
    seen: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        seen[_operator(row)].append(row)
    targets = sorted({_of(row) for row in rows})
    heads = [f"{target} with PyTorch" if pytorch else target for target, pytorch in targets]
    lines = [
        "## The answer for each operator",
        "",
        "A pass replaces it without PyTorch; `exporter` is `aten-by-exporter`, which needs "
        "`pip install graphfix[torch]` and is asked about whatever no pass replaces. Under a "
        "target stands how many of the judged cells are equal there.",
        "",
        f"| operator | answer | {' | '.join(heads)} | what stands in the way |",
        "|---" * (len(heads) + 3) + "|",
    ]
    listed = read()
    nowhere: list[str] = []
    for operator in sorted({*listed, *seen}):
        kind = listed.get(operator, ("ordinary", False))[0]
        own = seen.get(operator, [])
        if kind in _KINDS and operator not in passes and not any(_equal(row) for row in own):
            continue
        if not own and operator not in passes and operator not in ENDLESS:
            nowhere.append(operator)
            continue
        lines.append(_line(operator, passes.get(operator, ""), own, targets))
    lines += ["", f"{len(nowhere)} operators are {_NOWHERE}: {', '.join(nowhere)}."]
    for kind, meaning in _KINDS.items():
        names = [
            name
            for name, (own, _) in listed.items()
            if own == kind and name not in passes and not any(_equal(r) for r in seen.get(name, []))
        ]
        lines += ["", f"{len(names)} operators are {meaning}: {', '.join(names)}."]
    return lines


def _equal(row: Row) -> bool:
    return bool(row["verdict"] == "equal")


def _line(
    operator: str, declared: str, rows: Sequence[Row], targets: Sequence[tuple[str, bool]]
) -> str:
    parts: list[str] = []
    for target in targets:
        own = [row for row in rows if _of(row) == target]
        parts.append(f"{sum(map(_equal, own))} of {len(own)}" if own else "-")
    answer = f"`{declared}`" if declared else "the exporter is asked"
    if operator in ENDLESS:
        answer = "no finite form"
    elif any(_equal(row) and row["pytorch"] and "exporter" in row["by"] for row in rows):
        answer = f"{answer}, exporter" if declared else "exporter"
    elif not declared and any(row["pytorch"] for row in rows):
        answer = "refused"
    return f"| {operator} | {answer} | {' | '.join(parts)} | {_why(operator, rows)} |"


def _why(operator: str, rows: Sequence[Row]) -> str:
    if operator in ENDLESS:
        return ENDLESS[operator]
    last = [row for row in rows if not _equal(row)]
    last.sort(key=lambda row: not row["pytorch"])
    if not last:
        return ""
    said = [
        part for part in str(last[0].get("why", "")).split(" / ") if "must be installed" not in part
    ]
    return (said[0] if said else "PyTorch is needed")[:_LONGEST].replace("|", "\\|").strip()


def _passes() -> dict[str, str]:
    """Return the pass that replaces each operator without PyTorch."""
    found: dict[str, str] = {}
    for declared in shipped_passes():
        for feature in declared.removes:
            if feature.startswith("op:aten::") and "*" not in feature:
                found.setdefault(feature.removeprefix("op:aten::"), declared.id)
    return found
