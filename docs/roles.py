"""Docstrings say :func:`grad`; the site shows the name."""

import re
from typing import Any

_ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|exc):<code>~?([^<]*)</code>")


def on_page_content(html: str, **_: Any) -> str:
    """Called by MkDocs with each page."""
    return _ROLE.sub(r"<code>\1</code>", html)
