"""The simulated kernels that document 000's models stand on: right output, and clear refusals."""

from collections.abc import Mapping
from itertools import product

import pytest

from sealift import InputError
from sealift_lab._lab import run_dpu_kernel, run_dpu_messages

COMMON = {"key_bits": 128, "decrypts": False, "tasklets": 3, "chunk_bytes": 64, "hazard": False}
REQUEST: Mapping[str, object] = {**COMMON, "kernel": "ecb", "bytes": 1_536, "counts": "cycles"}
MESSAGES: Mapping[str, object] = {**COMMON, "messages": 5, "message_bytes": 100}


def test_every_cycle_of_a_kernel_is_an_instruction_or_counted_as_idle() -> None:
    run = run_dpu_kernel({**REQUEST, "hazard": True})
    idle = run.idle_revolver_cycles + run.idle_dma_cycles + run.idle_hazard_cycles
    assert run.cycles == run.instructions + idle
    assert run.idle_hazard_cycles > 0
    assert sum(count for _, count in run.mnemonics) == run.instructions
    assert run.mram_read_bytes == run.mram_written_bytes == 1_536
    assert run.transfers == 48
    assert run.checked_against == "the processor's own kernels"
    assert run_dpu_kernel({**REQUEST, "kernel": "gcm"}).checked_against == "AWS-LC"


def test_kernels_and_messages_are_right_with_every_key_both_ways() -> None:
    kernels = ("ecb", "ecb-by-bank", "ecb-fed", "ctr", "ghash", "gcm")
    for key_bits, decrypts in product((128, 192, 256), (False, True)):
        key = {"key_bits": key_bits, "decrypts": decrypts}
        for kernel in kernels:
            if not (kernel == "ghash" and decrypts):
                assert run_dpu_kernel({**REQUEST, **key, "kernel": kernel}).cycles > 0
        assert run_dpu_messages({**MESSAGES, **key}).checked_against == "AWS-LC"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": "des"}, "there are document-000, ecb"),
        ({"key_bits": 129}, "key_bits is 129: give 128, 192 or 256"),
        ({"tasklets": 25}, "25 tasklets with chunks of 64 bytes: 1 to 24"),
        ({"chunk_bytes": 48}, "chunks of 48 bytes"),
        ({"bytes": 100}, "bytes is 100: give a multiple of 64"),
        ({"bytes": 0}, "bytes is 0"),
        ({"kernel": "ghash", "decrypts": True}, "ghash decrypts nothing"),
        ({"kernel": "document-000"}, "1 tasklet and 2,048 bytes"),
        ({"counts": "blocks"}, "give cycles or instructions"),
        ({"chunk_bytes": 2_048, "tasklets": 24, "kernel": "gcm", "bytes": 2_048}, "line"),
    ],
)
def test_a_kernel_that_can_not_be_run_so_is_refused(
    change: Mapping[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run_dpu_kernel({**REQUEST, **change})


def test_messages_that_can_not_be_run_so_are_refused() -> None:
    for change, message in (
        ({"key_bits": 64}, "key_bits is 64"),
        ({"messages": 0}, "0 messages of 100 bytes"),
        ({"messages": 1 << 60, "message_bytes": 0}, "give 1 to 64 MiB in all"),
        ({"tasklets": 0}, "1 to 24"),
    ):
        with pytest.raises(InputError, match=message):
            run_dpu_messages({**MESSAGES, **change})
