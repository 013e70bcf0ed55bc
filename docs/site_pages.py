"""What mkdocs adds to the pages of this folder: those made of the code, and those next to the code.

A hook of mkdocs (`mkdocs.yml`). Nothing is written into the tree. Links between files of the
repository become links between pages of the site; what has no page is named without a link.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from graphfix import __all__ as public_names
from graphfix.rendering.pages import pages

ROOT = Path(__file__).parent.parent
_MOVED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "AGENTS.md": "agents.md",
    "docs/README.md": "index.md",
    "benchmarks/README.md": "benchmarks/index.md",
}
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\[]*)\]\((?P<link>[^()\s]+)\)")


@cache
def homes() -> dict[str, str]:
    """Return the page of each Markdown file of the repository that has one, by its path there."""
    found = dict(_MOVED)
    for path in sorted((ROOT / "graphfix").glob("*/README.md")):
        found[path.relative_to(ROOT).as_posix()] = f"inside/{path.parent.name}.md"
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.md")):
        found[path.relative_to(ROOT).as_posix()] = f"benchmarks/{path.name}"
    for path in sorted((ROOT / "graphfix" / "rendering" / "schemas").glob("*.json")):
        found[path.relative_to(ROOT).as_posix()] = path.name
    for path in sorted((ROOT / "docs").iterdir()):
        if path.suffix == ".md":
            found.setdefault(path.relative_to(ROOT).as_posix(), path.name)
    return found


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that do not lie in this folder."""
    known = homes()
    for source, page in known.items():
        if not source.startswith("docs/"):
            text = (ROOT / source).read_text(encoding="utf-8")
            files.append(File.generated(config, page, content=relinked(text, source, page, known)))
    for page, text in pages().items():
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "python.md", content=python_page()))
    files.append(File.generated(config, "comparison.md", content=comparison_page()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Mend the links of the pages of this folder, which lead to where files lie."""
    source = f"docs/{page.file.src_uri}"
    known = homes()
    return relinked(markdown, source, known[source], known) if source in known else markdown


def relinked(text: str, source: str, page: str, known: dict[str, str]) -> str:
    """Return the text of a file with its links as the site has them.

    Args:
        text: Markdown.
        source: Where the file lies in the repository.
        page: Its page.
        known: The pages of files, as `homes` gives them.
    """

    def mended(match: re.Match[str]) -> str:
        link, _, anchor = match["link"].partition("#")
        if not link or "://" in link or link.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        if path not in known:
            return match["text"] if match["text"].startswith("`") else f"`{path}`"
        there = posixpath.relpath(known[path], posixpath.dirname(page) or ".")
        return f"[{match['text']}]({there}{'#' + anchor if anchor else ''})"

    return _LINK.sub(mended, text)


def python_page() -> str:
    """Return the page on the public names, filled in by mkdocstrings."""
    lines = ["# Python", "", "Everything here is imported from `graphfix`.", ""]
    for name in public_names:
        lines += [f"::: graphfix.{name}", ""]
    return "\n".join(lines)


_FORM = re.compile(r"^\| (as it is|onnxsim|graphfix) \|([\d |]+)\|$", re.MULTILINE)


def comparison_page() -> str:
    """Return the page that holds graphfix compared with other tools, made of the measured pages."""
    lines = [
        "# Comparison with other tools",
        "",
        "All figures are those of the pages under Benchmarks, each of which names its command.",
        "",
        "## Networks in real engines",
        "",
        "`python -m benchmarks.engines FOLDER --engine NAME`",
        "",
        "Networks that onnxruntime runs, given to the real engine as they are, after onnxsim, and",
        "after `graphfix run --target` of that engine. Equal: the engine takes the file and",
        "computes what onnxruntime computes of the original. Wrong: it takes the file without a",
        "word and computes something else. Each row links to its page, which has the command that",
        "made it, the tolerance, and every network that is not equal.",
        "",
        "| engine | networks | equal as they are | after onnxsim | after graphfix |",
        "|---|---|---|---|---|",
    ]
    results = ROOT / "benchmarks" / "results"
    for path in sorted(results.glob("engines-*.md")):
        text = path.read_text(encoding="utf-8")
        forms = {form: [int(n) for n in row.split("|")] for form, row in _FORM.findall(text)}
        rows = [forms[name] for name in ("as it is", "onnxsim", "graphfix")]
        name = path.stem.removeprefix("engines-")
        cells = [f"[{name}](benchmarks/{path.name})", str(sum(rows[0]))]
        cells += [f"{row[0]} ({row[0] / sum(row):.0%}), {row[1]} wrong" for row in rows]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "TensorRT has no engine without a GPU but TensorRT for RTX, which parses and builds:",
        "[rtx-builds](benchmarks/rtx-builds.md) has what it builds of the files that are called",
        "fixed, [corpus-trt8](benchmarks/corpus-trt8.md) what the rules of its parser leave.",
        "[wild](benchmarks/wild.md) has third-party networks.",
        "",
        "## Time, memory and nodes left: polygraphy",
        "",
        "`python -m benchmarks.speed`: a graph of 20,000 nodes is simplified for TensorRT 8",
        "([all of it](benchmarks/speed.md)).",
        "",
        *_rows(results / "speed.md", "polygraphy", "n20000.onnx"),
        "",
        "## Editing without loss: onnx-graphsurgeon, onnx.utils, onnx.compose",
        "",
        "`python -m benchmarks.surgery FOLDER`: what is lost when an input is renamed, a part",
        "extracted, a model joined to another ([file by file](benchmarks/surgery.md)).",
        "",
        *_rows(results / "surgery.md"),
        "",
        "The examples of onnx-graphsurgeon, with both: [side by side](graphsurgeon-examples.md).",
        "",
        "## Half precision: onnxconverter-common",
        "",
        "`python -m benchmarks.precision FOLDER --converter PYTHON`: how far outputs move, of the",
        "largest number in them ([and which nodes stay in float32](benchmarks/float16.md)).",
        "",
        *_rows(results / "float16.md"),
    ]
    return "\n".join(lines) + "\n"


def _rows(page: Path, *wanted: str) -> list[str]:
    """Return the head of the first table of a page, and its rows that hold one of some texts.

    Args:
        page: The page.
        wanted: The texts; all rows are meant where there are none.
    """
    lines = dropwhile(_outside, page.read_text(encoding="utf-8").splitlines())
    head, rule, *rows = takewhile(lambda line: not _outside(line), lines)
    return [head, rule, *(row for row in rows if not wanted or any(w in row for w in wanted))]


def _outside(line: str) -> bool:
    return not line.startswith("|")
