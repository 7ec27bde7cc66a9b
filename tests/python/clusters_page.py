"""The code that docs/clusters.md shows."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/clusters.md"


def code(section: str, data: Path, keys: Path) -> str:
    """The Python block of a section, with these paths in place of those that it shows."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2]
    (block,) = re.findall(r"```python\n(.*?)```", text.partition("\n## ")[0], re.DOTALL)
    return str(block).replace("/data/", f"{data}/").replace("/etc/sealift/keys.toml", str(keys))
