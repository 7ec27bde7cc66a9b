"""`sealift lab watch`: a run that goes on, and this machine, on the terminal."""

import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import Annotated

from sealift.cli.output import eprint
from sealift_lab.cli import parse
from sealift_lab.cli.parse import argument
from sealift_lab.model.run import Ending
from sealift_lab.run.follow import Follower, ending_of, running
from sealift_lab.run.read_folder import Run
from sealift_lab.show.live import LiveProgress, Screen, screen_on


def watch(
    source: Annotated[Path | None, argument("watch", "RUN", parse.folder)] = None,
) -> None:
    """Watch a run that another program measures, and this machine.

    Rates of what is measured, how far it has come, clock, load, temperatures, GPUs, each core; once
    a second, or a line every ten seconds where no terminal shows it. Without a run it shows the
    machine, and the next run under runs/ that begins. It ends with the run, or by Ctrl-C.
    """
    with suppress(KeyboardInterrupt), _sigterm_as_ctrl_c():
        with screen_on(sys.stdout) as screen:
            path, ending = _follow(source, screen)
        reason = f": {ending.reason}" if ending.reason else ""
        eprint(f"{path} {ending.ending}{reason}; `sealift lab show {shlex.quote(str(path))}`")


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """SIGTERM ends the body as Ctrl-C does; only the main thread can set that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        # None is a handler that isn't Python's, which can't be set again.
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _follow(path: Path | None, screen: Screen) -> tuple[Path, Ending]:
    """Draws until a run has ended; its folder, and how that was."""
    while (found := path or running()) is None:
        screen.draw(None)
        sleep(EVERY_S)
    progress = LiveProgress(Run(found).plan, screen)
    follower = Follower(found, progress)
    while (ending := ending_of(found)) is None:
        follower.read()
        screen.draw(progress.standing, str(found))
        sleep(EVERY_S)
    return found, ending


EVERY_S = 1.0
