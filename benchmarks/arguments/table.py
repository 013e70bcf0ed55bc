"""The table of what rows say."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import RESULTS

FILE = RESULTS / "arguments.md"
_VERDICTS = ("equal", "refused", "failed", "does not run", "differs")
_HEAD = """# Arguments of foreign operators

`python -m benchmarks.arguments aten`, `registered` and `table` write this page. Each cell is a node
with one argument that is not at its default, or with another operand, and is repaired without
proofs by the passes that name its operator; the result is held to PyTorch (ATen) or to onnxruntime,
which runs the node as it is (com.microsoft, ai.onnx.ml). `failed`: what the pass built was not
valid and was rolled back, as a run says. Layouts: every argument an input, with the overload's name
and without; numbers as attributes, without it.

| operators | layout | overloads | cells | equal | refused | failed | does not run | differs |
|---|---|---|---|---|---|---|---|---|
"""


def write(files: Sequence[Path]) -> int:
    """Write the page of the rows of some files; return 1 where a result differs."""
    rows: list[dict[str, Any]] = [
        json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()
    ]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        domain = str(row["operator"]).rpartition("::")[0] or "aten"
        groups.setdefault((domain, str(row["layout"]) or "as it is"), []).append(row)
    lines: list[str] = []
    for (domain, layout), some in sorted(groups.items()):
        counted = Counter(str(row["verdict"]) for row in some)
        overloads = len({(row["operator"], row["overload"]) for row in some})
        numbers = " | ".join(str(counted[verdict]) for verdict in _VERDICTS)
        lines.append(f"| {domain} | {layout} | {overloads} | {len(some)} | {numbers} |")
    text = _HEAD + "\n".join(lines) + "\n"
    wrong = [row for row in rows if row["verdict"] in ("differs", "does not run")]
    if wrong:
        text += "\nWhat is not equal:\n\n"
        for row in wrong:
            named = f"{row['operator']}.{row['overload']}, {row['argument']}, {row['layout']}"
            text += f"- {named}: {row['verdict']}, {row['why']}\n"
    FILE.write_text(text, encoding="utf-8")
    return 1 if wrong else 0
