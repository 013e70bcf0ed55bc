"""Reproducers that can be given away: nothing of the owner's is in them, and the fault shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix import UsageError
from graphfix.ir.protos import normal_domain
from graphfix.pipeline.reproducers.anonymising import GOES_AWAY, anonymous_model
from graphfix.pipeline.reproducers.random_weights import Kept, numbered, scrambled
from graphfix.pipeline.validation import Validity, validity_of
from graphfix.testing import outputs_of
from tests.pipeline.reproducers.faulty import (
    ELEMENT,
    NAMES,
    RAISES,
    STRAY,
    WEIGHTS,
    kept_model,
    pass_file,
    reproduced,
    secret_model,
)


def leaks(folder: Path) -> list[tuple[str, str]]:
    """Return the names and the weights of the model that can be read in a folder."""
    weights = secret_model().graph.initializer[0].raw_data
    known = {name: name.encode() for name in NAMES}
    known |= {f"weight {n}": weights[n : n + 4] for n in range(0, len(weights), 4)}
    return [
        (path.name, name)
        for path in folder.rglob("*")
        if path.is_file()
        for name, raw in known.items()
        if raw in path.read_bytes()
    ]


@pytest.mark.parametrize("source", [ELEMENT, RAISES, STRAY, WEIGHTS])
def test_nothing_leaks_and_the_fault_shows(tmp_path: Path, source: str) -> None:
    made = reproduced(tmp_path, source)
    assert leaks(Path(made.folder))
    out = tmp_path / "out"
    found = graphfix.replay(made.folder, anonymize=out)
    assert (found.shows, found.anonymised, found.notes) == (True, str(out), ())
    assert leaks(out) == []
    assert graphfix.replay(out).shows is True
    assert kept_model(out).graph.node


@pytest.mark.parametrize("source", [ELEMENT, STRAY])
def test_a_run_can_write_them_anonymous_at_once(tmp_path: Path, source: str) -> None:
    made = reproduced(tmp_path, source, anonymize=True)
    assert leaks(Path(made.folder)) == []
    assert graphfix.replay(made.folder).shows is True


NAMED = ELEMENT.replace("    factor =", '    if node.name != "secret_node":\n'
    "        return build.Mul(node.inputs[0], -1.0)\n    factor =")  # fmt: skip


def test_a_fault_that_needs_the_names_is_not_written(tmp_path: Path) -> None:
    made = reproduced(tmp_path, NAMED)
    out = tmp_path / "out"
    found = graphfix.replay(made.folder, anonymize=out)
    assert (found.shows, found.exit_code, found.anonymised) == (True, 1, "")
    assert found.notes == (GOES_AWAY,)
    assert not out.exists()
    made = reproduced(tmp_path, NAMED, anonymize=True)
    assert (made.folder, made.reason) == ("", GOES_AWAY)


def test_a_fault_that_is_gone_is_not_written(tmp_path: Path) -> None:
    made = reproduced(tmp_path, ELEMENT)
    mended = pass_file(tmp_path, ELEMENT.replace("-1.01", "-1.0"))
    out = tmp_path / "out"
    found = graphfix.replay(made.folder, pass_files=[mended], anonymize=out)
    assert found.shows is False
    assert found.notes == ("nothing was anonymised, because the fault does not show",)
    assert not out.exists()


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    made = reproduced(tmp_path, ELEMENT)
    with pytest.raises(UsageError, match="is there already"):
        graphfix.replay(made.folder, anonymize=tmp_path)
    with pytest.raises(UsageError, match="the folder does not exist"):
        graphfix.replay(made.folder, anonymize=tmp_path / "none" / "out")


def test_all_names_of_a_model_with_subgraphs_and_functions_go() -> None:
    model = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17, "secret_domain" : 1],
         producer_name: "secret_tool", domain: "secret_place", doc_string: "secret_text">
        secret_g (float[secret_n, M] secret_x, bool secret_c) => (float[secret_n, M] secret_y) {
          secret_f = secret_domain.secret_function <secret_alpha = 2.0> (secret_x)
          secret_y = If (secret_c) <
            then_branch = secret_then () => (float[secret_n, M] secret_p)
            { secret_p = Neg (secret_f) },
            else_branch = secret_else () => (float[secret_n, M] secret_q)
            { secret_q = Abs (secret_x) }
          >
        }
        <domain: "secret_domain", opset_import: ["" : 17], doc_string: "secret_text">
        secret_function <secret_alpha> (secret_i) => (secret_o) {
          secret_k = Constant <value_float: float = @secret_alpha> ()
          secret_o = Mul (secret_i, secret_k)
        }
        """
    )
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "2*secret_n"
    plain, names = anonymous_model(model, Kept.SCALE)
    assert b"secret" not in plain.SerializeToString()
    assert validity_of(graphfix.load(plain)) == Validity("", "")
    assert names["secret_x"] == plain.graph.input[0].name
    dims = [d.dim_param for d in plain.graph.input[0].type.tensor_type.shape.dim]
    assert dims == ["d0", "2*d0"]
    assert {normal_domain(n.domain) for n in plain.graph.node} == {"local", ""}
    feed = np.ones((2, 4), np.float32)
    for flag in (True, False):
        reported: list[Any] = []
        for proto in (model, plain):
            x, c = (info.name for info in proto.graph.input)
            reported += outputs_of(proto, {x: feed, c: np.array(flag)}).values()
        np.testing.assert_array_equal(reported[0], reported[1])


def test_random_weights_are_like_those_they_stand_for() -> None:
    rng = np.random.default_rng(3)
    values = (rng.standard_normal((200, 300)) * 0.3 + 2).astype(np.float16)
    values[0, :5] = [np.nan, np.inf, -np.inf, 0, 0]
    tensor = onnx.numpy_helper.from_array(values, "secret")
    made = scrambled(tensor, Kept.SCALE, np.random.default_rng(5))
    fresh = onnx.numpy_helper.to_array(made)
    assert (fresh.dtype, fresh.shape, made.name) == (values.dtype, values.shape, "")
    finite = np.isfinite(values)
    assert np.isfinite(fresh).tolist() == finite.tolist()
    old, new = values[finite].astype(np.float64), fresh[finite].astype(np.float64)
    np.testing.assert_allclose([new.mean(), new.std()], [old.mean(), old.std()], rtol=0.02)
    assert new.min() >= old.min()
    assert new.max() <= old.max()
    assert np.mean(old == new) < 0.02


def test_what_the_fault_may_need_is_kept_step_by_step() -> None:
    rng = np.random.default_rng(5)
    values = np.array([0, 1, 1, 2, 0, 3] * 10, np.float32)
    tensor = onnx.numpy_helper.from_array(values)
    fresh = onnx.numpy_helper.to_array(scrambled(tensor, Kept.PATTERN, rng))
    assert ((fresh == 0) == (values == 0)).all()
    assert np.unique(fresh[values == 1]).size == 1
    assert not (fresh[values != 0] == values[values != 0]).all()
    few = onnx.numpy_helper.from_array(np.array([0.5, 1e-5], np.float32))
    assert scrambled(few, Kept.PATTERN, rng).raw_data != few.raw_data
    assert scrambled(few, Kept.SMALL, rng).raw_data == few.raw_data


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8])
def test_axes_and_shapes_stay(dtype: type[np.generic]) -> None:
    axes = np.array([0, 2, 1], dtype)
    made = scrambled(onnx.numpy_helper.from_array(axes), Kept.SCALE, np.random.default_rng(1))
    assert onnx.numpy_helper.to_array(made).tolist() == [0, 2, 1]
    many = (np.arange(500) % 100).astype(dtype)
    made = scrambled(onnx.numpy_helper.from_array(many), Kept.SCALE, np.random.default_rng(1))
    fresh = onnx.numpy_helper.to_array(made)
    assert fresh.dtype == dtype
    assert (fresh != many).any()
    assert 0 <= fresh.min() <= fresh.max() <= 99


def test_words_are_numbered() -> None:
    assert numbered([b"cat", b"", b"dog", b"cat"]) == [b"s0", b"", b"s1", b"s0"]
    words = np.array(["cat", "dog", "cat"], dtype=object)
    made = scrambled(onnx.numpy_helper.from_array(words), Kept.SMALL, np.random.default_rng(1))
    assert list(made.string_data) == [b"s0", b"s1", b"s0"]
