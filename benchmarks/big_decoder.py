"""Write a decoder with gigabytes of weights, zeros in a sparse file, and edit it.

    python -m benchmarks.big_decoder FOLDER [--layers 48] [--keys 4] [-- OPTIONS of graphfix edit]

The decoder is of Llama's kind: 2048 numbers for a token, 16 heads that share keys, a mask as an
input. 48 layers have 8.6 GiB, of which the file takes no room. Prints the exit code, the seconds,
those of a processor, and the most memory that all processes of the edit held together, mapped
files and all.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, numpy_helper

WIDTH, HEADS, WIDE, TOKENS = 2048, 16, 5632, 32000
SIZE = WIDTH // HEADS
START = """
  ps = Shape <start = 2, end = 3> (past_key_0)
  ss = Shape <start = 1, end = 2> (input_ids)
  p = Squeeze (ps)
  s = Squeeze (ss)
  t = Add (p, s)
  places = Range (p, t, one)
  keys = Range (zero, t, one)
  column = Unsqueeze (places, at_1)
  before = LessOrEqual (keys, column)
  asked = Cast <to = 9> (attention_mask)
  wide = Unsqueeze (asked, masks)
  both = And (before, wide)
  mask = Where (both, nothing, lowest)
  own = Cast <to = 1> (column)
  angles = Mul (own, frequencies)
  angle = Concat <axis = -1> (angles, angles)
  cosine = Cos (angle)
  sine = Sin (angle)
  h_0 = Gather (embedding, input_ids)
"""
NORM = """
  {out}_s = Mul ({x}, {x})
  {out}_m = ReduceMean <axes = [-1]> ({out}_s)
  {out}_e = Add ({out}_m, epsilon)
  {out}_r = Sqrt ({out}_e)
  {out} = Div ({x}, {out}_r)
"""
TURN = """
  {x}_a = Slice ({x}, at_0z, half, last)
  {x}_b = Slice ({x}, half, end, last)
  {x}_n = Neg ({x}_b)
  {x}_h = Concat <axis = -1> ({x}_n, {x}_a)
  {x}_c = Mul ({x}, cosine)
  {x}_d = Mul ({x}_h, sine)
  {x}_turned = Add ({x}_c, {x}_d)
"""
LAYER = (
    NORM.replace("{x}", "h_#").replace("{out}", "n_#")
    + """
  q_# = MatMul (n_#, wq_#)
  k_# = MatMul (n_#, wk_#)
  v_# = MatMul (n_#, wv_#)
  qr_# = Reshape (q_#, own_heads)
  kr_# = Reshape (k_#, few_heads)
  vr_# = Reshape (v_#, few_heads)
  qt_# = Transpose <perm = [0, 2, 1, 3]> (qr_#)
  kt_# = Transpose <perm = [0, 2, 1, 3]> (kr_#)
  vt_# = Transpose <perm = [0, 2, 1, 3]> (vr_#)
"""
    + (TURN.replace("{x}", "qt_#") + TURN.replace("{x}", "kt_#")).replace("at_0z", "at_0")
    + """
  present_key_# = Concat <axis = 2> (past_key_#, kt_#_turned)
  present_value_# = Concat <axis = 2> (past_value_#, vt_#)
  ku_# = Unsqueeze (present_key_#, at_2)
  vu_# = Unsqueeze (present_value_#, at_2)
  ke_# = Tile (ku_#, every)
  ve_# = Tile (vu_#, every)
  kg_# = Reshape (ke_#, grouped)
  vg_# = Reshape (ve_#, grouped)
  kx_# = Transpose <perm = [0, 1, 3, 2]> (kg_#)
  scores_# = MatMul (qt_#_turned, kx_#)
  scaled_# = Mul (scores_#, scale)
  hidden_# = Add (scaled_#, mask)
  shares_# = Softmax (hidden_#)
  mixed_# = MatMul (shares_#, vg_#)
  back_# = Transpose <perm = [0, 2, 1, 3]> (mixed_#)
  joined_# = Reshape (back_#, flat)
  o_# = MatMul (joined_#, wo_#)
  mid_# = Add (h_#, o_#)
"""
    + NORM.replace("{x}", "mid_#").replace("{out}", "m_#")
    + """
  gate_# = MatMul (m_#, wgate_#)
  open_# = Sigmoid (gate_#)
  act_# = Mul (gate_#, open_#)
  up_# = MatMul (m_#, wup_#)
  mul_# = Mul (act_#, up_#)
  down_# = MatMul (mul_#, wdown_#)
  h_## = Add (mid_#, down_#)
"""
)


def _numbers(keys: int) -> Mapping[str, object]:
    return {
        "zero": 0,
        "one": 1,
        "at_0": [0],
        "at_1": [1],
        "at_2": [2],
        "last": [-1],
        "masks": [1, 2],
        "half": [SIZE // 2],
        "end": [2**62],
        "own_heads": [0, 0, HEADS, SIZE],
        "few_heads": [0, 0, keys, SIZE],
        "flat": [0, 0, WIDTH],
        "every": [1, 1, HEADS // keys, 1, 1],
        "grouped": [0, HEADS, -1, SIZE],
    }


def _weights(layers: int, keys: int) -> dict[str, tuple[int, int]]:
    """Return the sizes of each matrix."""
    inner, outer = (WIDTH, WIDE), (WIDE, WIDTH)
    given = (WIDTH, keys * SIZE)
    whole = (WIDTH, WIDTH)
    kinds = {
        "q": whole,
        "k": given,
        "v": given,
        "o": whole,
        "gate": inner,
        "up": inner,
        "down": outer,
    }
    each = {f"w{kind}_{i}": size for i in range(layers) for kind, size in kinds.items()}
    return {"embedding": (TOKENS, WIDTH), **each, "head": (WIDTH, TOKENS)}


def decoder(layers: int, keys: int) -> ModelProto:
    """Return it, with weights that are in `w.bin`."""
    body = [START]
    for layer in range(layers):
        body.append(LAYER.replace("##", str(layer + 1)).replace("#", str(layer)))
    names = [f"{kind}_{layer}" for layer in range(layers) for kind in ("key", "value")]
    cache = f"float[B, {keys}, {{}}, {SIZE}]"
    given = ["int64[B, S] input_ids", "int64[B, T] attention_mask"]
    given += [f"{cache.format('P')} past_{name}" for name in names]
    made = [f"float[B, S, {TOKENS}] logits"]
    made += [f"{cache.format('T')} present_{name}" for name in names]
    model = onnx.parser.parse_model(
        f'<ir_version: 9, opset_import: ["" : 17]> g ({", ".join(given)}) => ({", ".join(made)}) '
        f"{{ {''.join(body)} logits = MatMul (h_{layers}, head) }}"
    )
    reach = 10000.0 ** (-np.arange(SIZE // 2) / (SIZE // 2))
    floats = {"nothing": 0, "lowest": np.finfo(np.float32).min, "epsilon": 1e-5}
    floats |= {"scale": SIZE**-0.5, "frequencies": reach}
    stored = {name: np.array(value, np.int64) for name, value in _numbers(keys).items()}
    stored |= {name: np.array(value, np.float32) for name, value in floats.items()}
    model.graph.initializer.extend(numpy_helper.from_array(x, name) for name, x in stored.items())
    at = 0
    for name, size in _weights(layers, keys).items():
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=size)
        tensor.data_location = TensorProto.EXTERNAL
        length = 4 * size[0] * size[1]
        for key, value in {"location": "w.bin", "offset": at, "length": length}.items():
            tensor.external_data.add(key=key, value=str(value))
        model.graph.initializer.append(tensor)
        at += length
    return model


def written(folder: Path, layers: int, keys: int) -> Path:
    """Write the model and its file of weights, which has no block of a disk."""
    model = decoder(layers, keys)
    sizes = _weights(layers, keys).values()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "w.bin").open("wb") as stream:
        stream.truncate(4 * sum(rows * columns for rows, columns in sizes))
    path = folder / "big.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def measured(command: Sequence[str]) -> str:
    """Run a command; return how it ended, and what it took."""
    begun, most = time.monotonic(), 0
    with subprocess.Popen(command, start_new_session=True) as process:
        while process.poll() is None:
            most = max(most, _held(process.pid))
            time.sleep(0.05)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, worked = time.monotonic() - begun, used.ru_utime + used.ru_stime
    return (
        f"exit code {process.returncode}, {seconds:.0f} s, {worked:.0f} s of a processor, "
        f"{most / 2**20:.0f} MiB"
    )


def _held(session: int) -> int:
    """Return the bytes that the processes of a session hold, shared pages by their share."""
    total = 0
    for folder in Path("/proc").iterdir():
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                lines = (folder / "smaps_rollup").read_text().splitlines()
                total += sum(1024 * int(x.split()[1]) for x in lines if x.startswith("Pss:"))
        except (OSError, IndexError, ValueError):  # no process, or one that has just ended
            continue
    return total


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--keys", type=int, default=4, help="heads that have keys of their own")
    parser.add_argument("options", nargs="*", help="after `--`: for `graphfix edit`")
    given = parser.parse_args()
    path = written(given.folder, given.layers, given.keys)
    options = given.options or ["--static-cache", "1024", "--prefill", "128"]
    out = ["-o", str(given.folder / "edited.onnx"), "--force"]
    print(measured([sys.executable, "-m", "graphfix", "edit", str(path), *options, *out]))


if __name__ == "__main__":
    main()
