"""The same aggregates in DuckDB, polars and DataFusion, over the file read into memory. Prints JSON.

DataFusion is left out where Python does not have it.
"""

import json
import statistics
import sys
import time

import duckdb
import polars

try:
    import datafusion
except ImportError:
    datafusion = None

path, _, n_runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
is_parquet = path.endswith(".parquet")
delay, destination, moment = (
    ("delay", "destination", "date") if is_parquet else ("arr_delay", "dest", "time_hour")
)
reader = "read_parquet" if is_parquet else "read_csv"
options = "" if is_parquet else ", nullstr = 'NA'"
database = duckdb.connect()
# Moments without a zone need no further package of Python's to be fetched.
columns = "*" if is_parquet else "* REPLACE (time_hour AT TIME ZONE 'UTC' AS time_hour)"
database.execute(f"CREATE TABLE t AS SELECT {columns} FROM {reader}('{path}'{options})")
if is_parquet:
    frame = polars.read_parquet(path)
else:
    frame = polars.read_csv(
        path, null_values=["NA", ""], infer_schema_length=100000, try_parse_dates=True
    )

SQL = {
    "count and mean by origin": f"SELECT origin, count(*), avg({delay}) FROM t GROUP BY 1 ORDER BY 1",
    "count and sum by month": f"SELECT date_trunc('month', {moment}) AS m, count(*), sum(distance) FROM t GROUP BY 1 ORDER BY 1",
    "median and p95 by origin": f"SELECT origin, quantile_cont({delay}, 0.5), quantile_cont({delay}, 0.95) FROM t GROUP BY 1 ORDER BY 1",
    "distinct destinations by origin": f"SELECT origin, count(DISTINCT {destination}) FROM t GROUP BY 1 ORDER BY 1",
    "count and mean by origin and destination": f"SELECT origin, {destination}, count(*), avg({delay}) FROM t GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 500",
    "two sums and the last moment by origin and destination": f"SELECT origin, {destination}, sum({delay}), sum(distance), max({moment}) FROM t GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 500",
    "count by delay and distance": f"SELECT {delay} AS d, distance, count(*) FROM t GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 500",
    "count by day": f"SELECT date_trunc('day', {moment}) AS m, count(*) FROM t GROUP BY 1 ORDER BY 1",
    "count and mean by origin and day": f"SELECT origin, date_trunc('day', {moment}) AS m, count(*), avg({delay}) FROM t GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 500",
    "sum, mean and extremes of all rows": f"SELECT sum({delay}), avg({delay}), min({delay}), max({delay}) FROM t",
    "distinct moments of all rows": f"SELECT count(DISTINCT {moment}) FROM t",
}
POLARS = {
    "count and mean by origin": lambda f: f.group_by("origin").agg(polars.len(), polars.col(delay).mean()).sort("origin"),
    "count and sum by month": lambda f: f.group_by(polars.col(moment).dt.truncate("1mo")).agg(polars.len(), polars.col("distance").sum()).sort(moment),
    "median and p95 by origin": lambda f: f.group_by("origin").agg(polars.col(delay).median().alias("a"), polars.col(delay).quantile(0.95, "linear").alias("b")).sort("origin"),
    "distinct destinations by origin": lambda f: f.group_by("origin").agg(polars.col(destination).n_unique()).sort("origin"),
    "count and mean by origin and destination": lambda f: f.group_by("origin", destination).agg(polars.len(), polars.col(delay).mean()).sort("origin", destination).head(500),
    "two sums and the last moment by origin and destination": lambda f: f.group_by("origin", destination).agg(polars.col(delay).sum(), polars.col("distance").sum(), polars.col(moment).max()).sort("origin", destination).head(500),
    "count by delay and distance": lambda f: f.group_by(delay, "distance").agg(polars.len()).sort(delay, "distance").head(500),
    "count by day": lambda f: f.group_by(polars.col(moment).dt.truncate("1d")).agg(polars.len()).sort(moment),
    "count and mean by origin and day": lambda f: f.group_by("origin", polars.col(moment).dt.truncate("1d")).agg(polars.len(), polars.col(delay).mean()).sort("origin", moment).head(500),
    "sum, mean and extremes of all rows": lambda f: f.select(polars.col(delay).sum().alias("a"), polars.col(delay).mean().alias("b"), polars.col(delay).min().alias("c"), polars.col(delay).max().alias("d")),
    "distinct moments of all rows": lambda f: f.select(polars.col(moment).n_unique()),
}


def median(work):
    times = []
    for _ in range(n_runs):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times), min(times)


figures = []
for name, sql in SQL.items():
    p50, best = median(lambda: database.execute(sql).fetchall())
    note = f"DuckDB {duckdb.__version__}, table in memory; the quickest run {best:.2f} ms"
    figures.append({"name": f"{name}, DuckDB", "value": p50, "unit": "ms p50", "note": note})
for name, work in POLARS.items():
    p50, best = median(lambda: work(frame))
    note = f"polars {polars.__version__}, frame in memory; the quickest run {best:.2f} ms"
    figures.append({"name": f"{name}, polars", "value": p50, "unit": "ms p50", "note": note})
if datafusion is not None:
    context = datafusion.SessionContext()
    # The frame that polars has read, so that all three have the same columns of the same types.
    context.register_record_batches("t", [frame.to_arrow().to_batches()])
    for name, sql in SQL.items():
        exact = sql.replace(f"quantile_cont({delay}, 0.5)", f"median({delay})")
        last = f"quantile_cont({delay}, 0.95)"
        exact = exact.replace(last, f"percentile_cont(0.95) WITHIN GROUP (ORDER BY {delay})")
        note = f"DataFusion {datafusion.__version__}, batches in memory"
        try:
            context.sql(exact).collect()
        except Exception:
            # A version without an exact percentile: a sketch is less work, and the note says so.
            exact = exact.replace("percentile_cont(0.95) WITHIN", "approx_percentile_cont(0.95) WITHIN")
            note += ", the 95th percentile approximate"
        p50, best = median(lambda: context.sql(exact).collect())
        note += f"; the quickest run {best:.2f} ms"
        figures.append({"name": f"{name}, DataFusion", "value": p50, "unit": "ms p50", "note": note})
print(json.dumps(figures))
