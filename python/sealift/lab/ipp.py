"""Intel's library, a peer of the lab, as the Python package `ipp-crypto` brings it."""

import re
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from sealift.lab.spec import Skip


def find_ipp() -> Path | None:
    """The library in the installed package `ipp-crypto`; None when it isn't installed."""
    try:
        installed = files("ipp-crypto") or []
    except PackageNotFoundError:
        return None
    found = (Path(file.locate()).resolve() for file in installed if file.name == IPP_LIBRARY)
    return next((path for path in found if path.is_file()), None)


def with_ipp(device: str) -> str:
    """The same device; where `ipp` names no file, with the one that is installed.

    Without one it is the loader that looks.

    Raises:
        Skip: If the file can't be named in a device.
    """
    path = find_ipp() if BARE_IPP.search(device) else None
    if path is None:
        return device
    if unspeakable := sorted(set(str(path)) & set("(),")):
        raise Skip(
            f"a device can't name {path} because of its {' '.join(unspeakable)}; install "
            "ipp-crypto into an environment whose path has none"
        )
    return BARE_IPP.sub(lambda _: f"ipp:lib={path}", device)


IPP_LIBRARY = "libippcp.so.13"
# The driver, alone or wrapped, without a setting.
BARE_IPP = re.compile(r"(?:^|(?<=\())ipp(?=$|\))")
