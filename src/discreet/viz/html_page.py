"""A page of HTML without outside parts, light or dark as its reader likes."""

from __future__ import annotations

from html import escape

_STYLE = """
:root{color-scheme:light dark;--ink:#1e293b;--paper:#fff;--soft:#64748b;--line:#e2e8f0;--card:#f8fafc}
@media(prefers-color-scheme:dark){:root{--ink:#e2e8f0;--paper:#0f172a;--soft:#94a3b8;--line:#334155;--card:#1e293b}}
body{font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
body{max-width:62rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:3rem;border-top:1px solid var(--line);padding-top:1.5rem}dt{color:var(--soft)}dd{margin:0 0 .5rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right}svg{color:inherit;max-width:100%;height:auto}.soft{color:var(--soft)}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}
.side{background:var(--card);border-radius:.5rem;padding:.75rem 1rem;overflow-x:auto}
.side table{font-size:.85rem}.side th{color:var(--soft);font-weight:500}.side td{overflow-wrap:anywhere}
"""


def page(title: str, body: str) -> str:
    """The whole page.

    Args:
        title: Its heading too; plain text.
        body: Its HTML.
    """
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>"
    )
