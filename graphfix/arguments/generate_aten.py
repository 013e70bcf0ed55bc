"""Write `aten.txt`: the schemas of the ATen operators that passes name (needs PyTorch).

    python -m graphfix.arguments.generate_aten OPERATOR...

Source: the schemas that PyTorch registers, which are those of pytorch/pytorch
aten/src/ATen/native/native_functions.yaml. Left out are overloads that write into ``out``, that
give no tensor, or that name dimensions by texts: no exporter writes them.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("aten.txt")
_ALIAS = re.compile(r"\([a-z](!?)( -> \*)?\)")


def schemas(operators: Sequence[str]) -> Iterator[str]:
    """Yield a line for each overload: name, arguments with defaults, and the results."""
    torch: Any = importlib.import_module("torch")
    wanted = set(operators)
    for schema in torch._C._jit_get_all_schemas():
        domain, _, operator = schema.name.partition("::")
        if domain != "aten" or operator not in wanted:
            continue
        text = str(schema)
        gives = text.rpartition("->")[2]
        written = (a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
        out = any(w and a.kwarg_only for w, a in zip(written, schema.arguments, strict=True))
        if out or "Dimname" in text or "..." in text or "Tensor" not in gives:
            continue
        yield _ALIAS.sub("", text.removeprefix("aten::"))


def main(operators: Sequence[str]) -> int:
    """Write the file."""
    lines = sorted(set(schemas(operators)))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{FILE.name}: {len(lines)} overloads")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
