"""What people call GPUs that is no driver's name."""

import re


def names_gpu(name: str) -> bool:
    """Whether a name stands for GPUs in any case: `gpu`, `Nvidia`, `h200`, `RTX-4070`, `mi300`."""
    return NAMES.fullmatch(name.strip()) is not None


NAMES = re.compile(
    r"gpus?|hip|metal|rocm|sycl|vulkan"
    r"|(nvidia|geforce|quadro|tesla|radeon|instinct|[gr]tx)\b.*|[gr]tx[0-9].*"
    r"|(a|b|h|l|p|t|v|gb|gh|mi|rx)[ -]?[0-9]+\w*",
    re.IGNORECASE,
)
