"""--lora: adapters into the weights, out as inputs, and from another file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, helper, numpy_helper

import graphfix
from graphfix import UsageError, edits
from graphfix.cli import main
from tests.edits.small_models import TOWER, checked, parsed, ran, samples

HEAD = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>'
A, B, W = samples(6, 2), samples(2, 5, seed=1), samples(6, 5, seed=2)
HALF = np.array(0.5, np.float32)
MERGED = W + 0.5 * (A.astype(np.float64) @ B)
STORED = {"w": W, "lora_A": A, "lora_B": B, "scale": HALF, "c": samples(5)}
# y = x W + scale (x A) B as torch.onnx leaves it: name -> nodes.
FORMS = {
    "plain": "p = MatMul (x, w) d = MatMul (x, lora_A) u = MatMul (d, lora_B) "
    "s = Mul (u, scale) y = Add (p, s)",
    "the other way round": "p = MatMul (x, w) d = MatMul (x, lora_A) u = MatMul (d, lora_B) "
    "s = Mul (scale, u) y = Add (s, p)",
    "scaled before": "p = MatMul (x, w) d = MatMul (x, lora_A) s = Mul (d, scale) "
    "u = MatMul (s, lora_B) y = Add (p, u)",
    "divided": "p = MatMul (x, w) d = MatMul (x, lora_A) u = MatMul (d, lora_B) "
    "s = Div (u, two) y = Add (p, s)",
    "dropout": "p = MatMul (x, w) i = Identity (x) o = Dropout (i) d = MatMul (o, lora_A) "
    "u = MatMul (d, lora_B) s = Mul (u, scale) y = Add (p, s)",
    "bias": "q = MatMul (x, w) p = Add (c, q) d = MatMul (x, lora_A) u = MatMul (d, lora_B) "
    "s = Mul (u, scale) y = Add (p, s)",
    "Gemm": "p = Gemm <transB = 1, alpha = 2.0> (x, w_t, c) d = Gemm <transB = 1> (x, lora_A_t) "
    "u = Gemm <transB = 1, alpha = 2.0> (d, lora_B_t) s = Mul (u, scale) y = Add (p, s)",
    "Transpose": "v = Transpose <perm = [1, 0]> (w_t) p = MatMul (x, v) "
    "a = Transpose <perm = [1, 0]> (lora_A_t) b = Transpose <perm = [1, 0]> (lora_B_t) "
    "d = MatMul (x, a) u = MatMul (d, b) s = Mul (u, scale) y = Add (p, s)",
}
TURNED = {"w_t": W.T, "lora_A_t": A.T, "lora_B_t": B.T, "two": np.array(2, np.float32)}
ENDS = "(float[N, 6] x) => (float[N, 5] y)"


def model_of(nodes: str, ends: str = ENDS, **other: Any) -> ModelProto:
    """Return a checked model of some nodes with what they read of the weights."""
    model = onnx.parser.parse_model(f"{HEAD} g {ends} {{ {nodes} }}")
    known = {**STORED, **TURNED, **other}
    read = {name for node in model.graph.node for name in node.input}
    for node in model.graph.node:
        for attribute in node.attribute:
            read |= {name for inner in attribute.g.node for name in inner.input}
    model.graph.initializer.extend(
        numpy_helper.from_array(np.ascontiguousarray(known[name]), name)
        for name in sorted(read & known.keys())
    )
    onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    return model


def stored(model: ModelProto) -> dict[str, np.ndarray[Any, Any]]:
    """Return what a model stores."""
    return {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}


@pytest.mark.parametrize("form", FORMS)
def test_adapters_are_merged(form: str) -> None:
    model = model_of(FORMS[form])
    found = edits.lora(model, "in")
    assert found.steps[0].said == ("1 adapter is in the weights, rounded to float32",)
    merged = checked(found)
    named = stored(merged)
    weight = named.pop("w_t").T if "w_t" in named else named.pop("w")
    np.testing.assert_allclose(weight, MERGED, rtol=1e-6, atol=1e-6)
    assert set(named) <= {"c"}
    ops = [node.op_type for node in merged.graph.node]
    assert ops in (["MatMul"], ["MatMul", "Add"], ["Gemm"], ["Transpose", "MatMul"])
    x = samples(3, 6, seed=5)
    np.testing.assert_allclose(ran(merged, x=x)["y"], ran(model, x=x)["y"], rtol=1e-5, atol=1e-5)


def test_merging_float16_says_so() -> None:
    half = {name: array.astype(np.float16) for name, array in STORED.items()}
    ends = "(float16[N, 6] x) => (float16[N, 5] y)"
    found = edits.lora(model_of(FORMS["plain"], ends, **half), "in")
    assert found.steps[0].said[0].endswith("rounded to float16")
    assert stored(checked(found))["w"].dtype == np.float16


def test_two_adapters_of_one_product_and_a_weight_that_others_read() -> None:
    nodes = FORMS["plain"].replace("y = Add", "z = Add") + (
        " e = MatMul (x, lora_C) f = MatMul (e, lora_D) y = Add (f, z) k = Neg (w)"
    )
    more = {"lora_C": samples(6, 1, seed=8), "lora_D": samples(1, 5, seed=9)}
    model = model_of(nodes, "(float[N, 6] x) => (float[N, 5] y, float[6, 5] k)", **more)
    found = edits.lora(model, "in")
    assert found.steps[0].said[0].startswith("2 adapters are in the weights")
    merged = checked(found)
    assert [node.op_type for node in merged.graph.node] == ["MatMul", "Neg"]
    named = stored(merged)
    np.testing.assert_array_equal(named["w"], W)
    whole = MERGED + more["lora_C"].astype(np.float64) @ more["lora_D"]
    (other,) = [
        array
        for name, array in named.items()
        if name.startswith("w_merged") and name == merged.graph.node[0].input[1]
    ]
    np.testing.assert_allclose(other, whole, rtol=1e-5, atol=1e-6)


def test_windows() -> None:
    ends = "(float[N, 3, H, V] x) => (float[N, 4, h, v] y)"
    nodes = (
        "p = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x, k, c4)"
        "d = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x, lora_K)"
        "u = Conv <kernel_shape = [1, 1]> (d, lora_L) s = Mul (u, scale) y = Add (p, s)"
    )
    one, two = samples(2, 3, 3, 3, seed=3), samples(4, 2, 1, 1, seed=4)
    values = {"k": samples(4, 3, 3, 3), "c4": samples(4), "lora_K": one, "lora_L": two}
    merged = checked(edits.lora(model_of(nodes, ends, **values), "in"))
    assert [node.op_type for node in merged.graph.node] == ["Conv"]
    delta = 0.5 * np.einsum("nr,rkhw->nkhw", two[:, :, 0, 0], one)
    np.testing.assert_allclose(stored(merged)["k"], values["k"] + delta, rtol=1e-5, atol=1e-6)
    other = nodes.replace(
        "strides = [2, 2], pads = [1, 1, 1, 1]> (x, lora_K)", "strides = [2, 2]> (x, lora_K)"
    )
    with pytest.raises(UsageError, match="no sum adds a pair of small products"):
        edits.lora(model_of(other.replace("H, V", "9, 9"), ends, **values), "in")


def test_adapters_in_a_branch() -> None:
    inner = FORMS["plain"].replace("y = Add (p, s)", "r = Add (p, s)")
    nodes = (
        f"y = If (yes) <then_branch = t () => (float[N, 5] r) {{ {inner} }},"
        " else_branch = e () => (float[N, 5] q) { q = MatMul (x, w) }>"
    )
    model = model_of(nodes, "(float[N, 6] x, bool yes) => (float[N, 5] y)")
    merged = checked(edits.lora(model, "in"))
    assert sorted(stored(merged)) == ["w", "w_merged"]
    assert [n.op_type for n in merged.graph.node[0].attribute[0].g.node] == ["MatMul"]


@pytest.mark.parametrize(
    "nodes",
    [
        "p = MatMul (x, w) d = MatMul (x, lora_A) r = Relu (d) "
        "u = MatMul (r, lora_B) y = Add (p, u)",
        "n = Neg (x) p = MatMul (x, w) d = MatMul (n, lora_A) u = MatMul (d, lora_B) "
        "y = Add (p, u)",
        "p = MatMul (x, w) d = MatMul (x, lora_A) u = MatMul (d, lora_B) y = Sub (p, u)",
        "p = MatMul (x, w) d = MatMul (x, wide_A) u = MatMul (d, wide_B) y = Add (p, u)",
    ],
)
def test_what_is_no_adapter(nodes: str) -> None:
    wide: dict[str, Any] = {"wide_A": samples(6, 7), "wide_B": samples(7, 5)}
    with pytest.raises(UsageError, match="no sum adds a pair of small products to one of the same"):
        edits.lora(model_of(nodes, **wide), "in")


def test_a_base_of_few_bits_is_refused_with_what_to_do() -> None:
    nodes = (
        "p = com.microsoft.MatMulNBits <K = 16, N = 5, bits = 4, block_size = 16> (x, q, s5) "
        "d = MatMul (x, lora_A) u = MatMul (d, lora_B) s = Mul (u, scale) y = Add (p, s)"
    )
    values = {
        "q": np.arange(40, dtype=np.uint8).reshape(5, 1, 8),
        "s5": np.ones(5, np.float32),
        "lora_A": samples(16, 2),
    }
    model = model_of(nodes, "(float[N, 16] x) => (float[N, 5] y)", **values)
    with pytest.raises(
        UsageError, match="weights of MatMulNBits 'p' are not stored as floats"
    ) as e:
        edits.lora(model, "in")
    assert e.value.hint == "--weights-to floats comes first"
    merged = edits.edit(model, [edits.WeightsTo("floats"), edits.Lora("in")])
    assert [n.op_type for n in checked(merged).graph.node] == ["MatMul"]
    rounded = edits.weights_to(merged.model.to_proto(), "blocks,rounded")
    assert [n.op_type for n in checked(rounded).graph.node] == ["MatMulNBits"]
    out = checked(edits.lora(model, "out=a.npz"))
    assert [i.name for i in out.graph.input] == ["x", "lora_A", "lora_B"]


@pytest.mark.parametrize("form", FORMS)
def test_adapters_are_inputs_of_any_rank_and_come_from_other_files(
    form: str, tmp_path: Path
) -> None:
    (tmp_path / "m.onnx").write_bytes(model_of(FORMS[form]).SerializeToString())
    model, out, file = (str(tmp_path / name) for name in ("m.onnx", "o.onnx", "a.npz"))
    assert main(["edit", model, "--lora", f"out={file}", "-o", out]) == 0
    opened = graphfix.load(out).to_proto()
    sizes = {
        i.name: [d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim]
        for i in opened.graph.input
    }
    t = "_t" if "lora_A_t" in sizes else ""
    turned = form == "Gemm"  # by the product itself
    assert sizes[f"lora_A{t}"] == (["lora_r", 6] if turned else [6, "lora_r"])
    assert sizes[f"lora_B{t}"] == ([5, "lora_r"] if turned else ["lora_r", 5])
    with np.load(file) as arrays:
        given = dict(arrays)
    assert given.keys() == {f"lora_A{t}", f"lora_B{t}"}
    x = samples(3, 6, seed=5)
    was = ran(graphfix.load(model).to_proto(), x=x)["y"]
    np.testing.assert_allclose(ran(opened, x=x, **given)["y"], was, rtol=1e-5, atol=1e-5)
    a, b = samples(6, 3, seed=11), samples(3, 5, seed=12)
    other: dict[str, Any] = {
        f"lora_A{t}": a.T if turned else a,
        f"lora_B{t}": b.T if turned else b,
    }
    np.savez(file, **other)
    for name in (model, out):
        assert main(["edit", name, "--lora", file, "-o", f"{out}.set.onnx", "--force"]) == 0
        result = graphfix.load(f"{out}.set.onnx").to_proto()
        assert [i.name for i in result.graph.input] == ["x"]
        want = ran(opened, x=x, **other)["y"]
        np.testing.assert_allclose(ran(result, x=x)["y"], want, rtol=1e-5, atol=1e-5)


def test_inputs_are_called_after_weights_modules_or_the_base() -> None:
    model = onnx.parser.parse_model(f"{HEAD} g {ENDS} {{ {FORMS['plain']} }}")
    del model.graph.node[:]
    pairs = [
        ("MatMul", "x m1", "d", "/q/lora_A/MatMul"),
        ("MatMul", "d m2", "u", "/q/lora_B/MatMul"),
    ]
    pairs += [("MatMul", "x w", "p", ""), ("Add", "p u", "z", "")]
    pairs += [("MatMul", "z m3", "e", ""), ("MatMul", "e m4", "f", ""), ("MatMul", "z v", "r", "")]
    pairs += [("Add", "f r", "y", "")]
    model.graph.node.extend(helper.make_node(o, i.split(), [r], n) for o, i, r, n in pairs)
    values = {
        "m1": A,
        "m2": B,
        "w": W,
        "m3": samples(5, 1),
        "m4": samples(1, 5),
        "v": samples(5, 5),
    }
    model.graph.initializer.extend(numpy_helper.from_array(v, n) for n, v in values.items())
    found = edits.lora(model, "out=a.npz")
    ends = {i.name: i.type.tensor_type.shape.dim for i in checked(found).graph.input}
    assert list(ends) == [
        "x",
        "q.lora_A.weight",
        "q.lora_B.weight",
        "v.lora_A.weight",
        "v.lora_B.weight",
    ]
    assert ends["q.lora_A.weight"][1].dim_param == "lora_r_2"
    assert ends["v.lora_B.weight"][0].dim_param == "lora_r_1"
    np.testing.assert_array_equal(found.arrays[Path("a.npz")]["q.lora_A.weight"], A)


def test_weights_that_adapters_share_are_inputs_of_their_own() -> None:
    nodes = FORMS["plain"].replace("y = Add", "z = Add") + (
        "k = Identity (lora_A) q = MatMul (x, v) e = MatMul (x, k) f = MatMul (e, lora_B) "
        "g = Add (f, q) y = Add (g, z)"
    )
    model = model_of(nodes, v=samples(6, 5, seed=4))
    out = checked(edits.lora(model, "out=a.npz"))
    names = ["x", "lora_A", "lora_B", "lora_A_", "lora_B_"]
    assert [i.name for i in out.graph.input] == names
    merged = checked(edits.lora(model, "in"))
    assert sorted(stored(merged)) == ["v", "w"]


def test_casts_that_change_nothing_and_biases_that_are_shared() -> None:
    nodes = (
        "b = Identity (c) q = MatMul (x, w) p = Add (b, q) i = Cast <to = 1> (x) "
        "d = MatMul (i, lora_A) u = MatMul (d, lora_B) s = Mul (u, scale) y = Add (p, s)"
    )
    merged = checked(edits.lora(model_of(nodes), "in"))
    assert [node.op_type for node in merged.graph.node] == ["Identity", "MatMul", "Add"]
    with pytest.raises(UsageError, match="no sum adds a pair"):
        edits.lora(
            model_of(
                nodes.replace("to = 1", "to = 10").replace(
                    "d = MatMul (i, lora_A)", "j = Cast <to = 1> (i) d = MatMul (j, lora_A)"
                )
            ),
            "in",
        )


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    model, file = model_of(FORMS["plain"]), tmp_path / "a.npz"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"lora_A": A}, "lacks lora_B"),
        ({"lora_A": A, "lora_B": B, "other": B}, "alone has other"),
        (
            {"lora_A": A.T, "lora_B": B},
            r"'lora_A' is float32\[2, 6\] there, the model has float32\[6, rank\]",
        ),
        ({"lora_A": A[:, :1], "lora_B": B}, "'lora_A' is of rank 1, 'lora_B' of 2"),
        ({"lora_A": A.astype(int), "lora_B": B}, r"is int64\[6, 2\] there"),
    ]
    for arrays, why in cases:
        np.savez(file, **arrays)
        with pytest.raises(UsageError, match=why):
            edits.lora(model, str(file))
    file.write_bytes(b"no")
    with pytest.raises(UsageError, match=r"is no \.npz file"):
        edits.lora(model, str(file))
    with pytest.raises(UsageError, match="No such file"):
        edits.lora(model, str(tmp_path / "none.npz"))
    with pytest.raises(UsageError, match="no sum adds a pair"):
        edits.lora(parsed(TOWER), "in")
    out = checked(edits.lora(model, f"out={file}"))
    with pytest.raises(UsageError, match=r"'lora_A' is an input, which --lora FILE\.npz stores"):
        edits.lora(out, "in")
    with pytest.raises(UsageError, match="the adapters are inputs already"):
        edits.lora(out, f"out={file}")


def test_a_file_that_is_there_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.onnx").write_bytes(model_of(FORMS["plain"]).SerializeToString())
    (tmp_path / "a.npz").write_bytes(b"mine")
    words = ["edit", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "o.onnx")]
    assert main([*words, "--lora", f"out={tmp_path / 'a.npz'}"]) == 2
    assert "was not written by graphfix" in capsys.readouterr().err
    assert main([*words, "--lora", "into"]) == 2
    assert (tmp_path / "a.npz").read_bytes() == b"mine"
    assert not (tmp_path / "o.onnx").exists()


TAIL = "d = MatMul (x, lora_A) u = MatMul (d, lora_B) s = Add (p, u) "
RARE = (
    "m = ReduceMax <keepdims = 0> (x) b = Greater (m, scale) "
    "y = If (b) <then_branch = t () => (float[N, 5] o) { o = Identity (p) }, "
    "else_branch = e () => (float[N, 5] o) { o = Identity (s) }>"
)


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ("p = MatMul (x, w) " + TAIL + RARE, "'p', to which it is added, is read by Identity"),
        (
            "q = MatMul (x, w) p = Add (q, c) " + TAIL + "r = Relu (q) y = Add (s, r)",
            "'q', to which it is added, is read by Relu",
        ),
    ],
)
def test_what_is_read_before_an_adapter_is_added_stays_what_it_was(nodes: str, why: str) -> None:
    model = model_of(nodes, scale=np.array(1e6, np.float32))  # no made input is as large
    with pytest.raises(UsageError, match=f"the adapter of Add 's' stays: {why}"):
        edits.lora(model, "in")


def test_an_output_before_an_adapter_is_added_stays_what_it_was() -> None:
    ends = "(float[N, 6] x) => (float[N, 5] p, float[N, 5] s)"
    model = model_of("p = MatMul (x, w) " + TAIL, ends)
    with pytest.raises(UsageError, match="'p', to which it is added, is an output"):
        edits.lora(model, "in")


def test_a_scale_that_adds_an_axis_is_none() -> None:
    nodes = FORMS["plain"].replace("y = Add (p, s)", "t = Add (p, s) y = Identity (t)")
    wide = model_of(nodes, ENDS.replace("[N, 5]", "[1, N, 5]"), scale=HALF.reshape(1, 1, 1))
    with pytest.raises(UsageError, match="no sum adds a pair"):
        edits.lora(wide, "in")
    assert checked(edits.lora(model_of(nodes, scale=HALF.reshape(1, 1)), "in"))
