"""What the rules on MNN share."""

from __future__ import annotations

WHEEL = "measured on MNN 3.6.1"
