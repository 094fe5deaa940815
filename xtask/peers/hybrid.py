"""Search by words and vectors over a judged set, with a model that comes by package name.

The libraries get the vectors of all-MiniLM-L6-v2 in eight bits by onnxruntime, and fuse as their
documentation shows; Dowse has its own default model. The embedding of a query is part of its time.
"""

import os
import tempfile
import time
from pathlib import Path

from common import TOP, Dowse, Judged, Timer, disk_mb, emit, folder_of, main, own_peak_mb, package_version, peak_mb, timed

SUBJECT = "hybrid"
RRF_K = 60
DEPTH = 100


class MiniLm:
    """all-MiniLM-L6-v2, int8, two threads, batches of passages of like length."""

    def __init__(self):
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 2
        self.session = onnxruntime.InferenceSession(os.environ["PEER_MINILM_ONNX"], options)
        self.names = {given.name for given in self.session.get_inputs()}
        self.tokenizer = Tokenizer.from_file(os.environ["PEER_MINILM_TOKENIZER"])
        self.tokenizer.enable_truncation(256)
        self.tokenizer.no_padding()

    def embed(self, texts):
        import numpy

        tokens = [one.ids for one in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda at: len(tokens[at]))
        vectors = numpy.zeros((len(texts), 384), dtype=numpy.float32)
        for first in range(0, len(order), 16):
            batch = order[first:first + 16]
            width = max(len(tokens[at]) for at in batch)
            ids = numpy.zeros((len(batch), width), dtype=numpy.int64)
            mask = numpy.zeros((len(batch), width), dtype=numpy.int64)
            for row, at in enumerate(batch):
                ids[row, :len(tokens[at])] = tokens[at]
                mask[row, :len(tokens[at])] = 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            hidden = self.session.run(None, {name: value for name, value in given.items() if name in self.names})[0]
            if hidden.ndim == 3:
                weights = mask[:, :, None].astype(numpy.float32)
                hidden = (hidden * weights).sum(1) / weights.sum(1)
            vectors[batch] = hidden / numpy.linalg.norm(hidden, axis=1, keepdims=True)
        return vectors


def fused(*lists):
    scores = {}
    for ranked in lists:
        for rank, document in enumerate(ranked):
            scores[document] = scores.get(document, 0) + 1 / (RRF_K + rank + 1)
    return sorted(scores, key=scores.get, reverse=True)[:TOP]


def report(peer, version, judged, ask, index_seconds, folder):
    answers, times = timed(ask, judged.queries)
    emit(SUBJECT, peer, version, "in process", ndcg_at_10=judged.ndcg(answers), **times,
         index_s=index_seconds, peak_mb=own_peak_mb(), disk_mb=disk_mb(folder))


def dowse(data):
    judged = Judged(data / "ir/scifact")
    folder = folder_of(judged)
    with Dowse(f'[files]\nroots = ["{folder.name}"]\nwatch = false\n', model=True) as server:
        words = server.wait_for_files(len(judged.documents))

        def missing():
            answer = server.client.tool("searchFiles", {"query": "vaccine trial", "k": 1})
            return any("vector" in warning or "meaning" in warning for warning in answer.get("warnings") or [])

        while missing():
            time.sleep(1)
        index = time.perf_counter() - server.begun

        def ask(query):
            items = server.client.tool("searchFiles", {"query": query, "k": TOP})["items"]
            return [Path(item["path"]).stem for item in items]

        answers, times = timed(ask, judged.queries)
        peak = peak_mb(server.process.pid)
        server.stop()
        emit(SUBJECT, "Dowse", Dowse.version(), "over MCP", ndcg_at_10=judged.ndcg(answers), **times,
             words_after_s=words, index_s=index, peak_mb=peak, disk_mb=disk_mb(server.data))


def texts_of(judged):
    return [f"{title} {text}" for _, title, text in judged.documents]


def lancedb(data):
    import lancedb
    from lancedb.rerankers import RRFReranker

    judged, model = Judged(data / "ir/scifact"), MiniLm()
    with tempfile.TemporaryDirectory() as folder:
        with Timer() as timer:
            texts = texts_of(judged)
            vectors = model.embed(texts)
            rows = [{"id": one[0], "text": text, "vector": vector}
                    for one, text, vector in zip(judged.documents, texts, vectors)]
            table = lancedb.connect(folder).create_table("passages", rows)
            table.create_fts_index("text", replace=True)
        reranker = RRFReranker()

        def ask(query):
            plain = "".join(c if c.isalnum() else " " for c in query)
            asked = table.search(query_type="hybrid").vector(model.embed([query])[0]).text(plain)
            return [row["id"] for row in asked.rerank(reranker).limit(TOP).to_list()]

        report("LanceDB + MiniLM", package_version("lancedb"), judged, ask, timer.seconds, folder)


def chromadb(data):
    import chromadb

    judged, model = Judged(data / "ir/scifact"), MiniLm()
    with tempfile.TemporaryDirectory() as folder:
        settings = chromadb.config.Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(folder, settings)
        with Timer() as timer:
            texts = texts_of(judged)
            vectors = model.embed(texts)
            collection = client.create_collection("passages", metadata={"hnsw:space": "cosine"})
            for first in range(0, len(texts), 1000):
                part = slice(first, first + 1000)
                collection.add(ids=[one[0] for one in judged.documents[part]], documents=texts[part],
                               embeddings=vectors[part].tolist())

        def ask(query):
            found = collection.query(query_embeddings=[model.embed([query])[0].tolist()], n_results=TOP, include=[])
            return found["ids"][0]

        report("Chroma + MiniLM (vectors alone)", package_version("chromadb"), judged, ask, timer.seconds, folder)


def sqlite_vec(data):
    # Python's own module is often built without extensions.
    import pysqlite3 as sqlite3
    import sqlite_vec

    judged, model = Judged(data / "ir/scifact"), MiniLm()
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(Path(folder) / "both.db")
        database.enable_load_extension(True)
        sqlite_vec.load(database)
        with Timer() as timer:
            texts = texts_of(judged)
            vectors = model.embed(texts)
            database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
            database.execute("CREATE VIRTUAL TABLE vectors USING vec0(vector float[384] distance_metric=cosine)")
            database.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", enumerate(texts))
            database.executemany("INSERT INTO vectors(rowid, vector) VALUES (?, ?)",
                                 ((at, vector.tobytes()) for at, vector in enumerate(vectors)))
            database.commit()

        def ask(query):
            words = {word for word in "".join(c if c.isalnum() else " " for c in query).split()}
            match = " OR ".join(f'"{word}"' for word in words)
            by_words = database.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?", [match, DEPTH])
            by_vector = database.execute("SELECT rowid FROM vectors WHERE vector MATCH ? AND k = ? ORDER BY distance",
                                         [model.embed([query])[0].tobytes(), DEPTH])
            ids = fused([row[0] for row in by_words], [row[0] for row in by_vector])
            return [judged.documents[at][0] for at in ids]

        report("sqlite-vec + FTS5 + MiniLM", package_version("sqlite-vec"), judged, ask, timer.seconds, folder)


main({"dowse": dowse, "lancedb": lancedb, "chromadb": chromadb, "sqlite-vec": sqlite_vec})
