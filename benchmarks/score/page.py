"""The page of the score: what works where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from benchmarks.score.rows import WAYS, Row, share, targets_of

_FEW = 5


def page(
    rows: Sequence[Row], versions: Sequence[str], single: Sequence[tuple[str, str, str, str]]
) -> str:
    """Return the page as Markdown.

    Args:
        rows: What is measured.
        versions: Of graphfix and of the other tools.
        single: File, target, letter of the score, letter of a single run of the command.
    """
    targets = targets_of(rows)
    running = sum(row.runs for row in rows)
    same = sum(ours == alone for _, _, ours, alone in single)
    lines = [
        "# What works where",
        "",
        "Files of today's exporters and of the tools that people use after them, small and with",
        f"random weights: {len(rows)} so far, none left out, of which onnxruntime runs {running}.",
        "Taken: no rule of the target finds a problem, and the outputs are those of the file as",
        "it was exported; of a file that graphfix wrote, that `graphfix run` ended with 0. Shares",
        "are of the files that onnxruntime runs.",
        "`python -m benchmarks.score FOLDER --environments ENVIRONMENTS --target ... --single 60`",
        f"({date.today().isoformat()}; {', '.join(versions)}); rows: `score.tsv`.",
        "",
        "Targets are judged by their rules, and outputs in onnxruntime; what engines are installed",
        "`graphfix run` asks as well. [pipelines](pipelines.md) has what another judge says of the",
        "results, and the pages of engines what these compute.",
        "",
        "## By target",
        "",
        f"| target | files | {' | '.join(WAYS)} |",
        f"|---|---|{'---|' * len(WAYS)}",
        *(
            f"| {target} | {sum(r.runs and target in r.letters for r in rows)} | "
            f"{' | '.join(share(rows, target, way) for way in WAYS)} |"
            for target in targets
        ),
        "",
        *_table("By exporter", "exporter", rows, targets, lambda row: row.exporter),
        *_table("By what wrote the file", "kind", rows, targets, lambda row: row.kind),
        "## Held to single runs",
        "",
        f"Of {len(single)} drawn files and targets, `graphfix run` as a command of its own ended",
        f"as the score says in {same}.",
    ]
    lines += [
        f"- {file} for {target}: {ours} here, {alone} alone"
        for file, target, ours, alone in single
        if ours != alone
    ]
    return "\n".join(lines) + "\n"


def _table(
    title: str, label: str, rows: Sequence[Row], targets: Sequence[str], key: Callable[[Row], str]
) -> list[str]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    lines = [
        f"## {title}",
        "",
        f"As exported, and after graphfix; fewer than {_FEW} files are left out.",
        "",
        f"| {label} | files | {' | '.join(targets)} |",
        f"|---|---|{'---|' * len(targets)}",
    ]
    for name, group in sorted(groups.items()):
        if len(group) >= _FEW:
            cells = (f"{share(group, t, WAYS[0])}, {share(group, t, WAYS[-1])}" for t in targets)
            lines.append(f"| {name} | {len(group)} | {' | '.join(cells)} |")
    return [*lines, ""]
