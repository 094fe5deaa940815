"""Asks DuckDB, polars and DataFusion what the bench asks of our columns, and prints the figures as
JSON. DataFusion is left out where Python does not have it.

Arguments: the file, the facet columns (the last one is also the sorted one), the number of runs.
"""

import json
import sys
import time

import duckdb
import polars

try:
    import datafusion
except ImportError:
    datafusion = None

path, facets, runs = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
sorted_by = facets[-1]
figures = []


def median_ms(ask):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        ask()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1000


database = duckdb.connect()
database.execute("SET enable_progress_bar = false")
reader = "read_parquet" if path.endswith(".parquet") else "read_csv"
options = "" if path.endswith(".parquet") else ", nullstr=['NA', '']"
# Moments without a zone need no further package of Python's to be fetched.
columns = "*" if path.endswith(".parquet") else "* REPLACE (time_hour AT TIME ZONE 'UTC' AS time_hour)"
start = time.perf_counter()
database.execute(f"CREATE TABLE flights AS SELECT {columns} FROM {reader}('{path}'{options})")
figures.append(("duckdb load", (time.perf_counter() - start) * 1000, "ms", "into a native table"))
where = "WHERE distance BETWEEN 500 AND 1500"


STATEMENTS = [
    f"SELECT count(*) FROM flights {where}",
    *(
        f"SELECT {name}, count(*) FROM flights {where} GROUP BY 1 ORDER BY 2 DESC LIMIT 100"
        for name in facets
    ),
    f"SELECT min({sorted_by}), max({sorted_by}) FROM flights {where}",
    f"SELECT * FROM flights {where} ORDER BY {sorted_by} DESC NULLS LAST LIMIT 50",
]


def ask_duckdb():
    for statement in STATEMENTS:
        database.execute(statement).fetchall()


figures.append(("duckdb query", median_ms(ask_duckdb), "ms p50", f"native table, {duckdb.__version__}"))

start = time.perf_counter()
if path.endswith(".parquet"):
    frame = polars.read_parquet(path)
else:
    frame = polars.read_csv(path, null_values=["NA", ""], infer_schema_length=100000)
figures.append(("polars load", (time.perf_counter() - start) * 1000, "ms", "into a frame"))


def ask_polars():
    passing = frame.lazy().filter(polars.col("distance").is_between(500, 1500))
    questions = [passing.select(polars.len())]
    for name in facets:
        questions.append(
            passing.group_by(name).len().sort("len", descending=True).head(100)
        )
    questions.append(
        passing.select(
            polars.col(sorted_by).min().alias("low"), polars.col(sorted_by).max().alias("high")
        )
    )
    questions.append(passing.sort(sorted_by, descending=True, nulls_last=True).head(50))
    polars.collect_all(questions)


figures.append(("polars query", median_ms(ask_polars), "ms p50", f"one collect_all, {polars.__version__}"))

if datafusion is not None:
    context = datafusion.SessionContext()
    # The frame that polars has read, so that all three have the same columns of the same types.
    context.register_record_batches("flights", [frame.to_arrow().to_batches()])

    def ask_datafusion():
        for statement in STATEMENTS:
            context.sql(statement).collect()

    note = f"batches in memory, {datafusion.__version__}"
    figures.append(("datafusion query", median_ms(ask_datafusion), "ms p50", note))
print(json.dumps([dict(zip(("name", "value", "unit", "note"), figure)) for figure in figures]))
