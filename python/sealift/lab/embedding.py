"""Figures inside HTML with the scripts that draw them: nothing is fetched, nothing else runs."""

import base64
import hashlib
import json
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any

from sealift.lab import vega
from sealift.lab.store import NotWrittenError, write_file
from sealift.lab.vega import Spec


def figure_page(spec: Spec) -> str:
    """One figure as an HTML file that needs nothing beside itself."""
    scripts = [vega_bundle(), DRAWING]
    return Template(PAGE).substitute(
        policy=policy(scripts), spec=json_in_script(spec), bundle=scripts[0], script=scripts[1]
    )


@lru_cache(maxsize=1)
def vega_bundle() -> str:
    """Vega, Vega-Lite and vegaEmbed as one script.

    It takes seconds to make, so the user's cache folder keeps it.
    """
    import vl_convert

    place = _place()
    if place is not None and (kept := _kept(place)):
        return kept
    made = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vega.VERSION)
    if place is not None:
        # Without it the next page takes longer, and nothing else.
        with suppress(OSError, NotWrittenError):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(place, f"{MARK}{_digest(made)}\n{made}", mode=0o600)
    return made


def why_not_kept() -> str:
    """What keeps this process's script from the next one, and what to do; "" where nothing does."""
    if not vega_bundle.cache_info().currsize:
        return ""
    place = _place()
    if place is not None and _kept(place):
        return ""
    named = "a folder of your own" if place is None else f"another folder than {place.parents[1]}"
    mended = "" if place is None else f"make {place.parent} yours alone to write, or "
    return (
        "the script that draws figures can't be kept, so pages take seconds longer: "
        f"{mended}name {named} in XDG_CACHE_HOME"
    )


def _place() -> Path | None:
    """Where the cache folder of whoever runs this has the script; None without such a folder."""
    name = f"vega-{vega.VERSION}-{version('vl-convert-python')}.js"
    caches, home = (Path(os.environ.get(each, "")) for each in ("XDG_CACHE_HOME", "HOME"))
    for folder in (caches, home / ".cache"):
        if folder.is_absolute():
            return folder / "sealift" / name
    return None


def _kept(place: Path) -> str:
    """A script that was kept; "" for none, or one that is not whole or may be somebody else's."""
    try:
        file = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(file, encoding="utf-8", newline="") as opened:
            if not (_is_own(os.fstat(opened.fileno())) and _is_own(place.parent.stat())):
                return ""
            mark, _, script = opened.read().partition("\n")
    except (OSError, UnicodeDecodeError):
        return ""
    return script if mark == f"{MARK}{_digest(script)}" else ""


def _is_own(status: os.stat_result) -> bool:
    """Whether nobody else may write it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def policy(scripts: Sequence[str]) -> str:
    """Only these scripts run, and nothing is fetched, whatever the data hold."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts if script)
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {hashes}"


def json_in_script(plain: Any) -> str:
    """JSON that no parser of HTML takes for markup.

    Raises:
        ValueError: If a number is none that JSON has.
    """
    text = json.dumps(plain, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


MARK = "// sha256 of what follows: "
# The interpreter of expressions needs no eval, which the policy forbids.
DRAWING = """
vegaEmbed("#figure", JSON.parse(document.getElementById("spec").textContent),
  { actions: false, ast: true, renderer: "svg", tooltip: { theme: "custom" } });
"""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sealift</title>
</head>
<body>
<div class="plot" id="figure"></div>
<script type="application/json" id="spec">$spec</script>
<script>$bundle</script>
<script>$script</script>
</body>
</html>
"""
