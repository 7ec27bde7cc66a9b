"""Exchanges a million frames between two processes by each way, and counts the wrong ones.

Usage: python benches/frames.py [--out FOLDER] [--frames N] [--bytes N] [--seed N]

Half of the frames go as a stream and half as a ping-pong, each compared byte by byte where it
arrives; the first wrong one ends it. Prints a line for each way; with --out also writes
frames.json into the folder: how many frames were compared, and how long round trips took. Speeds
that can be compared with each other are those of the experiment `frames-between-processes`, which
takes turns; these here are told to show how the time goes.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sealift.exit_code import ExitCode
from sealift.lab import machine
from sealift.lab.experiments.frames_between_processes import PING_PONG, STREAM, WAYS
from sealift.lab.native import exchange_frames
from sealift.lab.spec import Context, Skip, WrongResultError


def main() -> int:
    """Exchanges them, prints, and writes what is asked for."""
    arguments = _arguments()
    if arguments.out is not None and not arguments.out.is_dir():
        print(f"frames: {arguments.out} is no folder; make it first", file=sys.stderr)
        return ExitCode.USAGE
    try:
        results = list(_results(arguments))
    except WrongResultError as error:
        print(f"frames: {error}", file=sys.stderr)
        return ExitCode.WRONG_RESULT
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    if arguments.out is not None:
        told = {
            "frames": arguments.frames,
            "seed": arguments.seed,
            "machine": machine.describe().as_dict(),
            "ways": results,
        }
        text = json.dumps(told, indent=1, ensure_ascii=False, default=str)
        (arguments.out / "frames.json").write_text(f"{text}\n", encoding="utf-8")
    return 0


def _results(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for way in WAYS:
        checked, told = 0, {"way": way, "frame_bytes": arguments.bytes, "wrong": 0}
        begin_s = time.monotonic()
        try:
            for pattern in (STREAM, PING_PONG):
                facts = _exchange(way, pattern, arguments)
                checked += int(facts["frames_checked"])
                told |= {name: facts[name] for name in SHOWN if name in facts}
        except Skip as reason:
            print(f"{way}: not exchanged: {reason}", flush=True)
            yield {"way": way, "skipped": str(reason)}
            continue
        seconds = time.monotonic() - begin_s
        print(f"{way}: {checked:,} frames right, 0 wrong, {seconds:.0f} s", flush=True)
        yield {**told, "frames_checked": checked, "seconds": round(seconds, 1)}


def _exchange(way: str, pattern: str, arguments: argparse.Namespace) -> dict[str, Any]:
    context = Context(seed=arguments.seed, folder=Path())
    arm = exchange_frames(way, pattern, frame_bytes=arguments.bytes, batch=1, context=context)
    done = 0
    while done < arguments.frames // 2:
        done += arm.sample(SAMPLE_S).operations
    return dict(arm.verified())


def _arguments() -> argparse.Namespace:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--out", type=Path, help="a folder for frames.json")
    parser.add_argument("--frames", type=int, default=1_000_000, help="for each way (1,000,000)")
    parser.add_argument("--bytes", type=int, default=65_536, help="of each frame (65,536)")
    parser.add_argument("--seed", type=int, default=1, help="of what stands in them (1)")
    return parser.parse_args()


SHOWN = ("detail", "round_trip")
SAMPLE_S = 0.1

if __name__ == "__main__":
    sys.exit(main())
