"""The official Python client of turbopuffer against our loopback server.

usage: turbopuffer_session.py URL KEY

What the Rust client is tested with is only worth something when the server behaves as others
expect it to: this is the same set of scenarios through the client that turbopuffer ships.
Prints one line when everything was as expected; otherwise the traceback names what was not.
"""

import json
import sys
import urllib.request

import turbopuffer
from turbopuffer import Turbopuffer

WORDS = {"tokenizer": "pre_tokenized_array", "k1": 0.9, "b": 0.4}
SCHEMA = {
    "document": "string",
    "number": "uint",
    "has_vector": "bool",
    "k_ext": "[]string",
    "n_year": "int",
    "text": {"type": "string", "filterable": False},
    "text_length": "uint",
    "text_folded": {"type": "[]string", "full_text_search": WORDS},
    "vector": {"type": "[3]f32", "ann": {"distance_metric": "cosine_distance"}},
}


def row(number: int, text: str, vector: list[float] | None, ext: str, year: int | None) -> dict:
    """A passage in the shape that the Rust store writes."""
    words = text.split()
    return {
        "id": f"d{number}#0",
        "document": f"d{number}",
        "number": number,
        "has_vector": vector is not None,
        "vector": vector or [1.0, 0.0, 0.0],
        "k_ext": [ext],
        "n_year": year,
        "text": text,
        "text_length": len(words),
        "text_folded": words,
    }


def main() -> None:
    url, key = sys.argv[1:]
    client = Turbopuffer(api_key=key, base_url=url, max_retries=4)
    scenarios = [
        writes_and_reads, both_in_one_request, filters, columns_patches_and_deletes, schemas,
        words_of_the_engine, refusals, limits, namespaces, consistency, faults,
    ]
    for scenario in scenarios:
        scenario(client, url)
    wrong = Turbopuffer(api_key="wrong", base_url=url, max_retries=0)
    refused(turbopuffer.AuthenticationError, lambda: wrong.namespace("x").query(rank_by=("id", "asc"), top_k=1))
    print(f"turbopuffer {turbopuffer.__version__}, python: {len(scenarios) + 1} scenarios passed")


def filled(client: Turbopuffer, name: str):
    namespace = client.namespace(name)
    namespace.write(
        upsert_rows=[
            row(0, "red apple pie", [1.0, 0.0, 0.0], "pdf", 2020),
            row(1, "green apple", [0.0, 1.0, 0.0], "docx", 2021),
            row(2, "apple red", None, "pdf", None),
            row(3, "pie chart", [0.9, 0.1, 0.0], "txt", -5),
        ],
        schema=SCHEMA,
        distance_metric="cosine_distance",
    )
    return namespace


def ids(result) -> list[str]:
    return [found.id for found in result.rows or []]


def writes_and_reads(client: Turbopuffer, url: str) -> None:
    namespace = filled(client, "reads")
    found = namespace.query(rank_by=("text_folded", "BM25", ["apple"]), limit=10, include_attributes=["document"])
    assert sorted(ids(found)) == ["d0#0", "d1#0", "d2#0"], found
    assert found.rows[0].document in {"d1", "d2"}, "shorter passages rank first"
    assert found.rows[0]["$dist"] > 0
    before = ids(namespace.query(rank_by=("id", "asc"), limit=10))
    namespace.write(upsert_rows=[row(1, "green pear", [0.0, 1.0, 0.0], "docx", 2021)], deletes=["d3#0"], schema=SCHEMA)
    assert ids(namespace.query(rank_by=("id", "asc"), limit=10)) == before[:3], "one write does both"
    assert ids(namespace.query(rank_by=("text_folded", "BM25", ["pear"]), limit=10)) == ["d1#0"]
    again = namespace.write(upsert_rows=[row(1, "green pear", [0.0, 1.0, 0.0], "docx", 2021)], schema=SCHEMA)
    assert again.rows_affected == 1 and namespace.metadata().approx_row_count == 3, "writing again changes nothing"


def both_in_one_request(client: Turbopuffer, url: str) -> None:
    namespace = filled(client, "both")
    answer = namespace.multi_query(
        queries=[
            {"rank_by": ("vector", "ANN", [1.0, 0.0, 0.0]), "limit": 10, "filters": ("has_vector", "Eq", True)},
            {"rank_by": ("Sum", [("Product", 2.0, ("text_folded", "BM25", ["pie"]))]), "limit": 10},
            {"aggregate_by": {"n": ("Count",), "words": ("Sum", "text_length")}},
            {"aggregate_by": {"n": ("Count",)}, "filters": ("text_folded", "ContainsAnyToken", ["apple"])},
        ]
    )
    near, words, totals, holding = answer.results
    assert ids(near) == ["d0#0", "d3#0", "d1#0"], near
    assert abs(near.rows[0]["$dist"]) < 1e-6, near
    assert sorted(ids(words)) == ["d0#0", "d3#0"], words
    assert totals.aggregations == {"n": 4, "words": 9}, totals
    assert holding.aggregations == {"n": 3}, holding


def filters(client: Turbopuffer, url: str) -> None:
    namespace = filled(client, "filters")

    def check(condition, expected: list[int]) -> None:
        found = namespace.query(rank_by=("id", "asc"), limit=10, filters=condition)
        assert ids(found) == [f"d{number}#0" for number in expected], (condition, ids(found))

    check(("k_ext", "Contains", "pdf"), [0, 2])
    check(("Not", ("k_ext", "Contains", "pdf")), [1, 3])
    check(("k_ext", "ContainsAny", ["docx", "txt"]), [1, 3])
    check(("And", [("n_year", "Gte", -10), ("n_year", "Lte", 2020)]), [0, 3])
    check(("Not", ("n_year", "Gte", -10)), [2])
    check(("n_year", "Eq", None), [2])
    check(("document", "In", ["d1", "d2"]), [1, 2])
    check(("And", [("document", "Gte", "d1"), ("document", "Lt", "d3")]), [1, 2])
    check(("text_folded", "ContainsAllTokens", ["red", "apple"]), [0, 2])
    check(("text_folded", "ContainsTokenSequence", ["red", "apple"]), [0])
    check(("text_folded", "ContainsAnyToken", ["app"], {"last_as_prefix": True}), [0, 1, 2])
    check(("Or", [("k_ext", "Contains", "txt"), ("And", [("k_ext", "Contains", "pdf"), ("number", "Eq", 2)])]), [2, 3])


def columns_patches_and_deletes(client: Turbopuffer, url: str) -> None:
    namespace = client.namespace("columns")
    namespace.write(upsert_columns={"id": [1, 2, 3], "a": ["x", "y", None], "n": [1, 2, 3]})
    namespace.write(patch_rows=[{"id": 1, "a": "patched"}, {"id": 99, "a": "nobody"}])
    namespace.write(patch_columns={"id": [2], "n": [20]})
    found = namespace.query(rank_by=("n", "desc"), limit=10, include_attributes=True)
    shown = [{name: value for name, value in dict(row).items() if value is not None} for row in found.rows]
    assert shown == [
        {"id": 2, "a": "y", "n": 20}, {"id": 3, "n": 3}, {"id": 1, "a": "patched", "n": 1},
    ], found.rows
    done = namespace.write(delete_by_filter=("n", "Gt", 2), return_affected_ids=True)
    assert done.rows_deleted == 2 and sorted(done.deleted_ids) == [2, 3], done
    done = namespace.write(patch_by_filter={"filters": ("n", "Eq", 1), "patch": {"a": "again"}})
    assert done.rows_patched == 1, done
    assert [found.a for found in namespace.query(rank_by=("id", "asc"), limit=9, include_attributes=["a"]).rows] == ["again"]
    refused(turbopuffer.BadRequestError, lambda: namespace.write(upsert_columns={"id": [1, 2], "a": ["x"]}))


def schemas(client: Turbopuffer, url: str) -> None:
    namespace = filled(client, "schemas")
    schema = namespace.schema()
    assert schema["text"].type == "string" and schema["text"].filterable is False
    assert schema["text_folded"].full_text_search.tokenizer == "pre_tokenized_array"
    refused(turbopuffer.BadRequestError, lambda: namespace.query(rank_by=("id", "asc"), limit=1, filters=("text", "Eq", "x")))
    refused(turbopuffer.BadRequestError, lambda: namespace.query(rank_by=("id", "asc"), limit=1, filters=("unknown", "Eq", "x")))
    refused(turbopuffer.BadRequestError, lambda: namespace.write(upsert_rows=[row(9, "x", [1.0, 2.0], "pdf", 1)], schema=SCHEMA))
    refused(turbopuffer.BadRequestError, lambda: namespace.write(upsert_rows=[{"id": "no-vector", "number": 1}]))
    refused(turbopuffer.BadRequestError, lambda: namespace.write(patch_rows=[{"id": "d0#0", "vector": [1.0, 0.0, 0.0]}]))
    refused(turbopuffer.BadRequestError, lambda: namespace.write(upsert_rows=[], schema={"number": "string"}))
    refused(turbopuffer.BadRequestError, lambda: namespace.write(upsert_rows=[row(0, "x", None, "pdf", 1), row(0, "y", None, "pdf", 1)], schema=SCHEMA))


def words_of_the_engine(client: Turbopuffer, url: str) -> None:
    namespace = client.namespace("words")
    texts = ["the walrus is slow", "a quick fox", "the fox and the walrus"]
    namespace.write(
        upsert_rows=[{"id": number, "content": text} for number, text in enumerate(texts)],
        schema={"content": {"type": "string", "full_text_search": True}},
    )
    assert ids(namespace.query(rank_by=("content", "BM25", "quick fox"), top_k=10)) == [1, 2]
    assert ids(namespace.query(rank_by=("content", "BM25", "WALRUS"), top_k=10)) == [0, 2]
    for weighed in [("Product", 0.5, ("content", "BM25", "fox")), ("Product", ("content", "BM25", "fox"), 0.5)]:
        assert len(ids(namespace.query(rank_by=weighed, top_k=10))) == 2


def refusals(client: Turbopuffer, url: str) -> None:
    namespace = filled(client, "refusals")
    refused(turbopuffer.BadRequestError, lambda: namespace.query(rank_by=("text_folded", "BM25", "apple"), limit=1), 'for rank_by field "text_folded", expecting []string')
    refused(turbopuffer.UnprocessableEntityError, lambda: namespace.write(upsert_rows={"id": 1}), "invalid type: map, expected a sequence")
    refused(turbopuffer.UnprocessableEntityError, lambda: namespace.query(rank_by=("id", "asc"), limit=1, consistency="eventual"), 'invalid type: string "eventual", expected struct Consistency')
    refused(turbopuffer.UnprocessableEntityError, lambda: namespace.query(rank_by=("id", "asc"), limit=1, consistency={"level": "soon"}), "unknown variant `soon`, expected `strong` or `eventual`")
    refused(turbopuffer.UnprocessableEntityError, lambda: namespace.query(rank_by=("id", "asc"), limit=1, extra_body={"unknown": 1}), "unknown field `unknown`")
    refused(turbopuffer.BadRequestError, lambda: namespace.query(rank_by=("vector", "ANN", [1.0, 2.0]), limit=1), "3 dimensions")
    refused(turbopuffer.NotFoundError, lambda: client.namespace("nowhere").query(rank_by=("id", "asc"), limit=1))


def limits(client: Turbopuffer, url: str) -> None:
    namespace = filled(client, "limits")
    refused(turbopuffer.BadRequestError, lambda: namespace.write(upsert_rows=[{**row(5, "x", None, "pdf", 1), "id": "x" * 65}], schema=SCHEMA), "64")
    namespace.write(upsert_rows=[{**row(5, "x", None, "pdf", 1), "id": "x" * 64}], schema=SCHEMA)
    refused(turbopuffer.BadRequestError, lambda: namespace.write(upsert_rows=[{**row(6, "x", None, "pdf", 1), "document": "x" * 4097}], schema=SCHEMA), "4096")
    refused(turbopuffer.BadRequestError, lambda: namespace.query(rank_by=("id", "asc"), limit=10_001), "10000")
    seventeen = [{"rank_by": ("id", "asc"), "limit": 1}] * 17
    refused(turbopuffer.BadRequestError, lambda: namespace.multi_query(queries=seventeen), "16")
    refused(turbopuffer.BadRequestError, lambda: client.namespace("bad name").write(upsert_rows=[{"id": 1}]))


def namespaces(client: Turbopuffer, url: str) -> None:
    for name in ["list-a", "list-b", "list-c", "other"]:
        client.namespace(name).write(upsert_rows=[{"id": 1}])
    listed = [found.id for found in client.namespaces(prefix="list-", page_size=2)]
    assert listed == ["list-a", "list-b", "list-c"], listed
    assert client.namespace("list-a").hint_cache_warm().status == "ACCEPTED"
    client.namespace("list-a").delete_all()
    refused(turbopuffer.NotFoundError, lambda: client.namespace("list-a").delete_all())
    refused(turbopuffer.NotFoundError, lambda: client.namespace("list-a").metadata())


def consistency(client: Turbopuffer, url: str) -> None:
    namespace = client.namespace("consistency")
    namespace.write(upsert_rows=[{"id": 1}])
    control(url, "lag")
    namespace.write(upsert_rows=[{"id": 2}])

    def seen(level: str) -> list[int]:
        return ids(namespace.query(rank_by=("id", "asc"), limit=9, consistency={"level": level}))

    assert seen("strong") == [1, 2]
    assert seen("eventual") == [1]
    control(url, "flush")
    assert seen("eventual") == [1, 2]


def faults(client: Turbopuffer, url: str) -> None:
    namespace = filled(client, "faults")
    control(url, "fail", status=429, retry_after=0, times=2)
    namespace.write(upsert_rows=[row(7, "late", None, "pdf", 1)], schema=SCHEMA)
    control(url, "fail", status=500)
    assert ids(namespace.query(rank_by=("text_folded", "BM25", ["late"]), limit=9)) == ["d7#0"]
    control(url, "fail", kind="hang_up")
    assert len(ids(namespace.query(rank_by=("id", "asc"), limit=9))) == 5
    control(url, "fail", status=429, retry_after=0)
    impatient = client.with_options(max_retries=0)
    refused(turbopuffer.RateLimitError, lambda: impatient.namespace("faults").query(rank_by=("id", "asc"), limit=1))
    control(url, "fail", kind="stall")
    hurried = client.with_options(max_retries=0, timeout=0.2)
    refused(turbopuffer.APITimeoutError, lambda: hurried.namespace("faults").query(rank_by=("id", "asc"), limit=1))


def refused(kind: type[Exception], call, words: str = "") -> None:
    try:
        answer = call()
    except kind as error:
        assert words in str(error), f"{words!r} is not in {error}"
    else:
        raise AssertionError(f"expected {kind.__name__}, got {answer}")


def control(url: str, what: str, **options) -> None:
    request = urllib.request.Request(f"{url}/_control/{what}", data=json.dumps(options).encode())
    urllib.request.urlopen(request, timeout=10).read()


main()
