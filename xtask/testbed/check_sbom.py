"""Checks a bill of materials against the rules of CycloneDX: python check_sbom.py VERSION FILE."""

import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

version, path = sys.argv[1:]
error = JsonStrictValidator(SchemaVersion.from_version(version)).validate_str(
    open(path, encoding="utf-8").read()
)
if error is not None:
    print(f"{path}: {error}", file=sys.stderr)
sys.exit(error is not None)
