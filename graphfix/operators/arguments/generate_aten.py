"""Write `aten.txt`: the schemas of the ATen operators that passes name (needs PyTorch).

    python -m graphfix.operators.arguments.generate_aten OPERATOR...

Source: the schemas that PyTorch registers, which are those of pytorch/pytorch
aten/src/ATen/native/native_functions.yaml, but for those that `line_of` leaves out.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphfix.operators.arguments.aten_table import line_of

FILE = Path(__file__).with_name("aten.txt")


def schemas(operators: Sequence[str]) -> Iterator[str]:
    """Yield a line for each overload: name, arguments with defaults, and the results."""
    torch: Any = importlib.import_module("torch")
    wanted = set(operators)
    for schema in torch._C._jit_get_all_schemas():
        domain, _, operator = schema.name.partition("::")
        if domain != "aten" or operator not in wanted:
            continue
        line = line_of(schema)
        if line is not None:
            yield line


def main(operators: Sequence[str]) -> int:
    """Write the file."""
    lines = sorted(set(schemas(operators)))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{FILE.name}: {len(lines)} overloads")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
