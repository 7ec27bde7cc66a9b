"""One Chromium for many pages, which is told what to do through a pipe."""

import json
import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True)
class Seen:
    """What the browser gives back: the document after its scripts ran, and its complaints."""

    document: str
    log: str


@contextmanager
def browser(command: str, profile: Path) -> Iterator["Browser"]:
    """A browser that can resolve no name.

    Args:
        command: Starts it.
        profile: An empty folder.
    """
    asked, ask = os.pipe()
    answer, answered = os.pipe()
    # It reads commands from descriptor 3 and answers on 4.
    start = f'exec "$0" "$@" 3<&{asked} 4>&{answered}'
    process = subprocess.Popen(
        ["bash", "-c", start, command, *OPTIONS, f"--user-data-dir={profile}"],
        pass_fds=(asked, answered),
        stderr=subprocess.DEVNULL,
    )
    os.close(asked)
    os.close(answered)
    with os.fdopen(ask, "wb", buffering=0) as commands, os.fdopen(answer, "rb") as answers:
        opened = Browser(commands, answers)
        try:
            yield opened
        finally:
            opened.do("Browser.close")
            process.wait(60)


@dataclass
class Browser:
    """Commands of the DevTools protocol and their answers, each ended by a zero byte."""

    commands: IO[bytes]
    answers: IO[bytes]
    asked: int = 0
    rest: bytes = b""
    events: list[dict[str, Any]] = field(default_factory=list)

    def see(self, path: Path) -> Seen:
        """A page, all unfolded, after 20 s of its own time, which passes as fast as scripts run."""
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        page = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.do(f"{domain}.enable", page)
        self.events.clear()
        self.do("Page.navigate", page, url=path.as_uri())
        self.wait_for(page, "Page.loadEventFired")
        self.do("Runtime.evaluate", page, expression=UNFOLD)
        budget: dict[str, Any] = {"budget": 20_000, "maxVirtualTimeTaskStarvationCount": 9_999}
        self.do("Emulation.setVirtualTimePolicy", page, policy="advance", **budget)
        self.wait_for(page, "Emulation.virtualTimeBudgetExpired")
        shown = self.do("Runtime.evaluate", page, expression="document.documentElement.outerHTML")
        log = map(json.dumps, self.heard(page, *COMPLAINTS))
        self.do("Target.closeTarget", targetId=target)
        return Seen(shown["result"]["value"], "\n".join(log))

    def do(self, method: str, page: str = "", **parameters: object) -> dict[str, Any]:
        """The answer to a command, of the browser or of a page."""
        self.asked += 1
        command: dict[str, object] = {"id": self.asked, "method": method, "params": parameters}
        command |= {"sessionId": page} if page else {}
        self.commands.write(json.dumps(command).encode() + b"\0")
        while (answer := self.hear()).get("id") != self.asked:
            pass
        assert "error" not in answer, (method, answer)
        result: dict[str, Any] = answer["result"]
        return result

    def wait_for(self, page: str, method: str) -> None:
        """Hears until an event of a page comes."""
        while not self.heard(page, method):
            self.hear()

    def heard(self, page: str, *methods: str) -> list[dict[str, Any]]:
        """The events of a page that were heard, of these kinds."""
        of_page = [each for each in self.events if each.get("sessionId") == page]
        return [each for each in of_page if each["method"] in methods]

    def hear(self) -> dict[str, Any]:
        """The next answer or event; events are kept."""
        while b"\0" not in self.rest:
            assert select.select([self.answers], [], [], PATIENCE_S)[0], "the browser says nothing"
            more = os.read(self.answers.fileno(), 1 << 20)
            assert more, "the browser has ended"
            self.rest += more
        said, _, self.rest = self.rest.partition(b"\0")
        heard: dict[str, Any] = json.loads(said)
        if "method" in heard:
            self.events.append(heard)
        return heard


PATIENCE_S = 120
UNFOLD = "for (const each of document.querySelectorAll('details')) each.open = true;"
COMPLAINTS = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
OPTIONS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--window-size=1400,1000",
)
