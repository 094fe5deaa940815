"""What the measurements beside other programs share: judged sets, percentiles, memory, a client.

Every measurement prints one line of JSON for each figure set (see `emit`), so that the chore can put
them into one table. A server is asked over one connection that stays open, whoever's it is.
"""

import http.client
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TOP = 10


def emit(subject, peer, version, how, **figures):
    """Prints the figures of one program; a name ends with its unit (`query_p50_ms`)."""
    line = {"subject": subject, "peer": peer, "version": version, "how": how, "figures": figures}
    print(json.dumps(line), flush=True)


def own_peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peak_mb(pid):
    """The most memory that a process and those it started have held."""
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    total = 0
    for one in [str(pid), *children]:
        try:
            status = Path(f"/proc/{one}/status").read_text()
        except FileNotFoundError:
            continue
        found = re.search(r"VmHWM:\s+(\d+)", status)
        total += int(found.group(1)) if found else 0
    return total / 1024


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def disk_mb(folder):
    files = (path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_blocks * 512 for path in files) / 1e6


class Timer:
    """Wall-clock seconds of a block."""

    def __enter__(self):
        self.begun = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.begun


def percentiles(seconds):
    ordered = sorted(seconds)
    at = lambda part: 1000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]
    return {"query_p50_ms": at(0.5), "query_p99_ms": at(0.99)}


def timed(ask, questions, warm_up=20):
    """Asks every question once and gives the answers and the percentiles."""
    for question in questions[:warm_up]:
        ask(question)
    answers, seconds = [], []
    for question in questions:
        begun = time.perf_counter()
        answers.append(ask(question))
        seconds.append(time.perf_counter() - begun)
    return answers, percentiles(seconds)


class Judged:
    """A set in BEIR's layout: documents, queries with judgements."""

    def __init__(self, folder):
        folder = Path(folder)
        lines = lambda name: (json.loads(line) for line in (folder / name).open(encoding="utf-8"))
        self.documents = [(one["_id"], one.get("title", ""), one["text"]) for one in lines("corpus.jsonl")]
        self.relevant = {}
        for line in (folder / "qrels/test.tsv").read_text().splitlines()[1:]:
            query, document, grade = line.split("\t")
            if int(grade) > 0:
                self.relevant.setdefault(query, {})[document] = int(grade)
        texts = {one["_id"]: one["text"] for one in lines("queries.jsonl")}
        self.query_ids = [query for query in self.relevant if query in texts]
        self.queries = [texts[query] for query in self.query_ids]

    def ndcg(self, answers):
        """Mean nDCG@10 of lists of document ids, one for each query."""
        total = 0.0
        for query, answer in zip(self.query_ids, answers):
            grades = self.relevant[query]
            gain = lambda ranked: sum(g / math.log2(rank + 2) for rank, g in enumerate(ranked))
            ideal = gain(sorted(grades.values(), reverse=True)[:TOP])
            total += gain([grades.get(document, 0) for document in answer[:TOP]]) / ideal
        return total / len(self.query_ids)


class Client:
    """JSON over one HTTP connection that stays open."""

    def __init__(self, port, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self.headers.update(headers or {})

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, self.headers)
        response = self.connection.getresponse()
        raw = response.read()
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: {response.status} {raw[:300]!r}")
        if raw.startswith(b"event:") or raw.startswith(b"data:"):
            raw = next(line[5:] for line in raw.splitlines() if line.startswith(b"data:"))
        return json.loads(raw) if raw else None

    def tool(self, name, arguments, path="/mcp"):
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        result = self.send("POST", path, body)["result"]
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]


class Dowse:
    """The binary under test with a configuration of ours, ended with the block."""

    def __init__(self, config, model=False):
        self.folder = tempfile.TemporaryDirectory(prefix="dowse-peers-")
        self.data = Path(self.folder.name) / "data"
        limits = "[limits]\nrate_per_minute = { default = 100000000, searchFiles = 100000000, rest = 100000000 }\n"
        embedder = "" if model else '[embedder]\nprovider = "none"\n'
        path = Path(self.folder.name) / "dowse.toml"
        path.write_text(f"data_dir = {json.dumps(str(self.data))}\n{limits}{embedder}{config}")
        self.begun = time.perf_counter()
        command = [os.environ["DOWSE_BINARY"], "serve", "--config", str(path), "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            found = re.search(r"listening on http://[^:]+:(\d+)", line)
            if found:
                break
        else:
            raise RuntimeError("the server did not start:\n" + "".join(lines))
        self.port = int(found.group(1))
        threading.Thread(target=lambda: self.process.stderr.read(), daemon=True).start()
        self.client = Client(self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def wait_for_files(self, n_files):
        """Waits until a folder is searchable by words, and gives the seconds since the start."""
        while True:
            roots = self.client.send("GET", "/v1/roots")["roots"]
            jobs = self.client.send("GET", "/v1/jobs")["jobs"]
            is_busy = any(job["status"] in ("queued", "running") for job in jobs)
            if sum(root.get("files") or 0 for root in roots) >= n_files and not is_busy:
                return time.perf_counter() - self.begun
            time.sleep(0.02)

    @staticmethod
    def version():
        said = subprocess.run([os.environ["DOWSE_BINARY"], "--version"], capture_output=True, text=True)
        return said.stdout.split()[-1]


def folder_of(judged):
    """Writes a judged set as a folder of text files, one for each document."""
    folder = tempfile.TemporaryDirectory(prefix="dowse-peers-set-")
    for document, title, text in judged.documents:
        (Path(folder.name) / f"{document}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return folder


def package_version(name):
    from importlib.metadata import version

    return version(name)


def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(is_true, seconds=120, pause=0.05):
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        try:
            if is_true():
                return
        except (OSError, http.client.HTTPException, RuntimeError):
            pass
        time.sleep(pause)
    raise RuntimeError("it did not come up in time")


def main(peers):
    """Runs the peer that the first argument names, with the folder of data as the second."""
    peers[sys.argv[1]](Path(sys.argv[2]))
