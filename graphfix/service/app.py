"""The pages of `graphfix serve`: hand a model in, wait, read its report, take the result.

Pages are plain forms without scripts. A model is known by a key that no one can guess; requests
from pages of other sites, and under names that are not this machine's, are refused.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from graphfix.errors import UsageError
from graphfix.service.desk import MODEL, REPORT, RESULT, Desk, Limits, Piece

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

HINT = 'pip install "graphfix[web]"'
_FORM = 1 << 16  # what a request holds next to the file
_NAME_MOST = 200
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    # Under no-referrer browsers send the origin of a form as null, and it could not be
    # distinguished.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(
    targets: Sequence[tuple[str, str]], limits: Limits, jobs: int, hosts: Sequence[str]
) -> Any:
    """Return the ASGI application.

    Args:
        targets: Names and titles of the targets that can be chosen; the first is the default.
        limits: What a model may take.
        jobs: How many are worked on at a time.
        hosts: The names by which this machine may be asked.

    Raises:
        UsageError: FastAPI is not installed.
    """
    try:
        fastapi: Any = import_module("fastapi")
        import_module("python_multipart")
        trusted: Any = import_module("starlette.middleware.trustedhost").TrustedHostMiddleware
    except ImportError as error:
        raise UsageError("FastAPI is not installed", where="graphfix serve", hint=HINT) from error
    pages = _Pages(Desk(limits, jobs), targets)

    @asynccontextmanager
    async def life(_app: object) -> AsyncGenerator[None]:
        yield
        pages.desk.close()

    app = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=life)
    app.add_middleware(trusted, allowed_hosts=list(hosts))
    app.add_route("/", pages.start, methods=["GET"])
    app.add_route("/models", pages.hand_in, methods=["POST"])
    app.add_route("/models/{key}", pages.show, methods=["GET"])
    app.add_route("/models/{key}/report", pages.report, methods=["GET"])
    app.add_route("/models/{key}/result", pages.result, methods=["GET"])
    app.add_route("/models/{key}/remove", pages.remove, methods=["POST"])
    return app


class _Pages:
    """What each address answers."""

    def __init__(self, desk: Desk, targets: Sequence[tuple[str, str]]) -> None:
        self.desk = desk
        self._targets = targets
        self._answers: Any = import_module("starlette.responses")
        jinja: Any = import_module("jinja2")
        loader = jinja.FileSystemLoader(Path(__file__).parent)
        pages = jinja.Environment(loader=loader, autoescape=True, trim_blocks=True)
        self._template = pages.get_template("pages.html.j2")

    async def start(self, _request: Any) -> Any:
        return self._page("start", targets=self._targets, limits=self.desk.limits)

    async def hand_in(self, request: Any) -> Any:
        if not _own(request):
            return self._refused(403, "the request comes from a page of another site")
        length = request.headers.get("content-length", "")
        if not length.isdigit():
            return self._refused(411, "the length of the file is missing")
        if int(length) > self.desk.limits.size + _FORM:
            most = self.desk.limits.size >> 20
            return self._refused(413, f"the file is larger than the {most} MiB that are taken here")
        if self.desk.full:
            return self._refused(503, "there are too many models already; try again later")
        refusal: Any = import_module("starlette.exceptions").HTTPException
        try:
            return await self._taken(request)
        except refusal as error:
            return self._refused(
                error.status_code, f"the form is none of this page: {error.detail}"
            )
        except OSError as error:
            return self._refused(507, f"the file cannot be kept here: {error.strerror}")

    async def _taken(self, request: Any) -> Any:
        """Take the model of a form."""
        async with request.form(max_files=1, max_fields=8) as form:
            sent, target = form.get("model"), form.get("target")
            if target not in {name for name, _ in self._targets}:
                return self._refused(400, "there is no such target")
            if sent is None or isinstance(sent, str) or not sent.filename:
                return self._refused(400, "no file was chosen")
            options = ["--allow-lossy"] if form.get("lossy") else []
            name = PurePosixPath(sent.filename.replace("\\", "/")).name[:_NAME_MOST]
            folder = self.desk.folder()
            try:
                with (folder / MODEL).open("wb") as file:
                    while chunk := await sent.read(1 << 20):
                        file.write(chunk)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        piece = self.desk.take(folder, name or MODEL, str(target), options)
        return self._answers.RedirectResponse(f"/models/{piece.key}", 303, headers=_HEADERS)

    async def show(self, request: Any) -> Any:
        piece = self._piece(request)
        if piece is None:
            return self._gone()
        made = {name: (piece.folder / name).is_file() for name in (REPORT, RESULT)}
        return self._page(
            "piece", piece=piece, row=piece.row, report=made[REPORT], result=made[RESULT]
        )

    async def report(self, request: Any) -> Any:
        piece = self._piece(request)
        path = None if piece is None else self._file(piece, REPORT)
        if path is None:
            return self._gone()
        # The page has a policy of its own, which lets its one script run.
        headers = {k: v for k, v in _HEADERS.items() if k != "Content-Security-Policy"}
        return self._answers.FileResponse(path, media_type="text/html", headers=headers)

    async def result(self, request: Any) -> Any:
        piece = self._piece(request)
        path = None if piece is None else self._file(piece, RESULT)
        if piece is None or path is None:
            return self._gone()
        name = f"{PurePosixPath(piece.name).stem}.{piece.target}.onnx"
        return self._answers.FileResponse(
            path, media_type="application/octet-stream", filename=name, headers=_HEADERS
        )

    async def remove(self, request: Any) -> Any:
        if not _own(request):
            return self._refused(403, "the request comes from a page of another site")
        self.desk.remove(request.path_params["key"])
        return self._answers.RedirectResponse("/", 303, headers=_HEADERS)

    def _piece(self, request: Any) -> Piece | None:
        return self.desk.get(request.path_params["key"])

    def _file(self, piece: Piece, name: str) -> Path | None:
        path = piece.folder / name
        return path if piece.row is not None and path.is_file() else None

    def _gone(self) -> Any:
        return self._refused(404, "there is no such model any more")

    def _refused(self, code: int, why: str) -> Any:
        return self._page("refused", code, why=why)

    def _page(self, name: str, code: int = 200, **said: Any) -> Any:
        text = self._template.render(page=name, **said)
        return self._answers.HTMLResponse(text, code, headers=_HEADERS)


def _own(request: Any) -> bool:
    """Say whether a request that changes something comes from a page of ours, or from no page."""
    origin: str | None = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == str(request.headers.get("host", ""))
