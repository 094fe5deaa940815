"""YAML as `dowse extract` reads it, beside PyYAML: how many scalars have the same path and text.

Usage: python3 compare/yaml_lines.py DOWSE FOLDER
DOWSE is the binary; every `*.yaml` and `*.yml` beneath FOLDER is read. Python needs `pyyaml`.
"""

import json
import pathlib
import subprocess
import sys

import yaml


def leaves(value, label=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{label}.{key}" if label else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, label)
    elif value not in ("", None):
        yield " ".join(f"{label}: {value}".split())


def main(binary, folder):
    n_files = n_refused = n_whole = n_leaves = n_same = 0
    for path in sorted(pathlib.Path(folder).rglob("*.y*ml")):
        try:
            documents = list(yaml.load_all(path.read_text("utf-8"), Loader=yaml.BaseLoader))
        except (yaml.YAMLError, UnicodeDecodeError):
            n_refused += 1
            continue
        printed = subprocess.run([binary, "extract", "--json", path], capture_output=True)
        blocks = json.loads(printed.stdout)["document"]["blocks"]
        text = " ".join(" ".join(block["text"].split()) for block in blocks)
        expected = [leaf for document in documents for leaf in leaves(document)]
        same = [leaf for leaf in expected if leaf in text]
        n_files += 1
        n_whole += len(same) == len(expected)
        n_leaves += len(expected)
        n_same += len(same)
    print(f"{n_files} files that PyYAML reads ({n_refused} that it refuses)")
    print(f"{n_same} of {n_leaves} scalars with the same path and text ({n_same / n_leaves:.4f})")
    print(f"{n_whole} files with all of them")


if __name__ == "__main__":
    main(*sys.argv[1:])
