"""The worker's processes: ``template FD PARENT`` forks children, ``once FOLDER`` is one."""

from __future__ import annotations

import os
import socket
import sys
import threading
from importlib import import_module
from pathlib import Path

from graphfix.worker.child import serve
from graphfix.worker.limits import single_threaded


def main(words: list[str]) -> None:
    """Be what the words say."""
    if words[0] == "template":
        from graphfix.worker.template import become_template

        become_template(socket.socket(fileno=int(words[1])), int(words[2]))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with single_threaded():
        import_module("numpy")
    serve(Path(words[1]))


def _end_with_parent() -> None:
    """End this process when its parent does: nothing ever comes on stdin but the end."""
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
