"""Routes of the page, which uses the public HTTP API, and of signing in. The page loads nothing from other sites."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from discreet.server.auth.page_sessions import LONGEST_SECONDS
from discreet.server.auth.service import address_of, cookie_of, holder_of, service_of, session_in
from discreet.server.http.thread_pools import in_thread
from discreet.server.schemas.query_bodies import SignIn

_KINDS = {".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}


def add_pages(app: FastAPI) -> None:
    """Add the page, its files, the OpenAPI document, and signing in."""
    page = files("discreet.server") / "page"
    parts = {**_parts(page), **{f"vendor/{name}": part for name, part in _parts(page / "vendor").items()}}

    @app.get("/openapi.json", include_in_schema=False)
    def document(request: Request) -> Response:
        return JSONResponse({**app.openapi(), "servers": [{"url": _root(request)}]})

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def home() -> str:
        return (page / "index.html").read_text()

    @app.get("/api", response_class=HTMLResponse, include_in_schema=False)
    def api() -> str:
        return (page / "api.html").read_text()

    @app.get("/page/{name:path}", include_in_schema=False)
    def part(name: str) -> Response:
        if name not in parts:
            return Response(status_code=404)
        return Response(parts[name].read_bytes(), media_type=_KINDS[PurePosixPath(name).suffix])

    app.get("/session", include_in_schema=False)(who)
    app.post("/session", status_code=204, include_in_schema=False)(sign_in)
    app.delete("/session", status_code=204, include_in_schema=False)(sign_out)


def _root(request: Request) -> str:
    """Return the path of the page as browsers write it; its cookie is limited to that path."""
    return quote(request.scope["root_path"]) or "/"


def _parts(folder: Traversable) -> dict[str, Traversable]:
    """Return the files of a folder that browsers may load."""
    return {part.name: part for part in folder.iterdir() if PurePosixPath(part.name).suffix in _KINDS}


def who(request: Request) -> dict[str, str | int | bool]:
    """Return who is signed in, whether they can sign out here, and which dataset is served."""
    holder, curator = holder_of(request), service_of(request).curator
    return {
        "name": holder.name,
        "role": holder.role,
        "signs_out": bool(session_in(request)),
        "dataset": curator.dataset,
        "data_version": curator.version,
    }


async def sign_in(given: SignIn, request: Request) -> Response:
    """Exchange a key or a sign-in link for a session. Scripts cannot read its cookie, and other sites cannot send it."""
    service = service_of(request)
    with service.sign_ins.admit(address_of(request)):
        if given.link is not None:
            token = await in_thread(service.pools.keys, service.sessions.open_by_link, given.link)
        else:
            token = await in_thread(service.pools.keys, service.sessions.open, given.key or "")
    response = Response(status_code=204)
    secure = request.url.scheme == "https"
    response.set_cookie(
        cookie_of(request),
        token,
        httponly=True,
        samesite="strict",
        secure=secure,
        max_age=LONGEST_SECONDS,
        path=_root(request),
    )
    return response


def sign_out(request: Request) -> Response:
    """End the session and delete its cookie."""
    service_of(request).sessions.end(session_in(request))
    response = Response(status_code=204)
    response.delete_cookie(cookie_of(request), httponly=True, samesite="strict", path=_root(request))
    return response
