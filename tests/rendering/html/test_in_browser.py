"""Pages in headless Chromium: no error, no request, filters, keys, dark mode, accessibility.

They are skipped without Playwright or Chromium: `pip install 'graphfix[browser]'` and
`apt-get install chromium`.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphfix.batch.batch import Fleet
from graphfix.batch.jobs import Row
from graphfix.rendering.html.fleet_page import fleet_page
from graphfix.rendering.html.page import rendered
from graphfix.rendering.html.run_page import run_page
from tests.rendering.html.pages import HOSTILE, repaired

INSTALL = "pip install 'graphfix[browser]' and apt-get install chromium"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
WIDE, NARROW = {"width": 1400, "height": 1000}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright: Any = pytest.importorskip("playwright.sync_api", reason=INSTALL)
    if CHROMIUM is None:
        pytest.skip(INSTALL)
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(rendered(run_page(repaired(HOSTILE))), encoding="utf-8")
    return path


class Opened:
    """A page in a context of its own, with what it said and asked for."""

    def __init__(self, browser: Any, file: Path, **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": WIDE, **context})
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", self._hear)
        self.page.on("request", self._note)
        self.page.goto(file.as_uri())

    def _hear(self, said: object) -> None:
        self.said.append(str(said))

    def _note(self, request: Any) -> None:
        self.asked.append(request.url)

    def shown(self) -> list[str]:
        """Return the ids of the cards that are not filtered out."""
        script = (
            "() => [...document.querySelectorAll('.card')].filter(c => !c.hidden).map(c => c.id)"
        )
        return list(self.page.evaluate(script))


@pytest.fixture
def opened(browser: Any, file: Path) -> Iterator[Opened]:
    it = Opened(browser, file)
    yield it
    assert it.said == []
    assert [url for url in it.asked if not url.startswith("data:")] == [file.as_uri()]
    it.context.close()


def test_it_opens_without_an_error_and_asks_for_nothing(opened: Opened) -> None:
    assert opened.page.inner_text("h1") == "FIXED"
    assert opened.page.title().endswith(": FIXED")


def test_search_filters_cards_and_finds_nodes_on_the_map(opened: Opened) -> None:
    before = opened.shown()
    opened.page.fill("#find", "importer registered")
    opened.page.locator("#s1").wait_for(state="hidden")
    assert opened.shown() == ["f1"]
    opened.page.fill("#find", "relu")
    opened.page.locator(".map .found").wait_for(state="attached")
    assert opened.page.inner_text("#shown").endswith("1 node on the map")
    opened.page.press("#find", "Escape")
    assert opened.shown() == before


def test_search_filters_tables_and_leaves_out_chapters_without_a_hit(opened: Opened) -> None:
    shown = "() => [...document.querySelectorAll('.chapter')].filter(c => !c.hidden).map(c => c.id)"
    before = opened.page.evaluate(shown)
    assert {"problems", "repairs", "map", "verification", "time"} <= set(before)
    opened.page.fill("#find", "certify")
    opened.page.locator("#s1").wait_for(state="hidden")
    after = opened.page.evaluate(shown)
    assert {"map", "time"} <= set(after)
    assert not {"problems", "repairs", "verification"} & set(after)
    assert opened.page.locator("#time tbody tr:visible").count() == 1
    assert "1 row" in opened.page.inner_text("#shown")
    opened.page.press("#find", "Escape")
    assert opened.page.evaluate(shown) == before


def test_a_searched_node_stays_readable_and_in_sight(opened: Opened) -> None:
    ink = "getComputedStyle(document.querySelector('#n0 text')).fill"
    before = opened.page.evaluate(ink)
    opened.page.fill("#find", "relu")
    opened.page.locator(".map .found").wait_for(state="attached")
    outline = "getComputedStyle(document.querySelector('.map .found rect'))"
    assert opened.page.evaluate(f"{outline}.vectorEffect") == "non-scaling-stroke"
    for _ in range(6):
        opened.page.click("[data-zoom='1.5']")
    frame, spot = (opened.page.locator(at).bounding_box() for at in (".map", ".map .found rect"))
    assert frame["x"] <= spot["x"] <= frame["x"] + frame["width"] - spot["width"]
    assert frame["y"] <= spot["y"] <= frame["y"] + frame["height"] - spot["height"]
    opened.page.press("#find", "Escape")
    assert opened.page.evaluate(ink) == before


def test_the_map_moves_with_the_mouse(opened: Opened) -> None:
    for _ in range(6):
        opened.page.click("[data-zoom='1.5']")
    place = "((map) => [map.scrollLeft, map.scrollTop])(document.querySelector('.map'))"
    opened.page.locator(".map").scroll_into_view_if_needed()
    before = opened.page.evaluate(place)
    box = opened.page.locator(".map").bounding_box()
    mouse, x, y = opened.page.mouse, box["x"] + box["width"] / 2, box["y"] + 60
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 40, y + 20, steps=4)
    mouse.up()
    assert opened.page.evaluate(place) == [before[0] - 40, max(before[1] - 20, 0)]
    assert opened.page.evaluate("location.hash") == ""


def test_a_tag_shows_its_cards_alone(opened: Opened) -> None:
    opened.page.click(".chip[data-tag='reject']")
    assert opened.shown() == ["f1"]
    assert opened.page.get_attribute(".chip[data-tag='reject']", "aria-pressed") == "true"
    opened.page.click(".chip[data-tag='reject']")
    assert "s1" in opened.shown()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def row(name: str, target: str, before: dict[str, int], **left: int) -> Row:
        key, model = f"{name} {target}", f"{name}.onnx"
        found = {f"op:{op}": many for op, many in left.items()}
        code = 1 if left else 0
        return Row(
            key=key, name=name, model=model, target=target, exit=code, before=before, left=found
        )

    rows = (
        row("a", "trt8.6", {"op:Mod": 2, "op:Det": 1}),
        row("a", "ort-1.10", {}),
        row("b", "trt8.6", {"op:Mod": 1, "op:Det": 1}, Det=1),
        row("b", "ort-1.10", {"op:Mod": 1}, Mod=1),
    )
    path = tmp_path_factory.mktemp("fleet") / "fleet.html"
    path.write_text(rendered(fleet_page(Fleet(rows, ("trt8.6", "ort-1.10"), 4))), encoding="utf-8")
    return path


def test_targets_are_alternatives_and_findings_narrow(browser: Any, fleet: Path) -> None:
    it = Opened(browser, fleet)
    assert it.shown() == ["m1", "m2", "m3", "m4"]
    it.page.click(".chip[data-tag='trt8.6']")
    assert it.shown() == ["m1", "m3"]
    it.page.click(".chip[data-tag='left']")
    assert it.shown() == ["m3"]
    it.page.click(".chip[data-tag='ort-1.10']")
    assert it.shown() == ["m3", "m4"]
    it.page.click(".chip[data-tag='op:Det']")
    assert it.shown() == ["m3"]
    for tag in ("trt8.6", "ort-1.10", "left"):
        it.page.click(f".chip[data-tag='{tag}']")
    assert it.shown() == ["m1", "m3"]
    assert it.said == []
    it.context.close()


def test_keys_search_walk_and_open(opened: Opened) -> None:
    keyboard = opened.page.keyboard
    keyboard.press("/")
    assert opened.page.evaluate("document.activeElement.id") == "find"
    keyboard.press("Escape")
    keyboard.press("j")
    assert opened.page.evaluate("document.activeElement.parentElement.id") == "f1"
    keyboard.press("Enter")
    assert opened.page.evaluate("document.querySelector('#f1').open")
    keyboard.press("j")
    assert opened.page.evaluate("document.activeElement.parentElement.id") == "s1"
    keyboard.press("k")
    assert opened.page.evaluate("document.activeElement.parentElement.id") == "f1"
    keyboard.press("e")
    assert opened.page.evaluate("[...document.querySelectorAll('.card')].every(c => c.open)")


def test_the_map_leads_to_the_repair_and_back(opened: Opened) -> None:
    opened.page.locator("#n1 rect").click()
    opened.page.locator("#s1[open]").wait_for()
    opened.page.click("#s1 .links a")
    assert opened.page.evaluate("location.hash") == "#n1"


def test_zoom_widens_the_map(opened: Opened) -> None:
    width = "document.querySelector('.map svg').clientWidth"
    before = opened.page.evaluate(width)
    opened.page.click("[data-zoom='1.5']")
    assert opened.page.evaluate(width) > before
    opened.page.click("[data-zoom='0']")
    assert opened.page.evaluate(width) == before


@pytest.mark.parametrize("viewport", [WIDE, NARROW])
def test_no_page_is_wider_than_its_window(browser: Any, file: Path, viewport: Any) -> None:
    it = Opened(browser, file, viewport=viewport)
    it.page.keyboard.press("e")
    assert it.page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    it.context.close()


def test_dark_mode_follows_the_system_and_the_button(browser: Any, file: Path) -> None:
    light, dark = (Opened(browser, file, color_scheme=scheme) for scheme in ("light", "dark"))
    back = "getComputedStyle(document.body).backgroundColor"
    assert light.page.evaluate(back) == "rgb(255, 255, 255)"
    assert dark.page.evaluate(back) == "rgb(20, 23, 27)"
    light.page.click("#theme")
    assert light.page.evaluate(back) == "rgb(20, 23, 27)"
    light.page.click("#theme")
    assert light.page.evaluate(back) == "rgb(255, 255, 255)"
    light.context.close()
    dark.context.close()


def _settled(page: Any) -> bytes:
    """Return a picture of a page that is drawn to its end: two in a row are the same."""
    last, shot = b"", page.screenshot(full_page=True)
    for _ in range(10):
        if shot == last:
            break
        last, shot = shot, page.screenshot(full_page=True)
    return bytes(shot)


def test_the_same_report_looks_the_same(browser: Any, file: Path) -> None:
    shots: list[bytes] = []
    for scheme in ("light", "light", "dark"):
        it = Opened(browser, file, color_scheme=scheme, reduced_motion="reduce")
        it.page.keyboard.press("e")
        it.page.evaluate("document.activeElement.blur()")
        shots.append(_settled(it.page))
        it.context.close()
    assert shots[0] == shots[1] != shots[2]


def test_without_a_script_everything_is_there(browser: Any, file: Path) -> None:
    it = Opened(browser, file, java_script_enabled=False)
    assert it.page.locator("#tools").is_hidden()
    it.page.locator("#s1 summary").click()
    assert it.page.locator("#s1 .sketch").count() == 2
    assert it.page.locator("#s1 .sketch").first.is_visible()
    it.context.close()


def test_print_shows_what_is_closed(opened: Opened) -> None:
    opened.page.emulate_media(media="print")
    opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert opened.page.locator("#s1 .sketch").first.is_visible()
    assert opened.page.locator("#tools").is_hidden()
    opened.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert not opened.page.evaluate("document.querySelector('#s1').open")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["file", "fleet"])
def test_axe_finds_nothing(
    browser: Any, page: str, scheme: str, request: pytest.FixtureRequest
) -> None:
    pytest.importorskip("axe_playwright_python.sync_playwright", reason=INSTALL)
    axe: Any = importlib.import_module("axe_playwright_python.sync_playwright").Axe()
    file: Path = request.getfixturevalue(page)
    it = Opened(browser, file, color_scheme=scheme, bypass_csp=True)
    it.page.keyboard.press("e")
    found = axe.run(it.page)
    assert found.violations_count == 0, found.generate_report()
    it.context.close()
