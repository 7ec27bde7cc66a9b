"""Document 003's messages: as its text states them, and as its log and its input file show them.

The two contradict each other (128 bytes, and 27 to 29 bytes), so experiments run both. So they do
in a quarter of the operations: the text calls it "authentication only", which is a verify without
decryption, and the log "decryption with planned failed authentication".
"""

import csv
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files

from sealift_lab.measure.crypto import MANY_KEYS, Builder, Work, crypto_arm
from sealift_lab.model import workload
from sealift_lab.model.arm import Cell, Value
from sealift_lab.model.experiment import Chart
from sealift_lab.model.workload import FRESH_KEYS, KeyRegime, Mix, Operation, Shape, Workload


def stated(regime: KeyRegime) -> Work:
    """The messages of the text: 128 bytes, half seals, a quarter opens, a quarter failing opens."""
    return Work(STATED, STATED_BYTES, str(regime), MIX.exact)


def verified(regime: KeyRegime) -> Work:
    """The same, with a quarter of verifies in place of the failing opens."""
    return Work(VERIFIED, STATED_BYTES, str(regime), VERIFIED_MIX.exact)


def logged() -> Work:
    """The messages of the input file, in the proportions of its records, each with its own key."""
    work = logged_workload(FRESH_KEYS, 1, 0)
    weights = (sum(s.weight for s in work.shapes if s.operation is each) for each in Operation)
    return Work(LOGGED, round(work.text_len_mean), str(FRESH_KEYS), str(Mix(*weights)))


def stated_workload(
    regime: KeyRegime, messages: int, seed: int, mix: Mix | None = None
) -> Workload:
    """Nonces of 12 bytes, tags of 16, no additional data; a third for each key size."""
    key_bits = tuple((bits, 1) for bits in workload.KEY_BITS)
    shapes = workload.combine(mix or MIX, ((STATED_BYTES, 1),), key_bits=key_bits)
    return Workload(f"003 {STATED}", shapes, regime, messages, seed)


def logged_workload(_: KeyRegime, messages: int, seed: int) -> Workload:
    """The shapes of the 37,800 NIST CAVP records with a text, each under a fresh key.

    Texts of 13, 16, 32 or 51 bytes (28 on average), nonces of 1, 12 and 128 bytes, tags of 4 to 16.
    """
    return Workload(f"003 {LOGGED}", _record_shapes(), FRESH_KEYS, messages, seed)


def thread_chart(title: str, workload: str, y: str = "MB/s") -> Chart:
    """A chart by threads of one reading of the messages."""
    panels = "keys" if workload == STATED else ""
    title, where = f"{title}, messages {workload}", {"workload": workload}
    return Chart("threads", "device", y, title, panels, where, log_x=True, log_y=True)


@cache
def _record_shapes() -> tuple[Shape, ...]:
    file = files("sealift_lab") / "data" / "003-as-logged.csv"
    rows = [*csv.DictReader(file.read_text(encoding="utf-8").splitlines())]
    columns = ("key_bits", "nonce_bytes", "aad_bytes", "text_bytes", "tag_bytes")
    shapes = []
    kinds = (Operation.SEAL, Operation.OPEN, Operation.FORGED)
    for operation, column in zip(kinds, ("seals", "opens", "bad"), strict=True):
        for row in rows:
            if weight := int(row[column]):
                key_bits, nonce, aad, text, tag = (int(row[name]) for name in columns)
                shapes.append(Shape(operation, key_bits, nonce, aad, text, tag, weight))
    return tuple(shapes)


STATED, LOGGED, VERIFIED = "as stated", "as logged", "as stated, a quarter verified"
STATED_BYTES = 128
MIX, VERIFIED_MIX = Mix(50, 25, 25), Mix(50, 25, 0, 25)
NAMES: Mapping[Value, str] = {
    "cpu": "Sealift's kernels",
    "library": "AWS-LC",
    "table": "table code",
    "ipp": "Intel IPP",
    "cpu:isa=aesni": "AES-NI",
    "cpu:isa=vaes256": "VAES, 256 bits",
    "cpu:isa=vaes512": "VAES, 512 bits",
    "cuda": "GPU (CUDA)",
    "opencl": "GPU (OpenCL)",
    "one": "one key",
    "sessions:1024": "1,024 keys",
    "fresh": "a fresh key each",
}
ADVICE: Mapping[Value, str] = {
    "cpu": "On your CPU, with Sealift's kernels",
    "library": "On your CPU, with AWS-LC",
    "ipp": "On your CPU, with Intel IPP",
    "cuda": "On your GPU, through CUDA",
    "opencl": "On your GPU, through OpenCL",
}
MESSAGE_NAMES: Mapping[Value, str] = {
    **NAMES,
    STATED: f"{STATED_BYTES} B messages, half sealed",
    VERIFIED: f"{STATED_BYTES} B messages, half sealed, a quarter verified",
    LOGGED: "28 B messages, as logged",
}
BUILDERS: dict[str, Builder] = {
    STATED: stated_workload,
    VERIFIED: partial(stated_workload, mix=VERIFIED_MIX),
    LOGGED: logged_workload,
}
message_arm = partial(crypto_arm, builders=BUILDERS)
"""The arm of a cell whose messages may be those of the document."""
DOCUMENT_WORK: tuple[Cell, ...] = (
    {"workload": STATED, "keys": str(MANY_KEYS)},
    {"workload": LOGGED, "keys": str(FRESH_KEYS)},
)
"""Both readings of the document's messages, as they stand beside its figures."""
PREFERRED: Cell = {**DOCUMENT_WORK[0], "threads": 1}
"""The work that an answer is about: 128-byte messages, 1,024 keys, one thread."""
