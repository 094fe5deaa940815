"""Checks a JSON file against a JSON schema: python check_schema.py SCHEMA FILE."""

import json
import sys

import jsonschema

schema, document = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
errors = list(jsonschema.validators.validator_for(schema)(schema).iter_errors(document))
for error in errors:
    print(f"{sys.argv[2]}: {error.json_path}: {error.message}", file=sys.stderr)
sys.exit(bool(errors))
