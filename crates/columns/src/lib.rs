//! Rows in, filtered, faceted and sorted pages out: the engine under `query_table` and charts.
