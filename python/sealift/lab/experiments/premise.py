"""What a message costs by primitive (document 003, its premise).

The document holds AES-GCM to be the most suitable of the algorithms in the security suites of
DLMS/COSEM. Suite 0 has AES-128-GCM alone; suite 1 adds SHA-256 and ECDSA over P-256; suite 2 has
AES-256-GCM and ECDSA over P-384. Each does one message of 128 bytes, through AWS-LC on one thread
and under one key: sealing, hashing, signing or verifying (which hash the message first).

Quick runs all of it, a full run more blocks.
"""

from collections.abc import Iterator, Sequence

from sealift.lab.grid import batch_for, crypto_arm, crypto_cells, sized
from sealift.lab.native import primitive
from sealift.lab.published import (
    Comparison,
    Kind,
    Printed,
    conditions,
    table_row,
    times_as_fast,
)
from sealift.lab.result import Found
from sealift.lab.spec import Arm, Axis, Context, Experiment, Plot, Scope
from sealift.lab.values import Cell
from sealift.lab.workload import ONE_KEY


def _cells(scope: Scope) -> Iterator[Cell]:
    for threads in scope.threads or (1,):
        for name in (*SEALING, *OTHERS):
            yield {"primitive": name, "message_bytes": MESSAGE_BYTES, "threads": threads}


def _arm(cell: Cell, context: Context) -> Arm:
    name, size_bytes = str(cell["primitive"]), int(cell["message_bytes"])
    threads = int(cell["threads"])
    if name in SEALING:
        work = sized(size_bytes, ONE_KEY, key_bits=SEALING[name])
        (crypto_cell,) = crypto_cells([work], devices=["library"], threads=[threads])
        return crypto_arm(crypto_cell, context)
    return primitive(OTHERS[name], size_bytes, threads=threads, context=context)


def _published(found: Found) -> Sequence[Comparison]:
    """The document claims no speed: that AES-GCM costs the least of its suite is our reading."""
    claim = table_row("003-X1-claims", claim_id="aes-gcm-best")
    threads = min((int(row.cell["threads"]) for row in found.rows), default=1)
    batch = f"batch {batch_for(MESSAGE_BYTES):,}"
    return [
        Printed(
            figure="003-P0",
            what=f"our reading: cheapest a message, suite {suite}: AES-GCM against {other}",
            value=1.0,
            unit="x",
            source=claim["source"],
            kind=Kind.READING,
        ).beside(
            times_as_fast(
                found,
                {"primitive": ours, "threads": threads},
                {"primitive": other, "threads": threads},
            ),
            f"{ours}, messages of 128 bytes through AWS-LC, one key, {batch} for AES-GCM, "
            f"{conditions(found, primitive=other, threads=threads)}; printed, of no speed: "
            f"{claim['as_printed']}",
        )
        for suite, ours, others in SUITES
        for other in others
    ]


MESSAGE_BYTES = 128
# For each the size of its key in bits.
SEALING = {"AES-128-GCM": 128, "AES-256-GCM": 256}
OTHERS = {
    "SHA-256": "sha-256",
    "ECDSA P-256 sign": "ecdsa-p256-sign",
    "ECDSA P-256 verify": "ecdsa-p256-verify",
    "ECDSA P-384 sign": "ecdsa-p384-sign",
    "ECDSA P-384 verify": "ecdsa-p384-verify",
}
SUITES = (
    (1, "AES-128-GCM", ("SHA-256", "ECDSA P-256 sign", "ECDSA P-256 verify")),
    (2, "AES-256-GCM", ("ECDSA P-384 sign", "ECDSA P-384 verify")),
)

EXPERIMENT = Experiment(
    name="premise",
    id="003-P0",
    title="What a message costs by primitive",
    why="Is AES-GCM the cheapest way to protect a message among the algorithms of DLMS/COSEM?",
    axes=(
        Axis("primitive", "primitive"),
        Axis("message_bytes", "message, bytes"),
        Axis("threads", "threads"),
    ),
    compare="primitive",
    cells=_cells,
    arm=_arm,
    operation="message",
    published=_published,
    plots=(
        Plot(
            x="primitive",
            y="ns_per_operation",
            z="primitive",
            title="Cost of a message of 128 bytes",
            log_y=True,
        ),
    ),
    weight=0.5,
)
