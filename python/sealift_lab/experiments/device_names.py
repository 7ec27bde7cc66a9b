"""Names of devices and of key regimes for readers, and the advice where a device wins."""

from collections.abc import Mapping

from sealift_lab.model.arm import Value

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
