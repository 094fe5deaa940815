"""Search by words over a judged set: quality, time of a query, time, memory and disk of the index."""

import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

from common import (TOP, Client, Dowse, Judged, Timer, disk_mb, emit, folder_of, free_port, main,
                    own_peak_mb, package_version, peak_mb, timed, until)

SUBJECT = "words"


def report(peer, version, how, judged, answers, times, **figures):
    emit(SUBJECT, peer, version, how, ndcg_at_10=judged.ndcg(answers), **times, **figures)


def dowse(data):
    judged = Judged(data / "ir/scifact")
    folder = folder_of(judged)
    with Dowse(f'[files]\nroots = ["{folder.name}"]\nwatch = false\n') as server:
        index = server.wait_for_files(len(judged.documents))

        def ask(query):
            items = server.client.tool("searchFiles", {"query": query, "k": TOP})["items"]
            return [Path(item["path"]).stem for item in items]

        answers, times = timed(ask, judged.queries)
        peak = peak_mb(server.process.pid)
        server.stop()
        report("Dowse", Dowse.version(), "over MCP", judged, answers, times,
               index_s=index, peak_mb=peak, disk_mb=disk_mb(server.data))


def tantivy(data):
    import tantivy

    judged = Judged(data / "ir/scifact")
    with tempfile.TemporaryDirectory() as folder:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw")
        builder.add_text_field("title", stored=False, tokenizer_name="en_stem")
        builder.add_text_field("text", stored=False, tokenizer_name="en_stem")
        index = tantivy.Index(builder.build(), path=folder)
        with Timer() as timer:
            writer = index.writer(heap_size=128_000_000, num_threads=2)
            for document, title, text in judged.documents:
                writer.add_document(tantivy.Document(id=document, title=title, text=text))
            writer.commit()
            writer.wait_merging_threads()
        index.reload()
        searcher = index.searcher()

        def ask(query):
            plain = "".join(c if c.isalnum() else " " for c in query)
            parsed = index.parse_query(plain, ["title", "text"])
            return [searcher.doc(at)["id"][0] for _, at in searcher.search(parsed, TOP).hits]

        answers, times = timed(ask, judged.queries)
        report("tantivy-py", package_version("tantivy"), "in process", judged, answers, times,
               index_s=timer.seconds, peak_mb=own_peak_mb(), disk_mb=disk_mb(folder))


def bm25s(data):
    import bm25s
    import Stemmer

    judged = Judged(data / "ir/scifact")
    stemmer = Stemmer.Stemmer("english")
    tokens = lambda texts: bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    with tempfile.TemporaryDirectory() as folder:
        with Timer() as timer:
            retriever = bm25s.BM25(k1=0.9, b=0.4)
            corpus = [f"{title} {text}" for _, title, text in judged.documents]
            retriever.index(tokens(corpus), show_progress=False)
            retriever.save(folder)

        def ask(query):
            found, _ = retriever.retrieve(tokens([query]), k=TOP, show_progress=False)
            return [judged.documents[at][0] for at in found[0]]

        answers, times = timed(ask, judged.queries)
        report("bm25s (textbook BM25)", package_version("bm25s"), "in process", judged, answers, times,
               index_s=timer.seconds, peak_mb=own_peak_mb(), disk_mb=disk_mb(folder))


def fts5(data):
    judged = Judged(data / "ir/scifact")
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(Path(folder) / "words.db")
        with Timer() as timer:
            database.execute("CREATE VIRTUAL TABLE words USING fts5(id UNINDEXED, title, text, tokenize='porter unicode61')")
            database.executemany("INSERT INTO words VALUES (?, ?, ?)", judged.documents)
            database.commit()

        def ask(query):
            words = {word for word in "".join(c if c.isalnum() else " " for c in query).split()}
            match = " OR ".join(f'"{word}"' for word in words)
            rows = database.execute("SELECT id FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10", [match])
            return [row[0] for row in rows]

        answers, times = timed(ask, judged.queries)
        report("SQLite FTS5", sqlite3.sqlite_version, "in process", judged, answers, times,
               index_s=timer.seconds, peak_mb=own_peak_mb(), disk_mb=disk_mb(folder))


def meilisearch(data):
    import os

    judged = Judged(data / "ir/scifact")
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        program = Path(os.environ["PEER_MEILISEARCH"])
        program.chmod(0o755)  # npm unpacks the program without the right to run it
        command = [str(program), "--http-addr", f"127.0.0.1:{port}", "--no-analytics",
                   "--db-path", f"{folder}/db", "--env", "development"]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            client = Client(port)
            until(lambda: Client(port).send("GET", "/health"))
            version = client.send("GET", "/version")["pkgVersion"]
            with Timer() as timer:
                documents = [{"id": one[0], "title": one[1], "text": one[2]} for one in judged.documents]
                task = client.send("POST", "/indexes/words/documents?primaryKey=id", documents)["taskUid"]
                while client.send("GET", f"/tasks/{task}")["status"] in ("enqueued", "processing"):
                    time.sleep(0.02)

            def ask(query):
                body = {"q": query, "limit": TOP, "attributesToRetrieve": ["id"], "matchingStrategy": "frequency"}
                return [hit["id"] for hit in client.send("POST", "/indexes/words/search", body)["hits"]]

            answers, times = timed(ask, judged.queries)
            report("Meilisearch", version, "over HTTP", judged, answers, times,
                   index_s=timer.seconds, peak_mb=peak_mb(process.pid), disk_mb=disk_mb(folder))
        finally:
            process.terminate()
            process.wait(30)


def qmd(data):
    import json
    import os

    judged = Judged(data / "ir/scifact")
    folder = folder_of(judged)
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, HOME=home, XDG_CACHE_HOME=f"{home}/cache", XDG_CONFIG_HOME=f"{home}/config")
        run = lambda *words: subprocess.run([*os.environ["PEER_QMD"].split(), *words], env=environment,
                                            capture_output=True, text=True, check=True).stdout
        with Timer() as timer:
            run("collection", "add", folder.name, "--name", "words")
        queries = judged.queries[:40]

        def ask(query):
            plain = "".join(c if c.isalnum() else " " for c in query)
            said = run("search", plain, "-n", str(TOP), "--json")
            found = json.loads(said[said.find("["):]) if "[" in said else []
            return [Path(hit["file"]).stem for hit in found]

        answers, times = timed(ask, queries, warm_up=1)
        judged.query_ids = judged.query_ids[:40]
        report("qmd, by words", run("--version").split()[-1], "as a command, 40 queries", judged, answers, times,
               index_s=timer.seconds, disk_mb=disk_mb(home))


main({"dowse": dowse, "tantivy": tantivy, "bm25s": bm25s, "fts5": fts5, "meilisearch": meilisearch, "qmd": qmd})
