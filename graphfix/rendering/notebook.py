"""What results, findings, models and differences show of themselves in a notebook.

Each is the page that the command writes with `--report`, in a frame of its own, so that its style
and script and those of the notebook leave each other alone. IPython is given functions by the names
of the types, and imports nothing of graphfix for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from onnx import ModelProto

if TYPE_CHECKING:
    from graphfix.difference.difference import Difference
    from graphfix.ir.model import Model
    from graphfix.pipeline.results import Result
    from graphfix.proving.layers.comparison import Comparison
    from graphfix.proving.layers.divergence import Bisection
    from graphfix.rendering.html.page import Page
    from graphfix.report import Finding

_HEIGHT = 420
# A notebook keeps what it shows: a map of more nodes would make its file big.
_MOST_DRAWN = 400
_BOTH = "the first model", "the second model"
_FRAME = (
    '<iframe sandbox="allow-scripts" style="width: 100%; height: {height}px; border: 0" '
    'srcdoc="{page}"></iframe>'
)


def framed(page: Page) -> str:
    """Return a page as an element of a notebook; maps of nothing and of big graphs are left out."""
    from graphfix.rendering.html.page import rendered

    kept = tuple(
        section
        for section in page.sections
        if section.overview is None or 0 < len(section.overview.spots) <= _MOST_DRAWN
    )
    return _FRAME.format(height=_HEIGHT, page=escape(rendered(replace(page, sections=kept))))


def result_html(result: Result) -> str:
    """Return the page of a run."""
    from graphfix.rendering.html.run_page import run_page

    return framed(run_page(result))


def findings_html(findings: tuple[Finding, ...]) -> str:
    """Return a card for each kind of finding."""
    from graphfix.rendering.html.check_page import check_page

    page = check_page("the model", "the target", ModelProto(), findings)
    return framed(replace(page, facts=()))  # of which nothing is known here


def finding_html(finding: Finding) -> str:
    """Return the card of a finding."""
    return findings_html((finding,))


def model_html(model: Model) -> str:
    """Return what is in a model; weights are not read."""
    from graphfix.inspection.inspection import inspect_model
    from graphfix.rendering.html.view_page import view_page

    drawn = len(model.proto.graph.node) <= _MOST_DRAWN
    page = view_page(inspect_model(model), model.proto if drawn else ModelProto())
    return framed(page if model.path else replace(page, word="a model in memory", facts=()))


def difference_html(found: Difference) -> str:
    """Return how two models differ as they are written."""
    from graphfix.rendering.html.two_pages import diff_page

    return framed(diff_page(*_BOTH, (ModelProto(), ModelProto()), found))


def comparison_html(found: Comparison) -> str:
    """Return what two models compute."""
    from graphfix.rendering.html.two_pages import compare_page

    return framed(compare_page(*_BOTH, ModelProto(), found))


def bisection_html(found: Bisection) -> str:
    """Return where two models part."""
    from graphfix.rendering.html.two_pages import bisect_page

    return framed(bisect_page(*_BOTH, ModelProto(), found))


_SHOWN: dict[tuple[str, str], Callable[[Any], str]] = {
    ("graphfix.pipeline.results", "Result"): result_html,
    ("graphfix.report", "Findings"): findings_html,
    ("graphfix.report", "Finding"): finding_html,
    ("graphfix.ir.model", "Model"): model_html,
    ("graphfix.difference.difference", "Difference"): difference_html,
    ("graphfix.proving.layers.comparison", "Comparison"): comparison_html,
    ("graphfix.proving.layers.divergence", "Bisection"): bisection_html,
}


def register() -> None:
    """Give the notebook that runs in this process, if one does, what it shows of each type."""
    found = sys.modules.get("IPython")
    shell = None if found is None else found.get_ipython()
    if shell is None:
        return
    html = shell.display_formatter.formatters["text/html"]
    for (module, name), shown in _SHOWN.items():
        html.for_type_by_name(module, name, shown)
