"""Native arms: made by the engine's own measuring loops, which check what they time.

The only module of the lab that imports these loops.
"""

from collections.abc import Callable, Mapping

from sealift import _sealift
from sealift._sealift import effective_clock_ghz
from sealift.errors import DeviceError, LimitError
from sealift.lab.devices import role
from sealift.lab.memory import check_memory, gcm_bytes
from sealift.lab.spec import Context, Sample, Skip, WrongResultError
from sealift.lab.values import Value
from sealift.lab.workload import Workload

__all__ = ["NativeArm", "effective_clock_ghz", "gcm"]


class NativeArm:
    """An arm whose loop is native; implements `spec.Arm`."""

    def __init__(self, arm: _sealift.Arm, facts: Mapping[str, Value]) -> None:
        """Takes over a native arm.

        Args:
            arm: Prepared.
            facts: What is known of it beside its own record.
        """
        self._arm = arm
        self._facts = facts

    def sample(self, seconds: float) -> Sample:
        """Runs for about `seconds`; Ctrl-C is noticed within a tenth of a second.

        Raises:
            WrongResultError: If something was computed wrong.
        """
        try:
            return Sample(*self._arm.sample(seconds))
        except _sealift.WrongResultError as error:
            raise WrongResultError(str(error)) from error

    def verified(self) -> Mapping[str, Value]:
        """What it was checked against, its counts up to now, what it is, and its cores."""
        return {
            **self._facts,
            "checked_against": ", ".join(self._arm.checked_against) or "nothing",
            **self._arm.counts,
            "detail": self._arm.detail,
            "cores": "+".join(map(str, self._arm.cores)) or "any",
        }


def gcm(
    device: str, workload: Workload, *, threads: int, batch: int, context: Context
) -> NativeArm:
    """A device on AES-GCM messages, checked byte by byte on every one of them.

    Args:
        device: Its name with its settings, as `cpu:isa=aesni`. Beside the devices for users the lab
            has `table` and `slowed:percent=5(library)`.
        workload: The messages.
        threads: That each work all messages.
        batch: Messages handed to the engine at once.
        context: For the seed of keys, nonces, aads and texts.

    Raises:
        Skip: If the device is absent or doesn't take the messages, or they need too much memory.
        WrongResultError: If it computes something wrong.
        UnknownDeviceError: If it is no device.
    """
    check_memory(gcm_bytes(workload, threads=threads))
    columns = workload.columns()
    return _made(
        lambda: _sealift.Arm.gcm(
            device,
            operation=columns.operation,
            key_len=columns.key_len,
            nonce_len=columns.nonce_len,
            aad_len=columns.aad_len,
            text_len=columns.text_len,
            tag_len=columns.tag_len,
            keys=workload.regime.keys.value,
            sessions=workload.regime.sessions,
            batch=batch,
            threads=threads,
            seed=context.seed,
        ),
        lambda: {"role": role(device)},
    )


def _made(
    make: Callable[[], _sealift.Arm], facts: Callable[[], Mapping[str, Value]] = dict
) -> NativeArm:
    try:
        return NativeArm(make(), facts())
    except (DeviceError, LimitError, _sealift.NotMeasurableError) as error:
        raise Skip(str(error)) from error
    except _sealift.WrongResultError as error:
        raise WrongResultError(str(error)) from error
