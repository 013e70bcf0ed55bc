"""Reports as HTML: how big they are, how long they take to write and to open.

    python -m benchmarks.reports CORPUS [-o FILE]

CORPUS is a folder of models (`../shared/corpus/open`). Five networks of it are repaired, and a
model of 500 sites that is made here. Each page is opened in headless Chromium (`pip install
'graphfix[browser]' netron`, `apt-get install chromium`), next to a page with nothing but the map of
the same graph, which is what any drawing of that graph costs, and next to Netron's page of the same
model. Writes `results/reports.md` and ends with 1 where
a page says anything on the console, asks for anything, or is bigger than is promised.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from onnx import ModelProto, parser

from benchmarks import RESULTS
from graphfix import api
from graphfix.pipeline.results import Result
from graphfix.rendering.html.page import rendered
from graphfix.rendering.html.run_page import run_page

NETWORKS = (
    ("thirdparty/onnx--light_bvlc_alexnet.onnx", "trt8"),
    ("exported/bert__ts__op17.onnx", "trt8"),
    ("exported/swin__ts__op17.onnx", "trt8"),
    ("exported/deformable_detr__ts__op16.onnx", "trt8"),
    ("thirdparty/onnxruntime--TFBertForQuestionAnswering.onnx", "trt8"),
)
SITES, TARGET = 500, "trt8.0"
MOST = ((500, 2_000_000), (5_000, 5_000_000))  # sites or nodes, and bytes of a page
LOADS = 3
_NETRON_IS_DONE = "body:not(.welcome):not(.spinner) #target .node-item"


@dataclass(frozen=True, slots=True)
class Row:
    """One page."""

    model: str
    nodes: int
    sites: int
    bytes: int
    written: float
    opened: float
    plain: float
    netron: float
    said: int
    asked: int


def many_sites() -> ModelProto:
    """Return a model with 500 nodes that TensorRT 8.0 refuses, each of which becomes six."""
    text = " ".join(f"a{n + 1} = Shrink <lambd = 0.5> (a{n})" for n in range(SITES))
    return parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 13]> '
        f"g (float[2, 4] a0) => (float[2, 4] a{SITES}) {{ {text} }}"
    )


def measured(name: str, result: Result, browser: Any, folder: Path) -> Row:
    """Write the page of a result and open it."""
    start = time.perf_counter()
    page = run_page(result)
    text = rendered(page)
    written = time.perf_counter() - start
    maps = tuple(section for section in page.sections if section.overview is not None)
    path, plain = folder / "page.html", folder / "plain.html"
    path.write_text(text, encoding="utf-8")
    plain.write_text(rendered(replace(page, sections=maps)), encoding="utf-8")
    seen = [opened(browser, path) for _ in range(LOADS)]
    alone = [opened(browser, plain) for _ in range(LOADS)]
    return Row(
        name,
        len(result.original.graph.node),
        len(result.sites),
        path.stat().st_size,
        written,
        median(each[0] for each in seen),
        median(each[0] for each in alone),
        in_netron(browser, result.original, folder),
        max(each[1] for each in seen),
        max(each[2] for each in seen),
    )


def opened(browser: Any, path: Path) -> tuple[float, int, int]:
    """Return the seconds until a page is drawn, and how often it spoke and asked for more."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    said: list[object] = []
    asked: list[str] = []

    def hear(what: object) -> None:
        said.append(what)

    def note(request: Any) -> None:
        asked.append(request.url)

    page.on("console", hear)
    page.on("pageerror", hear)
    page.on("request", note)
    start = time.perf_counter()
    page.goto(path.as_uri(), wait_until="load")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    spent = time.perf_counter() - start
    context.close()
    return spent, len(said), sum(not url.startswith(("file:", "data:")) for url in asked)


def in_netron(browser: Any, model: ModelProto, folder: Path) -> float:
    """Return the seconds until Netron has drawn a model; infinite where it gives up in a minute."""
    netron: Any = importlib.import_module("netron")
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    address = netron.start(str(path), browse=False)
    spent = [_drawn(browser, f"http://{address[0]}:{address[1]}/") for _ in range(LOADS)]
    netron.stop(address)
    return median(spent)


def _drawn(browser: Any, address: str) -> float:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.add_cookies([{"name": "consent", "value": "1", "url": address}])
    page = context.new_page()
    start = time.perf_counter()
    try:
        page.goto(address, wait_until="load")
        page.wait_for_selector(_NETRON_IS_DONE, state="attached", timeout=60_000)
        spent = time.perf_counter() - start
    except Exception as error:
        if type(error).__name__ != "TimeoutError":
            raise
        spent = float("inf")
    context.close()
    return spent


def table(rows: Sequence[Row]) -> str:
    """Return the page of results."""
    lines = [
        "# Reports as HTML",
        "",
        "`python -m benchmarks.reports ../shared/corpus/open` on 2 cores: pages of `graphfix run",
        "--report`, and how long headless Chromium takes until they are drawn (median of "
        f"{LOADS}), beside",
        "a page with the map of the same graph alone, and beside Netron's page of the same model",
        "(until it shows nodes, at most 60 s). No page said anything on the console or asked for",
        "anything.",
        "",
        "| model | nodes | changed places | kB | written, s | drawn, s | map alone, s "
        "| Netron, s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.model} | {row.nodes} | {row.sites} | {row.bytes // 1000} | {row.written:.2f} "
        f"| {row.opened:.2f} | {row.plain:.2f} | {row.netron:.2f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def too_big(row: Row) -> bool:
    """Say whether a page is bigger than is promised for so many sites, or nodes."""
    (sites, small), (nodes, big) = MOST
    return (row.sites <= sites and row.nodes <= sites and row.bytes > small) or (
        row.nodes <= nodes and row.bytes > big
    )


def main() -> int:
    """Run the benchmark; see the module."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("corpus", type=Path)
    options.add_argument("-o", "--output", type=Path, default=RESULTS / "reports.md")
    asked = options.parse_args()
    playwright: Any = importlib.import_module("playwright.sync_api")
    models = [(Path(name).stem, asked.corpus / name, target) for name, target in NETWORKS]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for label, model, target in (*models, (f"{SITES} sites", many_sites(), TARGET)):
            result = api.run(model, target=target)
            rows.append(measured(label, result, browser, Path(name)))
            print(rows[-1], flush=True)
    asked.output.write_text(table(rows), encoding="utf-8")
    return int(any(row.said or row.asked or too_big(row) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
