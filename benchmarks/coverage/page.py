"""The page of a list: for every entry and target how many of its forms get which answer."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.coverage.cases import explanations, listed
from benchmarks.coverage.formless import Formless, formless, table
from benchmarks.coverage.outcomes import ANSWERS, CLOSELY, CONSENT, EXACTLY, FAULTS, REFUSED
from benchmarks.coverage.release import NEWEST
from benchmarks.opset.nodes import VARIANTS

Row = Mapping[str, Any]
_SHORT = {EXACTLY: "exact", CLOSELY: "close", CONSENT: "consent", "supported": "taken"}
_MEANINGS = """
A cell counts the forms of an entry by their answer: `taken`, nothing stands in the way as it is;
`exact`, repaired exactly; `close`, repaired with a stated error; `consent`, repaired where a loss
or another interface is agreed to; `refused`, with the reason below; `differs` and `does not run`
are faults, of graphfix or of what runs the result. Each result is run and held to what is right:
integers to the last digit, floating point to 1e-3 (float32), 1e-2 (float16), 1e-6 (float64). For an
older `ort-` target it is run in that release, for every other target in the newest onnxruntime, or
in onnx's reference evaluator where onnxruntime has no kernel, which is a fault for `ort-` targets;
whether TensorRT takes it is what its rules say. Proofs are off: `differs` counts what they would
take back. Every fault is explained below, or this page is not written."""
_LONGEST = 400
_OF_RELEASE = (
    "the file is right: the newest onnxruntime gives for it what is expected, or onnx's evaluator "
    "where that has no kernel. The release of the target does not run it or computes something "
    "else, which no rule of the target tells"
)
_MOST = 6  # reasons of one operator


def written(name: str, paths: Sequence[Path], cases: Path | None = None) -> Path:
    """Write the page of a list from its rows and return where it is.

    Args:
        name: The list.
        paths: The rows.
        cases: The models, where what they and the targets say of forms is to be reported.

    Raises:
        SystemExit: A fault has no explanation in the list, or what has an exact form is said to
            have none.
    """
    rows = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    without = formless(name, rows, cases)
    own = listed(name)
    targets = list(dict.fromkeys(str(row["target"]) for row in rows))
    lines = [f"# {own.TITLE}", "", *_head(name, own.ABOUT), *_MEANINGS.splitlines(), ""]
    lines += [*_summary(rows, targets, without), ""]
    lines += [*_matrix(own.entries(), rows, targets), ""]
    lines += [*table(without), *_explained(rows, explanations(name)), *_reasons(rows)]
    place = RESULTS / own.PAGE
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


def _head(name: str, about: str) -> list[str]:
    commands = (
        f"`python -m benchmarks.coverage cases {name} FILE`, "
        f"`answer FILE --target T --rows ROWS` and `page {name} ROWS... --cases FILE` write this "
        "page."
    )
    return [commands, *about.splitlines()]


def _summary(rows: Sequence[Row], targets: Sequence[str], without: Formless) -> list[str]:
    said = (*ANSWERS, *FAULTS)
    lines = [
        f"| target | forms | {' | '.join(said)} | without a form "
        "| exact, of those to be repaired that have one |",
        "|---" * (len(said) + 4) + "|",
    ]
    for target in targets:
        counts = Counter(str(row["answer"]) for row in rows if row["target"] == target)
        none = sum(of == target for of, _ in without)
        wanting = sum(counts[answer] for answer in (*ANSWERS[1:], *FAULTS)) - none
        share = f"{100 * counts[EXACTLY] / wanting:.1f}%" if wanting else "-"
        cells = " | ".join(str(counts[answer]) for answer in said)
        lines.append(f"| {target} | {counts.total()} | {cells} | {none} | {share} |")
    return lines


def _matrix(entries: Mapping[str, str], rows: Iterable[Row], targets: Sequence[str]) -> list[str]:
    cells: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        entry, target = str(row["case"]).partition("/")[0], str(row["target"])
        cells[entry, target][str(row["answer"])] += 1
    lines = ["## Every entry", "", f"| entry | {' | '.join(targets)} |"]
    lines.append("|---" * (len(targets) + 1) + "|")
    for entry, why in entries.items():
        texts = [_cell(cells.get((entry, target)), why) for target in targets]
        lines.append(f"| {entry} | {' | '.join(texts)} |")
    return lines


def _cell(counts: Counter[str] | None, why: str) -> str:
    if not counts:
        return why or "no form was made"
    order = (*ANSWERS, *FAULTS)
    return ", ".join(f"{counts[a]} {_SHORT.get(a, a)}" for a in order if counts[a])


def _explained(rows: Iterable[Row], known: Mapping[str, str]) -> list[str]:
    """Return who is right where a result is a fault; empty where none is."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    missing: list[str] = []
    for row in rows:
        if row["answer"] not in FAULTS:
            continue
        case = str(row["case"])
        key = next((key for key in known if case in (key, *(f"{key} {v}" for v in VARIANTS))), None)
        if key is not None:
            found[known[key]][key].append(str(row["target"]))
        elif NEWEST in str(row["why"]):
            found[_OF_RELEASE][case].append(str(row["target"]))
        else:
            missing.append(f"{case} for {row['target']}: {row['answer']}, {row['why']}")
    if missing:
        raise SystemExit("no explanation of\n  " + "\n  ".join(missing))
    if not found:
        return []
    lines = [
        "## Faults, and whose they are",
        "",
        "| forms | targets | who is right |",
        "|---|---|---|",
    ]
    for why, forms in found.items():
        targets = sorted({target for several in forms.values() for target in several})
        lines.append(f"| {', '.join(sorted(forms))} | {', '.join(targets)} | {why} |")
    return [*lines, ""]


def _reasons(rows: Iterable[Row]) -> list[str]:
    """Return the reasons of what is refused or a fault, the commonest first, by entry."""
    found: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        if row["answer"] in (REFUSED, *FAULTS):
            entry = str(row["case"]).partition("/")[0]
            entry = entry.rpartition("-")[0] or entry  # lists without versions have none to drop
            why = str(row["why"])[:_LONGEST].replace("|", "/").replace("<", "&lt;")
            found[entry, str(row["answer"]), why].add((str(row["target"]), str(row["case"])))
    lines = ["## What is refused, and faults", "", "| operator | answer | forms | targets | why |"]
    lines.append("|---|---|---|---|---|")
    more: Counter[tuple[str, str]] = Counter()
    commonest = sorted(found.items(), key=lambda item: (item[0][:2], -len(item[1])))
    for (entry, answer, why), several in commonest:
        more[entry, answer] += 1
        if more[entry, answer] > _MOST:
            continue
        targets = ", ".join(sorted({target for target, _ in several}))
        lines.append(f"| {entry} | {answer} | {len(several)} | {targets} | {why} |")
    left = sum(count - _MOST for count in more.values() if count > _MOST)
    return [*lines, "", f"{left} rarer reasons of operators with more than {_MOST} are left out."]
