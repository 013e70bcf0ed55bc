"""Certificates on disk: equal sites of different models are proved once, and nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Pass, rewrite
from graphfix.ir.views import NodeView, Value
from graphfix.pipeline.files import RunRequest, run_file
from graphfix.proving.sites import certificate_cache as caching
from graphfix.proving.sites import prover as proving
from graphfix.proving.sites.cases import StoredCase
from graphfix.proving.sites.certificate_cache import CertificateCache
from graphfix.proving.sites.prover import Prover
from graphfix.report import EXACT, Certificate, Verdict
from graphfix.worker import service
from tests.proving.sites.conftest import sites_of


@rewrite("Add", emits=("Sub", "Neg"), accuracy=EXACT)
def right(node: NodeView, build: Builder) -> Value:
    """Replace a sum by a difference."""
    return build.Sub(node.need(0), build.Neg(node.need(1)))


@rewrite("Add", emits=("Sub",), accuracy=EXACT)
def wrong(node: NodeView, build: Builder) -> Value:
    """Replace a sum by another difference, which is wrong."""
    return build.Sub(node.need(0), node.need(1))


@rewrite("mine::Odd", emits=("Neg",), accuracy=EXACT)
def odd_to_neg(node: NodeView, build: Builder) -> Value:
    """Replace an operator that only its numpy model knows."""
    return build.Neg(node.need(0))


HEAD = '<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>'
ONE = f"{HEAD} one (float[2] x) => (float[2] y) <float[2] w = {{1, 2}}> {{ y = Add (x, w) }}"
TWO = f"""{HEAD} two (float[2] a) => (float[2] c, float[2] d) <float[2] v = {{1, 2}}>
    {{ [other] b = Add (a, v)  c = Relu (b)  d = Abs (a) }}"""
ODD = f"{HEAD} g (float[2] x) => (float[2] y) {{ y = mine.Odd (x) }}"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many cases each child was asked about."""
    found: list[int] = []

    def ask(task: str, folder: Path, *rest: Any) -> object:
        found.append((folder / "cases.json").read_text(encoding="utf-8").count("number"))
        return service.ask(task, folder, *rest)

    monkeypatch.setattr(proving, "ask", ask)
    return found


def proof(folder: Path, text: str, function: object, **places: str) -> Certificate:
    assert isinstance(function, Pass)
    sites, _ = sites_of(text, function)
    evaluators = {("mine", op): place for op, place in places.items()}
    prover = Prover(evaluators, kept=CertificateCache(folder, evaluators))
    (found,) = prover.prove([(evidence, site.accuracy) for site, evidence in sites], {})
    return found


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_equal_sites_of_two_models_are_proved_once(tmp_path: Path, asked: list[int]) -> None:
    first = proof(tmp_path, ONE, right)
    assert (first.status, asked) == (Verdict.EQUAL, [1])
    assert len(files(tmp_path)) == 1
    second = proof(tmp_path, TWO, right)
    assert asked == [1]
    assert replace(second, sizes=first.sizes) == first
    assert [(s.name, s.shapes) for s in first.sizes] == [("x", ((2,),))]
    assert [(s.name, s.shapes) for s in second.sizes] == [("a", ((2,),))]
    assert second.own == 0, "no value of the second model was looked at"


def test_what_is_wrong_is_never_kept_nor_taken_for_what_was_right(
    tmp_path: Path, asked: list[int]
) -> None:
    assert proof(tmp_path, ONE, wrong).status is Verdict.MISMATCH
    assert files(tmp_path) == []
    assert proof(tmp_path, ONE, right).status is Verdict.EQUAL
    assert proof(tmp_path, ONE, wrong).status is Verdict.MISMATCH
    assert len(asked) == 3
    other = ONE.replace("{1, 2}", "{1, 3}")
    assert proof(tmp_path, other, right).status is Verdict.EQUAL
    assert len(asked) == 4, "another constant is another site"


def _cut_short(reported: bytes) -> bytes:
    return reported[: len(reported) // 2]


def _emptied(_reported: bytes) -> bytes:
    return b""


def _no_text(reported: bytes) -> bytes:
    return b"\xff\x00" + reported


def _deep(_reported: bytes) -> bytes:
    return b"[" * 100_000


def _another_kind(_reported: bytes) -> bytes:
    return b'{"key": 1, "certificate": [], "sum": null}'


def _one_byte(reported: bytes) -> bytes:
    """Change the number of samples, which is still a number."""
    at = reported.index(b'"samples": ') + len(b'"samples": ')
    return reported[:at] + (b"9" if reported[at : at + 1] != b"9" else b"8") + reported[at + 1 :]


def _made_equal(reported: bytes) -> bytes:
    return reported.replace(b'"max_abs": 0.0', b'"max_abs": 0.5')


@pytest.mark.parametrize(
    "damage", [_cut_short, _emptied, _no_text, _deep, _another_kind, _one_byte, _made_equal]
)
def test_what_is_damaged_is_proved_again(
    tmp_path: Path, asked: list[int], damage: Callable[[bytes], bytes]
) -> None:
    first = proof(tmp_path, ONE, right)
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert path.read_bytes() != whole
    assert proof(tmp_path, ONE, right) == first
    assert asked == [1, 1]
    assert path.read_bytes() == whole, "and kept again"


def test_a_file_of_another_site_is_none_of_this_one(tmp_path: Path, asked: list[int]) -> None:
    proof(tmp_path, ONE, right)
    (first,) = files(tmp_path)
    proof(tmp_path, ONE.replace("{1, 2}", "{1, 3}"), right)
    (second,) = set(files(tmp_path)) - {first}
    second.write_bytes(first.read_bytes())
    assert proof(tmp_path, ONE.replace("{1, 2}", "{1, 3}"), right).status is Verdict.EQUAL
    assert asked == [1, 1, 1]


def test_another_version_of_what_computes_is_another_key(
    tmp_path: Path, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    proof(tmp_path, ONE, right)
    monkeypatch.setattr(caching, "_versions", lambda: b"another")
    proof(tmp_path, ONE, right)
    assert asked == [1, 1]
    assert len(files(tmp_path)) == 2


def test_a_numpy_model_of_the_user_is_run_each_time(tmp_path: Path, asked: list[int]) -> None:
    place = tmp_path / "odd.py"
    place.write_text("def odd(inputs, attributes):\n    return (-inputs[0],)\n", encoding="utf-8")
    for _ in range(2):
        assert proof(tmp_path / "c", ODD, odd_to_neg, Odd=f"{place}:odd").status is Verdict.EQUAL
    assert asked == [1, 1]
    assert files(tmp_path / "c") == []


def test_a_folder_that_cannot_be_written_costs_the_proof_nothing(
    tmp_path: Path, asked: list[int]
) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert proof(tmp_path / "file" / "c", ONE, right).status is Verdict.EQUAL
    assert asked == [1]


def test_the_older_half_of_a_full_folder_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "_FULL", 3)

    def key(_self: object, digest: bytes, _case: object) -> str:
        return f"ab{digest.hex()}"

    monkeypatch.setattr(CertificateCache, "_key", key)
    cache, case = CertificateCache(tmp_path, {}), StoredCase(b"", b"", EXACT, (), {})
    equal = Certificate(Verdict.EQUAL, 0.0, 0.0, 5)
    for number in range(4):
        cache.put(bytes([number]), case, equal)
    assert [cache.get(bytes([n]), case) for n in range(4)] == [None, None, equal, equal]


WRITE = """
import sys
from pathlib import Path
from graphfix.proving.sites.cases import StoredCase
from graphfix.proving.sites.certificate_cache import CertificateCache
from graphfix.proving.sites.cases import StoredCase
from graphfix.report import EXACT, Certificate, Verdict

cache = CertificateCache(Path(sys.argv[1]), {})
case = StoredCase(b"", b"", EXACT, (), {})
for turn in range(60):
    for number in range(10):
        digest = bytes([number])
        cache.put(digest, case, Certificate(Verdict.EQUAL, float(turn), 0.0, number + 1))
        found = cache.get(digest, case)
        assert found is not None and found.samples == number + 1, found
"""


def test_writers_at_the_same_time_do_each_other_no_harm(tmp_path: Path) -> None:
    words = [sys.executable, "-c", WRITE, str(tmp_path)]
    writers = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [(writer.communicate()[1], writer.returncode) for writer in writers]
    assert said == [("", 0)] * 3
    assert len(files(tmp_path)) == 10
    assert all(json.loads(path.read_text(encoding="utf-8")) for path in files(tmp_path))


@pytest.mark.parametrize("given", [{"seed": 1}, {"inputs": "x.npz"}])
def test_runs_on_inputs_of_ones_own_prove_again(
    tmp_path: Path, asked: list[int], given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    monkeypatch.chdir(tmp_path)
    np.savez("x.npz", x=np.array([5, -7], np.int64))
    text = "g (int64[2] x) => (int64[2] y) <int64 c = {3}> { y = Mod (x, c) }"
    Path("m.onnx").write_bytes(onnx.parser.parse_model(HEAD + text).SerializeToString())

    def run(name: str, **more: Any) -> Certificate:
        request = RunRequest(
            Path("m.onnx"), Path(name), target="trt7", verify="sites", force=True, **more
        )
        result = run_file(request)
        (site,) = [s for o in result.report.outcomes for s in o.sites if s.certificate]
        assert site.certificate is not None
        return site.certificate

    first = run("a.onnx", certificates=Path("c"))
    assert run("b.onnx", certificates=Path("c")).samples == first.samples
    assert len(asked) == 1
    run("c.onnx", certificates=Path("c"), **given)
    assert len(asked) == 2
    assert run("d.onnx").own == first.own
    assert len(asked) == 3, "without the option nothing is taken over"
