"""Carries out an order, and tells the parent how it goes."""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

from sealift.lab import store
from sealift.lab.measure import Ending
from sealift.lab.store import names
from sealift.lab.worker.bench import Bench, Tell, UnusableError
from sealift.lab.worker.order import Order


def main() -> None:
    """Does what the command line orders; what kept it from that is told, too."""
    order = Order.parse(sys.argv[1:])
    _obey(order.parent)
    events = _own_stdout()
    tell = _teller(events)
    os.set_inheritable(order.lock, False)  # noqa: FBT003 (takes no keywords)
    _keep_from_forks(events, order.lock)
    try:
        # The parent blocked them, so that none came before this line.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
        _work(order, tell)
    except KeyboardInterrupt:
        tell({"event": "ending", "ending": Ending.INTERRUPTED})
    except store.NotWrittenError as error:
        tell({"event": "not written", "text": str(error)})
    except (store.StoreError, UnusableError) as error:
        tell({"event": "failed", "text": str(error)})


def _obey(parent: int) -> None:
    """SIGTERM of the parent ends the work; Ctrl-C is the parent's; without a parent all ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _own_stdout() -> int:
    """Takes standard output away from whatever else prints; gives a descriptor of its own."""
    events = os.dup(1)
    os.dup2(2, 1)
    return events


def _teller(events: int) -> Tell:
    def tell(event: Mapping[str, Any]) -> None:
        line = f"{json.dumps(event)}\n".encode()
        while line:
            line = line[os.write(events, line) :]

    return tell


def _keep_from_forks(*descriptors: int) -> None:
    """A process that an experiment forks, and that lives on, is not to hold these open."""

    def let_go() -> None:
        nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        for each in descriptors:
            # The number stays taken, so that nothing is written into a file opened later.
            os.dup2(nothing, each, inheritable=False)
        os.close(nothing)

    os.register_at_fork(after_in_child=let_go)


def _work(order: Order, tell: Tell) -> None:
    run = store.read(order.folder, of=order.experiment)
    with (
        store.Journal(order.folder / names.SAMPLES) as samples,
        store.Journal(order.folder / names.VERIFY) as verify,
    ):
        _keep_from_forks(samples.fileno(), verify.fileno())
        bench = Bench(order, run, samples, verify, tell)
        try:
            bench.prepare()
            ending = bench.measure()
        finally:
            # What was checked up to now is kept, however the work ends.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            bench.keep_verified()
    tell({"event": "ending", "ending": ending})


PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    main()
