"""`graphfix serve` as people use it: a real server, and Chromium that hands models in.

Skipped without FastAPI, uvicorn, Playwright or Chromium: `pip install 'graphfix[web,browser]'` and
`apt-get install chromium`.
"""

from __future__ import annotations

import importlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.testing import assert_same, outputs_of

INSTALL = "pip install 'graphfix[web,browser]' and apt-get install chromium"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
if CHROMIUM is None:
    pytest.skip(INSTALL, allow_module_level=True)
for needed in ("fastapi", "uvicorn", "python_multipart", "playwright.sync_api"):
    pytest.importorskip(needed, reason=INSTALL)

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
NET = "g (int64[N] x) => (int64[N] y) <int64 c = {3}> { y = Mod (x, c) }"
ENDLESS = """g (int64[1] x) => (int64[1] y)
<int64 m = {9223372036854775807}, bool t = {1}, int64 k = {3}> {
  z = Loop (m, t, x) <body = b (int64 i, bool c, int64[1] s) => (bool d, int64[1] u)
  { d = Identity (c) u = Add (s, k) }>
  y = Mod (z, k) }"""
MEMORY = (
    """g (float[2] x) => (float[n, m] y) <int64[2] s = {2000000000, 2}> { y = Expand (x, s) }"""
)


def raw(text: str) -> bytes:
    return bytes(onnx.parser.parse_model(HEAD + text).SerializeToString())


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Give the address of a service that works on a model for ten seconds at most."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("serve")
    words = ["serve", "--port", str(port), "--timeout", "10", "--max-size", "1MiB"]
    with (folder / "said.txt").open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "graphfix", *words], stderr=said, cwd=folder
        )
    found = f"http://127.0.0.1:{port}/"
    try:
        _wait_for(found, folder / "said.txt")
        yield found
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(address: str, said: Path) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except urllib.error.URLError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(said.read_text())


@pytest.fixture(scope="module")
def browser() -> Generator[Any]:
    playwright: Any = importlib.import_module("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Visit:
    """A page of the service, with what it said on the console and asked of others."""

    def __init__(self, browser: Any, address: str, **context: Any) -> None:
        self.address = address
        self.page = browser.new_context(**context).new_page()
        self.said: list[str] = []
        self.foreign: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", self._hear)
        self.page.on("request", self._note)
        self.page.goto(address)

    def _hear(self, said: Any) -> None:
        self.said.append(str(getattr(said, "text", said)))

    def _note(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:")):
            self.foreign.append(request.url)

    def hand_in(self, content: bytes, name: str = "net.onnx", target: str = "trt7.2") -> str:
        """Hand a model in, wait until it is worked on, and return what the page says."""
        self.page.set_input_files(
            "#model", {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        )
        self.page.select_option("#target", target)
        self.page.get_by_role("button", name="Repair").click()
        self.page.wait_for_selector("dl, [role=alert]", timeout=60_000)
        text: str = self.page.inner_text("body")
        return text


def test_a_model_comes_back_repaired(browser: Any, address: str, tmp_path: Path) -> None:
    visit = Visit(browser, address)
    assert visit.page.input_value("#target") == "trt8.6"
    reported = visit.hand_in(raw(NET))
    assert "fixed" in reported
    assert "compared\nequal" in reported
    with visit.page.expect_download() as coming:
        visit.page.get_by_role("link", name="Take the result").click()
    assert coming.value.suggested_filename == "net.trt7.2.onnx"
    coming.value.save_as(tmp_path / "result.onnx")
    feeds = {"x": np.array([5, -7, 4], np.int64)}
    result = onnx.ModelProto.FromString((tmp_path / "result.onnx").read_bytes())
    assert "Mod" not in {node.op_type for node in result.graph.node}
    before = outputs_of(onnx.parser.parse_model(HEAD + NET), feeds)
    assert_same(outputs_of(result, feeds), before, rtol=0, atol=0)
    visit.page.get_by_role("link", name="Read the report").click()
    visit.page.wait_for_selector("text=FIXED")
    assert visit.page.locator("svg").count() > 0
    visit.page.go_back()
    place = visit.page.url
    visit.page.get_by_role("button", name="Remove it").click()
    visit.page.wait_for_selector("#model")
    assert visit.said == []
    visit.page.goto(place)
    assert "there is no such model any more" in visit.page.inner_text("body")
    assert visit.foreign == []


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "unreadable"),
        (b"\xff" * 1000, "unreadable"),
        (b"\x0a" * 50_000, "unreadable"),
        (raw(NET)[:-20], "unreadable"),
        (raw(ENDLESS), "took longer than"),
        (raw(MEMORY), ""),
    ],
    ids=["empty", "noise", "nested", "cut", "endless", "memory"],
)
def test_hostile_files_end_in_a_word_and_the_service_continues(
    browser: Any, address: str, content: bytes, word: str
) -> None:
    visit = Visit(browser, address)
    assert word in visit.hand_in(content)
    assert visit.said == []
    visit.page.goto(address)
    assert visit.page.locator("#model").count() == 1


def test_a_file_that_is_too_large_is_refused(browser: Any, address: str) -> None:
    visit = Visit(browser, address)
    assert "larger than the 1 MiB that are taken here" in visit.hand_in(b"x" * (3 << 20))


def test_a_name_is_text(browser: Any, address: str) -> None:
    visit = Visit(browser, address)
    name = "<img src=x onerror=alert(1)>.onnx"
    reported = visit.hand_in(raw(NET), name)
    assert "onerror=alert(1)" in reported
    assert visit.page.locator("img").count() == 0
    visit.page.get_by_role("link", name="Read the report").click()
    visit.page.wait_for_selector("text=FIXED")
    assert visit.page.locator("img").count() == 0
    assert visit.said == []


def test_it_is_used_with_keys_alone(browser: Any, address: str) -> None:
    visit = Visit(browser, address)
    names: list[str] = []
    for _ in range(5):
        visit.page.keyboard.press("Tab")
        names.append(
            visit.page.evaluate("document.activeElement.id || document.activeElement.type")
        )
    assert names[1:] == ["model", "target", "checkbox", "submit"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_violation_of_accessibility(browser: Any, address: str, scheme: str) -> None:
    pytest.importorskip("axe_playwright_python.sync_playwright", reason=INSTALL)
    axe: Any = importlib.import_module("axe_playwright_python.sync_playwright").Axe()
    visit = Visit(browser, address, bypass_csp=True, color_scheme=scheme)
    assert axe.run(visit.page).response["violations"] == []
    visit.hand_in(raw(NET))
    assert axe.run(visit.page).response["violations"] == []
