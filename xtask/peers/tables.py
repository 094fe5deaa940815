"""Three million flights: a filter with five facets and the first rows, and an average by group.

Every program gets the same Parquet file; the libraries read it into memory first. Dowse answers over
MCP with everything that an agent gets. The answers are compared before anything is timed.
"""

import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import Client, Dowse, Timer, emit, free_port, main, own_peak_mb, package_version, peak_mb, percentiles, until

SUBJECT = "tables"
N_QUESTIONS = 30
FACETS = ["origin", "destination", "date", "distance", "delay"]


def origins(n):
    return ["ATL", "DFW", "ORD", "LAX", "DEN", "IAH", "PHX", "LAS", "DTW", "CVG"][n % 10]


def run(peer, version, how, load_seconds, page, average, memory):
    """Asks both questions with other values each time."""
    figures = {}
    for name, ask in (("page", page), ("average", average)):
        ask(0)
        seconds = []
        for n in range(N_QUESTIONS):
            begun = time.perf_counter()
            ask(n)
            seconds.append(time.perf_counter() - begun)
        found = percentiles(seconds)
        figures |= {f"{name}_p50_ms": found["query_p50_ms"], f"{name}_p99_ms": found["query_p99_ms"]}
    emit(SUBJECT, peer, version, how, **figures, load_s=load_seconds, peak_mb=memory())


def dowse(data):
    path = data / "tables/vega-datasets/flights-3m.parquet"
    drafted = subprocess.run([__import__("os").environ["DOWSE_BINARY"], "tables", "infer", str(path)],
                             capture_output=True, text=True, check=True).stdout
    with Timer() as timer:
        server = Dowse(drafted)
        until(lambda: server.client.send("GET", "/readyz") and server.client.tool("describe_schema", {}), 300)
    with server:
        def page(n):
            return server.client.tool("query_table", {"filters": {"origin": {"eq": origins(n)}}, "pageSize": 10, "facets": FACETS})

        def average(n):
            arguments = {"group_by": ["origin"], "measures": [{"op": "count"}, {"op": "avg", "field": "delay"}],
                         "filters": {"distance": {"min": 100 * (n % 10)}}, "limit": 500}
            return server.client.tool("aggregate_table", arguments)

        run("Dowse", Dowse.version(), "over MCP", timer.seconds, page, average, lambda: peak_mb(server.process.pid))


def duckdb(data):
    import duckdb

    path = data / "tables/vega-datasets/flights-3m.parquet"
    database = duckdb.connect()
    database.execute("SET threads = 2")
    with Timer() as timer:
        database.execute(f"CREATE TABLE flights AS SELECT * FROM read_parquet('{path}')")

    def page(n):
        where = [origins(n)]
        database.execute("SELECT count(*) FROM flights WHERE origin = ?", where).fetchall()
        for facet in FACETS:
            database.execute(f"SELECT {facet}, count(*) FROM flights WHERE origin = ? GROUP BY 1 ORDER BY 2 DESC LIMIT 100", where).fetchall()
        return database.execute("SELECT * FROM flights WHERE origin = ? LIMIT 10", where).fetchall()

    def average(n):
        return database.execute("SELECT origin, count(*), avg(delay) FROM flights WHERE distance >= ? GROUP BY 1", [100 * (n % 10)]).fetchall()

    run("DuckDB", package_version("duckdb"), "in process", timer.seconds, page, average, own_peak_mb)


def polars(data):
    import polars

    path = data / "tables/vega-datasets/flights-3m.parquet"
    with Timer() as timer:
        flights = polars.read_parquet(path)

    def page(n):
        lazy = flights.lazy().filter(polars.col("origin") == origins(n))
        facets = [lazy.group_by(facet).len().sort("len", descending=True).head(100) for facet in FACETS]
        return polars.collect_all([lazy.select(polars.len()), *facets, lazy.head(10)])

    def average(n):
        lazy = flights.lazy().filter(polars.col("distance") >= 100 * (n % 10))
        return lazy.group_by("origin").agg(polars.len(), polars.col("delay").mean()).collect()

    run("polars", package_version("polars"), "in process", timer.seconds, page, average, own_peak_mb)


def datasette(data):
    import duckdb

    path = data / "tables/vega-datasets/flights-3m.parquet"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "flights.db"
        with Timer() as timer:
            source = duckdb.connect()
            columns = [row[0] for row in source.execute(f"DESCRIBE SELECT * FROM read_parquet('{path}')").fetchall()]
            database = sqlite3.connect(file)
            database.execute(f"CREATE TABLE flights ({', '.join(columns)})")
            rows = source.execute(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM read_parquet('{path}')")
            while part := rows.fetchmany(100_000):
                database.executemany(f"INSERT INTO flights VALUES ({', '.join('?' * len(columns))})", part)
            database.execute("CREATE INDEX flights_origin ON flights (origin)")
            database.commit()
            database.close()
        port = free_port()
        command = [sys.executable, "-m", "datasette", str(file), "--port", str(port),
                   "--setting", "sql_time_limit_ms", "60000", "--setting", "facet_time_limit_ms", "60000"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until(lambda: Client(port).send("GET", "/-/versions.json"))
            client = Client(port)
            facets = "".join(f"&_facet={facet}" for facet in FACETS)

            def page(n):
                return client.send("GET", f"/flights/flights.json?origin={origins(n)}&_size=10{facets}")

            def average(n):
                sql = f"select+origin,count(*),avg(delay)+from+flights+where+cast(distance+as+int)>={100 * (n % 10)}+group+by+1"
                return client.send("GET", f"/flights.json?sql={sql}")

            run("datasette", package_version("datasette"), "over HTTP", timer.seconds, page, average, lambda: peak_mb(process.pid))
        finally:
            process.terminate()
            process.wait(30)


main({"dowse": dowse, "duckdb": duckdb, "polars": polars, "datasette": datasette})
