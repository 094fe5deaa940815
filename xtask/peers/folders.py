"""A folder of office documents: time, memory and disk of the index, words found, time of a query."""

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from common import Client, Dowse, disk_mb, emit, main, peak_mb, percentiles, timed

SUBJECT = "folders"
TOP = 10
WORDS_OF_A_TEXT = 3


def expected(office):
    """The longest words of each expected text, and the file that each should be found in."""
    for line in (office / "expected_text_pairs.tsv").read_text().splitlines()[1:]:
        document, text = line.split("\t")[:2]
        words = {word.lower() for word in re.findall(r"[^\W\d_]{6,20}", (office / text).read_text(errors="replace"))}
        for word in sorted(words, key=lambda word: (-len(word), word))[:WORDS_OF_A_TEXT]:
            yield word, str(office / document)


def n_files(folder):
    return sum(1 for path in folder.rglob("*") if path.is_file())


def report(peer, version, how, office, ask, all_files, **figures):
    """Times the first answers, and counts the files that are among all answers to their words."""
    wanted = list(expected(office))
    first_words = [word for word, _ in wanted[::WORDS_OF_A_TEXT]]
    _, times = timed(ask, first_words, warm_up=3)
    files = {word: set(all_files(word)) for word, _ in wanted}
    found = sum(file in files[word] for word, file in wanted)
    emit(SUBJECT, peer, version, how, words_found=found / len(wanted), **times, **figures)


def dowse(data):
    office = data / "office"
    with Dowse(f'[files]\nroots = ["{office}"]\nwatch = false\n') as server:
        index = server.wait_for_files(n_files(office))
        peak = peak_mb(server.process.pid)

        def ask(word):
            return server.client.tool("searchFiles", {"query": word, "k": TOP})

        def all_files(word):
            answer = server.client.tool("searchFiles", {"query": word, "k": 100})
            while True:
                for item in answer["items"]:
                    # Equal files are one result that names its other places.
                    yield from (item["path"], *item.get("duplicates", []))
                following = answer["pagination"].get("next")
                if following is None:
                    return
                answer = server.client.tool("searchFiles", {"query": word, "k": 100, "offset": following})

        figures = {"index_s": index, "peak_mb": peak}
        report("Dowse", Dowse.version(), "over MCP", office, ask, all_files, **figures)
        server.stop()
        config = str(Path(server.folder.name) / "dowse.toml")
        seconds = []
        for word, _ in list(expected(office))[: 40 * WORDS_OF_A_TEXT : WORDS_OF_A_TEXT]:
            begun = time.perf_counter()
            subprocess.run([os.environ["DOWSE_BINARY"], "search", "--config", config, "--no-model", word],
                           capture_output=True)
            seconds.append(time.perf_counter() - begun)
        emit(SUBJECT, "Dowse", Dowse.version(), "as a command", **percentiles(seconds), disk_mb=disk_mb(server.data))


def recoll(data):
    office = data / "office"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "recoll.conf").write_text(f"topdirs = {office}\n")
        begun = time.perf_counter()
        indexing = subprocess.Popen(["recollindex", "-c", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peak = 0
        while indexing.poll() is None:
            peak = max(peak, peak_mb(indexing.pid))
            time.sleep(0.05)
        index = time.perf_counter() - begun

        def ask(word, limit=TOP):
            said = subprocess.run(["recollq", "-c", folder, "-b", "-n", str(limit), word], capture_output=True, text=True)
            return [line.removeprefix("file://") for line in said.stdout.splitlines()]

        def all_files(word):
            return ask(word, limit=n_files(office))

        said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "recollcmd"], capture_output=True, text=True)
        report("recoll", said.stdout or "?", "as a command", office, ask, all_files, index_s=index, peak_mb=peak,
               disk_mb=disk_mb(folder))


def ripgrep_all(data):
    office = data / "office"
    with tempfile.TemporaryDirectory() as folder:
        programs = os.environ["PEER_PROGRAMS"]
        environment = dict(os.environ, XDG_CACHE_HOME=folder, PATH=f"{programs}:{os.environ['PATH']}")

        def ask(word):
            said = subprocess.run(["rga", "-l", "-i", word, str(office)], capture_output=True, text=True, env=environment)
            return said.stdout.splitlines()

        begun = time.perf_counter()
        ask("a word that fills its cache")
        index = time.perf_counter() - begun
        said = subprocess.run(["rga", "--version"], capture_output=True, text=True, env=environment)
        report("ripgrep-all", said.stdout.split()[1], "as a command", office, ask, ask, index_s=index, disk_mb=disk_mb(folder))


main({"dowse": dowse, "recoll": recoll, "ripgrep-all": ripgrep_all})
