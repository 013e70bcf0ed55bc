"""byte-round-trip-elimination: integers are not cast to 8 bits and back."""

from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.api import run
from graphfix.report import Status, Verdict
from graphfix.testing import assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "byte-round-trip-elimination"
WHOLE = (
    "@r = Round (x)\n@k = Constant <value = float {{0}}> ()\n@m = Add (@r, @k)\n"
    "@low = Constant <value = float {{{low}}}> ()\n@high = Constant <value = float {{{high}}}> ()\n"
    "@c = Clip (@m, @low, @high)\n@q = Cast <to = {to}> (@c)\n"
)
INT8 = WHOLE.format(low=-128, high=127, to=3)
UINT8 = WHOLE.format(low=0, high=255, to=2)


def values(*shape: int) -> Any:
    x = (np.random.default_rng(0).standard_normal(shape) * 100).astype(np.float32)
    x.reshape(-1)[:4] = [-0.25, 0.5, 1.5, 1e9]
    return x


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("head", [INT8, UINT8])
@pytest.mark.parametrize("to", [(1, "float"), (6, "int32"), (7, "int64"), (11, "double")])
def test_casts(to: tuple[int, str], head: str, place: str) -> None:
    text = written(f"{head}@y = Cast <to = {to[0]}> (@q)", "float[N] x", f"{to[1]}[N]", place=place)
    feed: dict[str, Any] = {"x": values(9), **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, text, feeds=[feed])
    if place == "main" and to[0] == 1:
        assert done.ops[:4] == ["Round", "Constant", "Add", "Constant"]
    assert (np.signbit(values(9)) & (np.rint(values(9)) == 0)).any(), "-0.0 has to be among them"


@pytest.mark.parametrize(
    ("moves", "dims"),
    [
        ("@t = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 0, 0]> (@q)", "1, 4, 4, 4"),
        ("@t = Transpose <perm = [0, 2, 3, 1]> (@q)", "1, 4, 4, 4"),
        ("@t = Concat <axis = 1> (@q, @q)", "1, 8, 4, 4"),
        ("@s, @t = Split <axis = 1> (@q)", "1, 2, 4, 4"),
        ("@p = Identity (@q)\n@t = DepthToSpace <blocksize = 2> (@p)", "1, 1, 8, 8"),
    ],
)
@pytest.mark.parametrize("head", [INT8, UINT8])
def test_moved_before_they_are_dequantized(head: str, moves: str, dims: str) -> None:
    kind = "int8 {-7}" if head is INT8 else "uint8 {128}"
    body = (
        f"{head}{moves}\n@sc = Constant <value = float {{0.3}}> ()\n"
        f"@ze = Constant <value = {kind}> ()\n@y = DequantizeLinear (@t, @sc, @ze)"
    )
    text = written(body, "float[1, 4, 4, 4] x", f"float[{dims}]")
    done = assert_rewrite(PASS, text, feeds=[{"x": values(1, 4, 4, 4)}])
    assert "DequantizeLinear" not in done.ops


@pytest.mark.parametrize(
    "body",
    [
        UINT8.replace("Round (x)", "Identity (x)") + "@y = Cast <to = 1> (@q)",
        INT8.replace("{0}", "{0.5}") + "@y = Cast <to = 1> (@q)",
        INT8.replace("{0}", "{-0.0}") + "@y = Cast <to = 1> (@q)",
        INT8.replace("{127}", "{128}") + "@y = Cast <to = 1> (@q)",
        INT8.replace("@m = Add (@r, @k)", "@m = Sub (@r, @k)") + "@y = Cast <to = 1> (@q)",
        INT8 + "@t = Add (@q, @q)\n@y = Cast <to = 1> (@t)",
    ],
)
def test_leaves_alone_what_is_not_certainly_whole(body: str) -> None:
    assert_untouched(PASS, written(body, "float[4] x", "float[4]"))


def test_certificates_know_where_the_numbers_come_from() -> None:
    body = f"{INT8}@t = Transpose (@q)\n@u = Cast <to = 1> (@t)\n@v = Cast <to = 1> (@q)\n"
    body += "@w = MatMul (@v, @u)\n@y = Relu (@w)"
    text = written(body, "float[3, 4] x", "float[3, 3]")
    result = run(onnx.parser.parse_model(text), passes=[PASS])
    (outcome,) = [o for o in result.report.outcomes if o.status is Status.APPLIED]
    found = [site.certificate for site in outcome.sites]
    assert len(found) == 2
    assert {c.status for c in found if c is not None} == {Verdict.EQUAL}
