"""Exchanges a million frames between two processes by each way, and counts the wrong ones.

Usage: python benches/frames.py [--out FOLDER] [--frames N] [--seed N]

Half of the frames go as a stream and half as a ping-pong, each compared byte by byte where it
arrives; the first wrong one ends it. Prints a line for each way; with --out also writes
frames.json into the folder: how many frames were compared. Speeds that can be compared with each
other are those of the experiment `frames-between-processes`.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from sealift.exit_code import ExitCode
from sealift_lab import Context, Skip, Value, WrongResultError
from sealift_lab.experiments.document_004.frames import PING_PONG, STREAM, WAYS
from sealift_lab.machine.facts import describe
from sealift_lab.measure.native import native
from sealift_lab.measure.write_folder import NotWrittenError, write_json


def main() -> int:
    """Exchanges them, prints, and writes what is asked for."""
    arguments = _arguments()
    if arguments.out is not None and not arguments.out.is_dir():
        print(f"frames: {arguments.out} is no folder; make it first", file=sys.stderr)
        return ExitCode.USAGE
    try:
        ways = list(_ways(arguments))
        if arguments.out is not None:
            machine = {name: asdict(fact) for name, fact in describe().items()}
            counts = {"frames": arguments.frames, "seed": arguments.seed}
            write_json(arguments.out / "frames.json", {**counts, "machine": machine, "ways": ways})
    except WrongResultError as error:
        print(f"frames: {error}", file=sys.stderr)
        return ExitCode.WRONG_RESULT
    except NotWrittenError as error:
        print(f"frames: {error}", file=sys.stderr)
        return ExitCode.NOT_WRITTEN
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return 0


def _ways(arguments: argparse.Namespace) -> Iterator[Mapping[str, Value]]:
    for way in map(str, WAYS):
        begin_s = time.monotonic()
        try:
            checked = sum(_exchange(way, pattern, arguments) for pattern in (STREAM, PING_PONG))
        except Skip as reason:
            print(f"{way}: not exchanged: {reason}", flush=True)
            continue
        seconds = round(time.monotonic() - begin_s, 1)
        print(f"{way}: {checked:,} frames right, 0 wrong, {seconds:.0f} s", flush=True)
        counts = {"frame_bytes": FRAME_BYTES, "frames_checked": checked, "wrong": 0}
        yield {"way": way, **counts, "seconds": seconds}


def _exchange(way: str, pattern: str, arguments: argparse.Namespace) -> int:
    """Exchanges half of the frames, and returns how many were compared."""
    context = Context(seed=arguments.seed, folder=Path())
    work = {"way": way, "pattern": pattern, "frame_bytes": FRAME_BYTES, "batch": 1}
    arm = native("frames", context, **work)
    done = 0
    while done < arguments.frames // 2:
        done += arm.sample(SAMPLE_S).operations
    return int(arm.report()["frames_checked"])


def _arguments() -> argparse.Namespace:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--out", type=Path, help="a folder for frames.json")
    parser.add_argument("--frames", type=int, default=1_000_000, help="for each way (1,000,000)")
    parser.add_argument("--seed", type=int, default=1, help="of the bytes in them (1)")
    return parser.parse_args()


SAMPLE_S, FRAME_BYTES = 0.1, 65_536

if __name__ == "__main__":
    sys.exit(main())
