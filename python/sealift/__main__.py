"""`python -m sealift` is `sealift`."""

from sealift.cli import main

main()
