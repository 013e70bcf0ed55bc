"""`graphfix serve`: the address that it takes is one that there is, and is free."""

from __future__ import annotations

import socket
from importlib.util import find_spec

import pytest

from graphfix.cli import main

# Looked for, not imported: each worker collects this file, and one runs it.
NEEDED = ("fastapi", "uvicorn", "python_multipart")
pytestmark = pytest.mark.skipif(
    None in map(find_spec, NEEDED), reason="pip install 'graphfix[web]'"
)


def test_a_port_that_is_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert main(["serve", "--port", port]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"--port {port}: address already in use (give another one" in printed.err


def test_an_address_of_no_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", "no.such.host.invalid", "--port", "0"]) == 2
    assert "--host no.such.host.invalid: there is no such address (" in capsys.readouterr().err
