"""Office documents as `dowse extract` reads them, beside MarkItDown, which many agents use.

Usage: python3 compare/office.py DOWSE FOLDER
DOWSE is the binary; FOLDER has an `expected_text_pairs.tsv`, as in src/main.rs.
Python needs the package `markitdown[docx,pptx]`.

Texts are compared as bags of words, without regard to layout. The time is that of the program
that is started for each file, so that it includes what starting costs.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import time

EXTENSIONS = ["docx", "pptx", "odt", "odp", "doc", "ppt", "rtf"]
SECONDS = 60
# Scripts without spaces count character by character.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def words(text):
    return collections.Counter(WORD.findall(text.lower()))


def by_dowse(binary, path):
    printed = subprocess.run([binary, "extract", "--json", path], capture_output=True, timeout=SECONDS)
    blocks = json.loads(printed.stdout)["document"]["blocks"]
    return "\n".join(block["text"] for block in blocks)


def by_markitdown(_, path):
    command = [sys.executable, "-m", "markitdown", path]
    printed = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
    # Pictures are written as addresses of data.
    return re.sub(r"!\[[^\]]*\]\([^)]*\)", " ", printed.stdout.decode("utf-8", "replace"))


def main(binary, folder):
    folder = pathlib.Path(folder)
    lines = (folder / "expected_text_pairs.tsv").read_text("utf-8").splitlines()[1:]
    pairs = [line.split("\t")[:2] for line in lines]
    print("| files | reader | failed | recall | precision | seconds |\n|---|---|---|---|---|---|")
    for extension in EXTENSIONS:
        chosen = [pair for pair in pairs if pair[0].endswith("." + extension)]
        for name, read in [("dowse", by_dowse), ("MarkItDown", by_markitdown)]:
            recall = precision = failed = 0
            begun = time.monotonic()
            for document, expected in chosen:
                expected = words((folder / expected).read_text("utf-8", "replace"))
                try:
                    found = words(read(binary, str(folder / document)))
                except (subprocess.SubprocessError, ValueError, KeyError):
                    found = collections.Counter()
                    failed += 1
                common = (expected & found).total()
                recall += common / max(expected.total(), 1)
                precision += common / max(found.total(), 1)
            took, n = time.monotonic() - begun, max(len(chosen), 1)
            print(
                f"| {len(chosen)} {extension} | {name} | {failed} | {recall / n:.3f} "
                f"| {precision / n:.3f} | {took:.1f} |"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
