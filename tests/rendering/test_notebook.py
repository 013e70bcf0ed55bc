"""What IPython shows of results: the pages of reports, in frames of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from onnx import ModelProto, helper

import graphfix
from graphfix.rendering import notebook
from tests.rendering.html.pages import HOSTILE, Elements, model, repaired

Shown = Callable[[Any], dict[str, str]]


@pytest.fixture
def shown() -> Iterator[Shown]:
    """What a notebook shows of a value, by its kind, once graphfix is registered in it."""
    shell: Any = InteractiveShell.instance()
    notebook.register()

    def formatted(value: Any) -> dict[str, str]:
        return dict(shell.display_formatter.format(value)[0])

    yield formatted
    InteractiveShell.clear_instance()


def page(html: str) -> Elements:
    """The page in the frame: one element, which scripts of the page cannot leave."""
    frames = list(Elements(html).found)
    assert [tag for tag, _, _ in frames] == ["iframe"]
    assert frames[0][1]["sandbox"] == "allow-scripts"
    found = Elements(frames[0][1]["srcdoc"])
    assert found.closed()
    return found


def test_a_result_shows_its_cards(shown: Shown) -> None:
    html = shown(repaired(HOSTILE))["text/html"]
    assert not list(page(html).of("img"))
    assert "FIXED" in unescape(html)
    assert "Problems in the input" in html
    assert "mod" in html


def test_findings_and_one_of_them_show_cards(shown: Shown) -> None:
    findings = graphfix.check(model(HOSTILE), "trt8.4")
    assert isinstance(findings, tuple)
    for value in (findings, findings[0]):
        html = shown(value)["text/html"]
        assert len(list(page(html).of("details"))) == 1
        assert findings[0].engine_text.split("\n")[0] in unescape(unescape(html))
    assert "PROBLEMS" not in shown(graphfix.check(model(), "trt10.0"))["text/html"]


def test_models_and_what_is_said_of_two_show_pages(shown: Shown) -> None:
    result = repaired()
    for value, word in (
        (result.model, "a model in memory"),
        (graphfix.diff(model(), result.model), "DIFFERENT"),
        (graphfix.compare(model(), result.model), "EQUAL"),
        (graphfix.bisect(model(), result.model), "EQUAL"),
    ):
        html = shown(value)["text/html"]
        assert page(html)
        assert word in html


def test_the_map_of_a_big_graph_is_left_out(shown: Shown) -> None:
    def chain(length: int) -> ModelProto:
        info = helper.make_tensor_value_info("v0", 1, [1])
        end = helper.make_tensor_value_info(f"v{length}", 1, [1])
        nodes = [helper.make_node("Abs", [f"v{at}"], [f"v{at + 1}"]) for at in range(length)]
        graph = helper.make_graph(nodes, "g", [info], [end])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    assert "The whole graph" in shown(graphfix.load(chain(400)))["text/html"]
    assert "The whole graph" not in shown(graphfix.load(chain(401)))["text/html"]


def test_a_process_without_a_notebook_loads_none_of_it(tmp_path: Path) -> None:
    code = (
        "import sys, {}graphfix; "
        "print('graphfix.rendering.notebook' in sys.modules, 'IPython' in sys.modules)"
    )
    for before, said in (("", "False False"), ("IPython, ", "True True")):
        line = [sys.executable, "-c", code.format(before)]
        made = subprocess.run(line, capture_output=True, text=True, check=True)
        assert made.stdout.split("\n")[0] == said


def test_every_public_name_has_a_docstring_and_is_completed() -> None:
    assert set(graphfix.__all__) <= set(dir(graphfix))
    for name in graphfix.__all__:
        value = getattr(graphfix, name)
        if callable(value):
            assert (value.__doc__ or "").strip(), name
