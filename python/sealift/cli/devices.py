"""`sealift devices`."""

from typing import Annotated

import typer


def devices(
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Show every device: what is here, and why the others are not.

    The first column is what --devices of `sealift advise` and `sealift explain` and Engine([...])
    in Python take. A device's role says what it is for: "real" for users' work, "oracle" to check
    others by, "simulated" with modelled times, "null" to price the framework around a device.
    Drivers that become a device only with what one writes behind their name, another device or a
    description, stand by themselves. Of accelerators GPUs have a driver in this version; cards are
    projected, DPUs simulated.
    """
    import json

    from sealift.lab.devices import look
    from sealift.lab.table import aligned

    found = look()
    if as_json:
        typer.echo(json.dumps([device.as_dict() for device in found], indent=2))
        return
    whole = [device for device in found if not device.is_incomplete]
    rows = [
        (
            device.spec,
            device.state,
            device.role or "",
            "" if device.workers is None else str(device.workers),
            device.detail or device.reason or "",
        )
        for device in whole
    ]
    typer.echo(aligned([("device", "state", "role", "workers", "what, or why not"), *rows]))
    made = [(each.spec, each.reason or "") for each in found if each.is_incomplete]
    if made:
        typer.echo("\n" + aligned([("no device alone", "what it takes"), *made]))
