"""What numpy does in a proof: operators of the domain ``graphfix.edits`` that no engine has."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

Array = np.ndarray[Any, Any]


def given(_: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Give a stored value, as a caller would feed it."""
    return (cast("Array", attributes["value"]),)
