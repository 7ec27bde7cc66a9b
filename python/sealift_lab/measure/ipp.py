"""Intel's library, to be compared with, as the Python package `ipp-crypto` brings it."""

import re
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from sealift_lab.model.sample import Skip


def find_ipp() -> Path | None:
    """The library in the installed package `ipp-crypto`; None when it isn't installed."""
    try:
        installed = files("ipp-crypto") or []
    except PackageNotFoundError:
        return None
    paths = (Path(file.locate()).resolve() for file in installed if file.name == IPP_LIBRARY)
    return next((path for path in paths if path.is_file()), None)


def with_ipp(device: str) -> str:
    """The same device; where `ipp` names no file, with the installed one.

    Without one the loader searches for it.

    Raises:
        Skip: If the path can't stand in a device's name.
    """
    path = find_ipp() if BARE_IPP.search(device) else None
    if path is None:
        return device
    if bad := sorted(set(str(path)) & set("(),")):
        raise Skip(
            f"a device can't name {path} because of its {' '.join(bad)}; install ipp-crypto into "
            "an environment whose path has none"
        )
    return BARE_IPP.sub(lambda _: f"ipp:lib={path}", device)


IPP_LIBRARY = "libippcp.so.13"
# The driver, alone or wrapped, without a setting.
BARE_IPP = re.compile(r"(?:^|(?<=\())ipp(?=$|\))")
