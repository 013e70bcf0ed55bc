"""What real engines made of small graphs, next to what `graphfix check` says of them."""

from __future__ import annotations

import json

import pytest

import graphfix
from benchmarks import ROOT
from benchmarks.engines.graphs import GRAPHS, model_of

_SEVERITIES = {
    "equal": set[str](),
    "wrong": {"wrong"},
    "refused": {"reject"},
    "crashed": {"reject"},
}
_FILES = sorted((ROOT / "graphfix" / "engines").glob(f"*/facts/{GRAPHS}"))
# Right by luck: Unsqueeze of such a tensor is wrong for other readers of what it gives, and a
# divisor that Where keeps from 0 ends the process as int32. Places that are computed from what is
# fed may be the same, which TFLite adds up.
_WHERE = "{{ q = Equal (z, o) w = Where (q, one, z) y = {} (x, w) }}"
_INT64 = "17 (int64[2,4] x, int64[2,4] z) => (int64[A,B] y) <int64 o = {0}, int64 one = {1}> "
_CAUTIOUS = {
    "17 (float[2,3,3] x) => (float[A,B,C,D] y) <int64[1] i1 = {1}, int64[1] i2 = {2}> "
    "{ t = Neg (x) u = Unsqueeze (t, i1) r = ReduceSum <keepdims = 1> (u, i2) y = Exp (r) }": (
        "wrong"
    ),
    "17 (float[3,6,4] x, int64[2] i, float[3,2,4] u) => (float[A,B,C] y) <int64[3,2,2] c = "
    "{0, 1, 0, 3, 1, 0, 1, 5, 2, 2, 2, 4}> { z = Sub (i, i) j = Add (c, z) "
    "y = ScatterND (x, j, u) }": "wrong",
    _INT64 + _WHERE.format("Mod"): "reject",
    _INT64 + _WHERE.format("Div"): "reject",
}
_ASKED = [
    (target, key, verdict)
    for path in _FILES
    for target, verdicts in json.loads(path.read_text(encoding="utf-8")).items()
    for key, verdict in verdicts.items()
]


def test_families_are_asked_about() -> None:
    assert {path.parent.parent.name for path in _FILES} >= {"rknn", "tflite"}


@pytest.mark.parametrize(("target", "key", "verdict"), _ASKED)
def test_check_says_what_the_engine_did(target: str, key: str, verdict: str) -> None:
    said = {finding.severity.value for finding in graphfix.check(model_of(key), target=target)}
    cautious = verdict == "equal" and key in _CAUTIOUS
    expected = {_CAUTIOUS[key]} if cautious else _SEVERITIES[verdict]
    assert said & {"reject", "builder", "wrong"} == expected


def test_the_cautious_are_asked_about() -> None:
    assert {key for _, key, verdict in _ASKED if verdict == "equal"} >= set(_CAUTIOUS)
