"""`graphfix serve`: a model is handed in, worked on, reported, given back and removed."""

from __future__ import annotations

import re
import time
from collections.abc import Generator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import onnx
import pytest

from graphfix.errors import UsageError
from graphfix.service import app
from graphfix.service.app import application
from graphfix.service.desk import MODEL, Desk, Limits
from graphfix.testing import assert_same, outputs_of

MISSING = 'FastAPI is not here: pip install "graphfix[web]" httpx2'
# Looked for, not imported: each worker collects this file, and one runs it.
NEEDED = ("fastapi", "python_multipart", "httpx2")
pytestmark = pytest.mark.skipif(None in map(find_spec, NEEDED), reason=MISSING)

TARGETS = [("trt7.2", "TensorRT 7.2"), ("ort-1.10", "onnxruntime 1.10")]
TEXT = "g (int64[N] x) => (int64[N] y) <int64 c = {3}> { y = Mod (x, c) }"
NET = onnx.parser.parse_model(
    f'<ir_version: 8, opset_import: ["" : 17]> {TEXT}'
).SerializeToString()


@pytest.fixture(scope="module")
def client() -> Generator[Any]:
    """Give a client of a service that takes at most a MiB."""
    testing: Any = import_module("starlette.testclient")
    made = application(TARGETS, Limits(size=1 << 20), 2, ("testserver",))
    with testing.TestClient(made, follow_redirects=False) as it:
        yield it


def _handed_in(client: Any, content: bytes, name: str = "net.onnx", **fields: str) -> Any:
    return client.post(
        "/models", data={"target": "trt7.2", **fields}, files={"model": (name, content)}
    )


def _done(client: Any, place: str) -> str:
    for _ in range(600):
        text: str = client.get(place).text
        if "At work" not in text:
            return text
        assert '<meta http-equiv="refresh"' in text
        time.sleep(0.1)
    raise AssertionError("it was worked on for a minute")


def test_a_model_comes_back_repaired_with_its_report_and_is_removed(client: Any) -> None:
    page = client.get("/")
    assert "TensorRT 7.2" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    answer = _handed_in(client, NET, "a net.onnx")
    assert answer.status_code == 303
    place = answer.headers["location"]
    text = _done(client, place)
    assert "<strong>fixed</strong>" in text
    assert "a net.onnx for trt7.2" in text
    report = client.get(f"{place}/report")
    assert report.headers["content-type"].startswith("text/html")
    assert "FIXED" in report.text
    result = client.get(f"{place}/result")
    assert "a%20net.trt7.2.onnx" in result.headers["content-disposition"]
    made = onnx.ModelProto.FromString(result.content)
    assert "Mod" not in {node.op_type for node in made.graph.node}
    import numpy as np

    feed = {"x": np.array([-7, 0, 8], np.int64)}
    given = onnx.ModelProto.FromString(NET)
    assert_same(outputs_of(given, feed), outputs_of(made, feed), rtol=0, atol=0)
    assert client.post(f"{place}/remove").status_code == 303
    assert client.get(place).status_code == 404
    assert client.get(f"{place}/result").status_code == 404


@pytest.mark.parametrize("content", [b"", b"no model", NET[:-9], b"\x0a\xff\xff\xff\xff\x0f"])
def test_what_is_no_model_is_said_in_a_line(client: Any, content: bytes) -> None:
    place = _handed_in(client, content).headers["location"]
    text = _done(client, place)
    assert "<strong>unreadable</strong>" in text
    assert client.get(f"{place}/result").status_code == 404


def test_weights_in_a_file_of_their_own_are_asked_for(client: Any) -> None:
    model = onnx.load_from_string(NET)
    model.graph.initializer[0].ClearField("raw_data")
    model.graph.initializer[0].ClearField("int64_data")
    model.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    entry = model.graph.initializer[0].external_data.add()
    entry.key, entry.value = "location", "weights.bin"
    answer = _handed_in(client, model.SerializeToString())
    text = _done(client, answer.headers["location"])
    assert "weights.bin" in text
    assert "--data inline" in text


def test_what_is_no_form_of_this_page_is_refused_in_a_page(client: Any) -> None:
    two = [("model", ("a.onnx", NET)), ("model", ("b.onnx", NET))]
    answer = client.post("/models", data={"target": "trt7.2"}, files=two)
    assert answer.status_code == 400
    assert "the form is none of this page" in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_what_cannot_be_kept_is_refused_and_leaves_nothing(
    client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(_desk: Desk) -> Path:
        (tmp_path / "of the model").mkdir()
        (tmp_path / "of the model" / MODEL).symlink_to("/dev/full")
        return tmp_path / "of the model"

    if not Path("/dev/full").exists():
        pytest.skip("only Linux has a device that is full")
    monkeypatch.setattr(Desk, "folder", full)
    answer = _handed_in(client, NET)
    assert answer.status_code == 507
    assert "No space left on device" in answer.text
    assert not list(tmp_path.iterdir())


def test_names_are_text_and_lead_nowhere(client: Any) -> None:
    hostile = "../../<script>alert(1)</script>.onnx"
    text = _done(client, _handed_in(client, NET, hostile).headers["location"])
    assert "<script>" not in text
    assert "../" not in text


def test_what_is_too_large_or_not_asked_for_is_refused(client: Any) -> None:
    large = _handed_in(client, bytes(2 << 20))
    assert (large.status_code, "larger than the 1 MiB" in large.text) == (413, True)
    assert _handed_in(client, NET, target="nothing9").status_code == 400
    assert client.post("/models", data={"target": "trt7.2"}).status_code == 400
    assert client.get("/models/guess").status_code == 404
    assert client.get("/models/..%2f..%2fetc/report").status_code == 404


def test_other_sites_and_other_names_are_refused(client: Any) -> None:
    foreign = client.post(
        "/models",
        data={"target": "trt7.2"},
        files={"model": ("a.onnx", NET)},
        headers={"Origin": "https://elsewhere.example"},
    )
    assert foreign.status_code == 403
    assert client.get("/", headers={"Host": "rebound.example"}).status_code == 400


def test_models_go_after_their_time_and_with_the_service() -> None:
    desk = Desk(Limits(kept=0.0, waiting=1), 1)
    folder = desk.folder()
    (folder / "model.onnx").write_bytes(b"no model")
    piece = desk.take(folder, "net.onnx", "trt7.2", ())
    assert desk.full
    assert piece.future is not None
    piece.future.result(timeout=60)
    time.sleep(0.01)
    assert desk.get(piece.key) is None
    assert not folder.exists()
    other = desk.folder()
    desk.close()
    assert not other.exists()


def test_without_fastapi_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(app, "import_module", gone)
    with pytest.raises(UsageError, match="FastAPI is not installed") as raised:
        application(TARGETS, Limits(), 1, ("x",))
    assert "graphfix[web]" in str(raised.value.hint)


def test_the_page_asks_nothing_of_others() -> None:
    text = (Path(app.__file__).parent / "pages.html.j2").read_text(encoding="utf-8")
    assert not re.findall(r"https?://|<script", text)
