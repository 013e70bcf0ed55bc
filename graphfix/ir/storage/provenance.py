"""What nodes that repairs made say in their metadata: by which repair, and from which node."""

from __future__ import annotations

MADE_BY = "graphfix.made_by"
FROM = "graphfix.from"
