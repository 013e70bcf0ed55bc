"""What the results say that targets take of the open corpus, written next to their families.

    python -m benchmarks.taken

Read are the tables of ``results/corpus-*.md`` (by the rules of a target), of
``results/old-runtimes.md`` (run in releases of onnxruntime) and of ``results/engines-*.md`` (run in
other engines), and of ``results/unseen.tsv`` how often rules alone were wrong; `graphfix targets`
shows it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import asdict, replace

from benchmarks.engines.rows import FORMS
from benchmarks.unseen.row import Row
from benchmarks.unseen.tables import read
from graphfix.engines.engine import CORPUS, engines
from graphfix.engines.interface import Taken
from graphfix.engines.targets import load_target

RESULTS = Path(__file__).parent / "results"


def taken() -> dict[str, Taken]:
    """Return what each target takes, by its name."""
    found = dict(_by_rules(path) for path in sorted(RESULTS.glob("corpus-*.md")))
    found |= dict(_in_engine(path) for path in sorted(RESULTS.glob("engines-*.md")))
    found |= dict(_in_runtimes(RESULTS / "old-runtimes.md"))
    rows = [row for row in read(RESULTS / "unseen.tsv", Row) if row.code == 0]
    for name, count in Counter(row.engine for row in rows).items():
        not_so = sum(row.wrong for row in rows if row.engine == name)
        found[name] = replace(found[name], unseen=count, not_so=not_so)
    return found


def _by_rules(path: Path) -> tuple[str, Taken]:
    text = path.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (models(?= \|)|do-nothing|exit code 0).* \| (\d+) \|$", text, re.M)
    numbers = dict(rows)
    name = load_target(re.findall(r"--target (\S+)", text)[0]).name
    models, before, after = (int(numbers[k]) for k in ("models", "do-nothing", "exit code 0"))
    return name, Taken(models, before, after, run=False, source=_source(path))


def _in_engine(path: Path) -> tuple[str, Taken]:
    text = path.read_text(encoding="utf-8")
    models = int(re.findall(r"^(\d+) models that onnxruntime runs", text, re.M)[0])
    equal = {form: int(count) for form, count in re.findall(r"^\| (.*?) \| (\d+) \|", text, re.M)}
    name = load_target(re.findall(r"--engine (\S+?)`", text)[0]).name
    return name, Taken(models, equal[FORMS[0]], equal[FORMS[-1]], run=True, source=_source(path))


def _in_runtimes(path: Path) -> Iterator[tuple[str, Taken]]:
    rows = re.findall(
        r"^\| (ort-\S+) \| \S+ \| (\d+) \| \d+ \| \d+ \| (\d+) \|",
        path.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    for name, models, equal in rows:
        yield name, Taken(int(models), None, int(equal), run=True, source=_source(path))


def _source(path: Path) -> str:
    return f"benchmarks/results/{path.name}"


def main() -> None:
    """Write a file next to each family that a result speaks of."""
    found = taken()
    for engine in engines():
        own = {name: asdict(found[name]) for name in engine.names() if name in found}
        if own and engine.folder is not None:
            lines = ",\n".join(f" {json.dumps(n)}: {json.dumps(row)}" for n, row in own.items())
            (engine.folder / CORPUS).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
