"""Figures inside HTML with the scripts that draw them: nothing is fetched, nothing else runs."""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from string import Template
from typing import Any

from sealift.lab import vega
from sealift.lab.vega import Spec


def figure_page(spec: Spec) -> str:
    """One figure as an HTML file that needs nothing beside itself."""
    scripts = [vega_bundle(), DRAWING]
    return Template(PAGE).substitute(
        policy=policy(scripts), spec=json_in_script(spec), bundle=scripts[0], script=scripts[1]
    )


@lru_cache(maxsize=1)
def vega_bundle() -> str:
    """Vega, Vega-Lite and vegaEmbed as one script."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vega.VERSION)


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
