"""The cost of a message by primitive (document 003, its premise).

Each primitive does messages of 128 bytes through AWS-LC on one thread under one key; signing and
verifying hash the message first. A quick run has all of it, a full run more blocks.
"""

from collections.abc import Iterator, Sequence

from sealift_lab.experiments.document_003 import printed
from sealift_lab.measure.crypto import crypto_arm, crypto_cells, sized
from sealift_lab.measure.native import primitive
from sealift_lab.model.experiment import Axis, Chart, Experiment, Scope
from sealift_lab.model.figure import Times
from sealift_lab.model.published import Kind, Published
from sealift_lab.model.results import Results
from sealift_lab.model.sample import Arm, Context
from sealift_lab.model.values import Cell
from sealift_lab.model.workload import ONE_KEY


def _cells(scope: Scope) -> Iterator[Cell]:
    for threads in scope.threads or (1,):
        for name in (*KEY_BITS, *OTHERS):
            yield {"primitive": name, "message_bytes": MESSAGE_BYTES, "threads": threads}


def _arm(cell: Cell, context: Context) -> Arm:
    name, size_bytes = str(cell["primitive"]), int(cell["message_bytes"])
    threads = int(cell["threads"])
    if name in KEY_BITS:
        work = sized(size_bytes, ONE_KEY, key_bits=KEY_BITS[name])
        (crypto_cell,) = crypto_cells([work], devices=["library"], threads=[threads])
        return crypto_arm(crypto_cell, context)
    return primitive(OTHERS[name], size_bytes, threads=threads, context=context)


def _published(results: Results) -> Sequence[Published]:
    """The document claims no speed: that AES-GCM costs the least of its suite is our reading."""
    threads = min((int(row.cell["threads"]) for row in results.rows), default=1)
    return [
        printed.claim(
            "003-P0",
            f"our reading: cheapest a message, suite {suite}: AES-GCM against {other}",
            "aes-gcm-best",
            Kind.READING,
            Times(
                {"primitive": aes_gcm, "threads": threads}, {"primitive": other, "threads": threads}
            ),
            f"{aes_gcm}, one key; printed of no speed",
        )
        for suite, aes_gcm, others in SUITES
        for other in others
    ]


MESSAGE_BYTES = 128
KEY_BITS = {"AES-128-GCM": 128, "AES-256-GCM": 256}
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
    title="Cost of a message by primitive",
    question="Is AES-GCM the cheapest way to protect a message among the algorithms of DLMS/COSEM?",
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
    charts=(Chart("primitive", "threads", "time", "Cost of a message of 128 bytes", log_y=True),),
    weight=0.5,
    notes=(
        "Suite 0 of DLMS/COSEM has AES-128-GCM alone; suite 1 adds SHA-256 and ECDSA over P-256; "
        "suite 2 has AES-256-GCM and ECDSA over P-384. Signing and verifying hash the message "
        "first. AES-GCM messages are handed over 1,024 at once."
    ),
)
