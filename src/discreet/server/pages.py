"""The page: one document that asks the same API; no secrets in it, no framework, nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated

from fastapi import Body, FastAPI, Request, Response
from fastapi.responses import HTMLResponse

from discreet.server.keys import KeyBook

_COOKIE = "discreet_key"
_KINDS = {
    **dict.fromkeys(("page.js", "api.js", "device.js", "collect.js", "attacks.js", "curve.js"), "text/javascript"),
    "style.css": "text/css",
}


def add_pages(app: FastAPI, keys: KeyBook) -> None:
    """The page, its files, and signing in."""
    page = files("discreet.server") / "page"

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def home() -> str:
        return (page / "index.html").read_text()

    @app.get("/api", response_class=HTMLResponse, include_in_schema=False)
    def api() -> str:
        return (page / "api.html").read_text()

    @app.get("/page/{name}", include_in_schema=False)
    def part(name: str) -> Response:
        if name not in _KINDS:
            return Response(status_code=404)
        return Response((page / name).read_text(), media_type=_KINDS[name])

    @app.post("/session", status_code=204, include_in_schema=False)
    def sign_in(key: Annotated[str, Body(embed=True)], request: Request) -> Response:
        """Keep a good key in a cookie that scripts cannot read and other sites cannot send."""
        keys.holder(key)
        response = Response(status_code=204)
        secure = request.url.scheme == "https"
        response.set_cookie(_COOKIE, key, httponly=True, samesite="strict", secure=secure, max_age=8 * 3600)
        return response

    @app.delete("/session", status_code=204, include_in_schema=False)
    def sign_out() -> Response:
        response = Response(status_code=204)
        response.delete_cookie(_COOKIE, httponly=True, samesite="strict")
        return response
