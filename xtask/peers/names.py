"""Names of administrative units looked up in a register of 14,578 institutions, as people spell them."""

import csv
import json
import os
import re
import tempfile
import unicodedata
from pathlib import Path

from common import Dowse, Timer, emit, main, own_peak_mb, package_version, peak_mb, timed, until

SUBJECT = "names"


def register(data):
    with (data / "romania/entities/ent_pub_2025.csv").open(encoding="utf-8-sig") as file:
        return [(row["CIF"], row["ENTITATE"]) for row in csv.DictReader(file, delimiter=";")]


def judged(data):
    """Lookups whose name belongs to one unit alone, every second of them."""
    lines = (data / "romania/entities/uat_name_to_cif.tsv").read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    rows = [dict(zip(header, line.split("\t"))) for line in lines[1:]]
    return [(row["query"], row["expected_cif"]) for row in rows if row["same_name_uats"] == "1"][::2]


def report(peer, version, how, asked, ask, **figures):
    answers, times = timed(ask, [query for query, _ in asked])
    first = sum(bool(answer) and answer[0] == code for (_, code), answer in zip(asked, answers))
    emit(SUBJECT, peer, version, how, hit_at_1=first / len(asked), **times, **figures)


def folded(text):
    text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9]+", " ", text).strip()


def dowse(data):
    rows = register(data)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "register.csv"
        with file.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([("cif", "name"), *rows])
        config = ('[[dimensions]]\ncategory = "entity"\n'
                  f'source = {json.dumps(str(file))}\nvalue = "cif"\nname = "name"\nfilter_key = "entity_cuis"\n')
        with Timer() as timer:
            server = Dowse(config)
            until(lambda: server.client.tool("search_filters", {"query": rows[0][1], "category": "entity"})["results"])
        with server:
            def ask(query):
                answer = server.client.tool("search_filters", {"query": query, "category": "entity", "limit": 10})
                return [one["filterValue"] for one in answer["results"]]

            report("Dowse", Dowse.version(), "over MCP", judged(data), ask, load_s=timer.seconds,
                   peak_mb=peak_mb(server.process.pid))


def rapidfuzz(data):
    from rapidfuzz import fuzz, process

    rows = register(data)
    with Timer() as timer:
        names = [folded(name) for _, name in rows]

    def ask(query):
        found = process.extract(folded(query), names, scorer=fuzz.WRatio, limit=10)
        return [rows[at][0] for _, _, at in found]

    report("rapidfuzz (WRatio, folded)", package_version("rapidfuzz"), "in process", judged(data)[::4], ask,
           load_s=timer.seconds, peak_mb=own_peak_mb())


def pg_trgm(data):
    import psycopg

    rows = register(data)
    with psycopg.connect(os.environ["PEER_POSTGRES_URL"], autocommit=True) as database:
        with Timer() as timer:
            database.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            database.execute("CREATE EXTENSION IF NOT EXISTS unaccent")
            database.execute("CREATE TEMP TABLE register (cif text, name text, folded text)")
            with database.cursor().copy("COPY register (cif, name, folded) FROM STDIN") as copy:
                for code, name in rows:
                    copy.write_row((code, name, folded(name)))
            database.execute("CREATE INDEX ON register USING gist (folded gist_trgm_ops)")
            database.execute("ANALYZE register")

        def ask(query):
            sql = "SELECT cif FROM register ORDER BY folded <-> %s LIMIT 10"
            return [row[0] for row in database.execute(sql, [folded(query)])]

        version = database.execute("SHOW server_version").fetchone()[0]
        report("pg_trgm (GiST, folded)", f"PostgreSQL {version}", "over a socket", judged(data), ask, load_s=timer.seconds)


main({"dowse": dowse, "rapidfuzz": rapidfuzz, "pg_trgm": pg_trgm})
