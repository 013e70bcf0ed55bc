"""Runs and checks of small models, and what a page of them shows."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from onnx import ModelProto, parser

from graphfix.api import run
from graphfix.pipeline.results import Result

HOSTILE = "</title></svg><script>document.title='owned'</script><img src=x onerror=alert(1)>'\"&"
TEXT = """
<ir_version: 8, opset_import: ["" : 13]>
g (float[N, 4] x, float[4] d) => (float[N, 4] y)
<float[4] w = {1.0, 2.0, 3.0, 4.0}>
{
  a = Add (x, w)
  m = Mod <fmod = 1> (a, d)
  y = Relu (m)
}
"""
VOID = {"meta", "link", "input", "br", "img"}


def model(name: str = "modulo") -> ModelProto:
    """A Mod of floats between an Add of a weight and a Relu; the Mod bears the name."""
    proto = parser.parse_model(TEXT)
    proto.graph.node[1].name = name
    return proto


def repaired(name: str = "modulo") -> Result:
    """The result of a run for an engine that has no Mod."""
    return run(model(name), target="trt8.4")


class Elements(HTMLParser):
    """The elements of a page: tag, attributes, and the text below each."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.found: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        element = (tag, {key: value or "" for key, value in attrs}, [""])
        self.found.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element without anything in it."""
        self.found.append((tag, {key: value or "" for key, value in attrs}, [""]))

    def handle_endtag(self, tag: str) -> None:
        """End an element, which is the one that began last."""
        assert self._open, f"{tag} ends and never began"
        assert self._open[-1][0] == tag, f"{tag} ends within {self._open[-1][0]}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        """Add to the text of all that is open."""
        for _, _, text in self._open:
            text[0] += data

    def of(self, tag: str, **wanted: str) -> Iterator[tuple[dict[str, str], str]]:
        """Yield attributes and text of elements with a tag, and with a class or an id."""
        for name, attrs, text in self.found:
            known = {"kind": attrs.get("class", ""), "id": attrs.get("id", "")}
            if name == tag and all(known[key] == value for key, value in wanted.items()):
                yield attrs, " ".join(text[0].split())

    def closed(self) -> bool:
        """Say whether all that began has ended."""
        return not self._open
