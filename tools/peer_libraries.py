"""Installs the newest versions of libraries that `make bench-peers` compares with.

Usage: python tools/peer_libraries.py [FOLDER]

FOLDER is .venv/peers when left out. Intel's ipsec-mb is a Debian package: apt downloads the newest
version that loads here from this machine's mirror and checks it by Debian's signatures. The lists
and sources are separate ones, so nothing of the system changes. OpenSSL and BoringSSL are built, a
minute each, from the sources in the crates openssl-src and boring-sys, which cargo checks by
benches/peer-sources/Cargo.lock. ISA-L crypto is in no package index: it is looked for in FOLDER. A
library that can't be installed is a line with the reason. What is there already stays; delete
FOLDER to look for newer versions. Needs nothing but Python.
"""

import functools
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path


class UnavailableError(Exception):
    """Why a library can't be installed."""


def main() -> int:
    """Installs what can be installed; always 0, because a library may be absent."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".venv" / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    for name, install_library in LIBRARIES.items():
        try:
            # Beside its place, where a library is whole or not at all.
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                install_library(folder, Path(scratch))
        except UnavailableError as error:
            print(f"absent: {name}: {error}", file=sys.stderr)
    return 0


def install_ipsec_mb(folder: Path, scratch: Path) -> None:
    """The newest package of Debian's suites that loads on this machine."""
    if any(folder.glob("libIPSec_MB.so.*")):
        return
    targets = _run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], ROOT).split()
    mirror = next((uri for uri in targets if uri.rstrip("/").endswith("/debian")), None)
    if mirror is None:
        raise UnavailableError("this machine's apt has no mirror of Debian")
    reasons = []
    for suite, package in itertools.product(SUITES, PACKAGES):
        source = f"deb [signed-by={KEYRING}] {mirror} {suite} main\n"
        try:
            library = _unpack(source, package, scratch / suite / package)
        except UnavailableError as error:
            reasons.append(f"{suite}: {error}")
        else:
            # By the name that the loader knows, as in libIPSec_MB.so.2.
            library.replace(folder / ".".join(library.name.split(".")[:3]))
            return
    raise UnavailableError("; ".join(reasons))


def _unpack(source: str, package: str, scratch: Path) -> Path:
    """The library in a package of a source, by apt with lists and folders of its own."""
    for each in ("state/lists/partial", "cache/archives/partial"):
        (scratch / each).mkdir(parents=True)
    (scratch / "state" / "status").touch()
    (scratch / "sources.list").write_text(source, encoding="utf-8")
    settings = {
        "Dir::Etc::SourceList": scratch / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State": scratch / "state",
        "Dir::State::status": scratch / "state" / "status",
        "Dir::Cache": scratch / "cache",
        "Acquire::Languages": "none",
        # apt's own user may not write into the scratch folder.
        "APT::Sandbox::User": "",
    }
    apt = ["apt-get", "-qq", *(f"--option={name}={value}" for name, value in settings.items())]
    _run([*apt, "update"], scratch)
    _run([*apt, "download", package], scratch)
    _run(["dpkg-deb", "-x", next(scratch.glob("*.deb")).name, "root"], scratch)
    library = next(file for file in scratch.rglob("libIPSec_MB.so.*") if not file.is_symlink())
    _run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(library)!r})"], scratch)
    return library


def install_openssl(folder: Path, scratch: Path) -> None:
    """OpenSSL's libcrypto with little beside AES-GCM, linked as a shared library."""
    build = scratch / "openssl"
    whole = ["-Wl,--whole-archive", "libcrypto.a", "-Wl,--no-whole-archive", "-Wl,-Bsymbolic"]
    if target := _target("openssl-src", folder):
        shutil.copytree(_source("openssl-src") / "openssl", build)
        _run(["perl", "Configure", "linux-x86_64", *OPENSSL_SETTINGS], build)
        _run(["make", CORES, "build_generated"], build)
        _run(["make", CORES, "libcrypto.a"], build)
        _run(["cc", "-shared", "-s", "-o", "libcrypto.so", *whole, "-ldl", "-lpthread"], build)
        (build / "libcrypto.so").replace(target)


def install_boringssl(folder: Path, scratch: Path) -> None:
    """BoringSSL's libcrypto, built by its own cmake."""
    settings = ["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=1", "-DBUILD_TESTING=OFF"]
    # Its cmake adds debug information to any type of build.
    settings += [f"-DCMAKE_{language}_FLAGS_RELEASE=-O3 -DNDEBUG -g0" for language in ("C", "CXX")]
    if target := _target("boring-sys", folder):
        source = _source("boring-sys") / "deps" / "boringssl"
        _run(["cmake", "-S", source, "-B", ".", *settings], scratch)
        _run(["cmake", "--build", ".", "--target", "crypto", "--", CORES], scratch)
        (scratch / "libcrypto.so").resolve().replace(target)


def find_isal_crypto(folder: Path, _scratch: Path) -> None:
    """ISA-L crypto, which its user has put there."""
    if not (folder / ISAL_CRYPTO).exists():
        raise UnavailableError(f"no package index has it; put {ISAL_CRYPTO} into {folder}")


def _target(crate: str, folder: Path) -> Path | None:
    """Where the library of a crate's sources belongs, if it isn't there yet."""
    source = _source(crate)
    target = folder / f"libcrypto-{source.name}.so"
    if target.exists():
        return None
    print(f"Building {source.name}, a minute on two cores", file=sys.stderr)
    return target


@functools.cache
def _source(crate: str) -> Path:
    """The folder of a crate's sources, which cargo downloads and checks."""
    lock = ["--locked", "--manifest-path", str(SOURCES)]
    _run(["cargo", "fetch", *lock, "--target", PLATFORM], ROOT)
    form = ["--format-version=1", "--filter-platform", PLATFORM]
    packages = json.loads(_run(["cargo", "metadata", *lock, *form], ROOT))["packages"]
    found = next(each for each in packages if each["name"] == crate)
    return Path(found["manifest_path"]).parent


def _run(command: Sequence[str | Path], folder: Path) -> str:
    """What a command prints; its last line of errors is the reason when it fails."""
    try:
        ran = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(str(error)) from error
    if ran.returncode:
        lines = (ran.stderr or ran.stdout).strip().splitlines() or ["no message"]
        raise UnavailableError(f"{command[0]} failed: {lines[-1]}")
    return ran.stdout


ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "benches" / "peer-sources" / "Cargo.toml"
PLATFORM = "x86_64-unknown-linux-gnu"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# The newest first; a library that needs a newer C library than this machine's doesn't load.
SUITES = ("sid", "trixie")
PACKAGES = ("libipsec-mb3", "libipsec-mb2")
ISAL_CRYPTO = "libisal_crypto.so.2"
# Without what AES-GCM doesn't need: half of the library's files.
OPENSSL_SETTINGS = ("no-bulk", "no-tests", "no-apps", "no-docs", "no-legacy", "-fPIC")
CORES = f"-j{len(os.sched_getaffinity(0))}"
TIMEOUT_S = 900.0
LIBRARIES: dict[str, Callable[[Path, Path], None]] = {
    "ipsec-mb": install_ipsec_mb,
    "openssl": install_openssl,
    "boringssl": install_boringssl,
    "isal-crypto": find_isal_crypto,
}

if __name__ == "__main__":
    sys.exit(main())
