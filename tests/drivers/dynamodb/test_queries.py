"""Query and Scan: key conditions, order, pages in both directions, filters, projections, segments.

Sources: Amazon DynamoDB API Reference (Query, Scan), Developer Guide ("Key condition expressions for the Query
operation", "Filter expressions", "Paginating table query results").
"""

import pytest

import endpoint
from wire import Fails, Invalid, Number, cases, item, items, query, scan

ROWS = [{"pk": "a", "sk": number, "v": f"v{number % 3}", "n": number} for number in (-10, -1, 0, 1, 2, 3, 10, 20)]
OTHERS = [{"pk": "b", "sk": number, "v": "v0"} for number in (1, 2)]
SKS = [row["sk"] for row in ROWS]
ALL = {":p": "a"}


def with_values(**more):
    return {":p": "a", **{f":{name}": inner for name, inner in more.items()}}


NUMBERED = {
    # id: condition, values, sort keys or error
    "hash": ("pk = :p", ALL, SKS),
    "hash-nobody": ("pk = :p", {":p": "z"}, []),
    "hash-value-first": (":p = pk", ALL, SKS),
    "eq": ("pk = :p AND sk = :s", with_values(s=2), [2]),
    "eq-by-value": ("pk = :p AND sk = :s", with_values(s=Number("2.000")), [2]),
    "eq-nobody": ("pk = :p AND sk = :s", with_values(s=7), []),
    "range-first": ("sk = :s AND pk = :p", with_values(s=2), [2]),
    "lt": ("pk = :p AND sk < :s", with_values(s=2), [-10, -1, 0, 1]),
    "le": ("pk = :p AND sk <= :s", with_values(s=2), [-10, -1, 0, 1, 2]),
    "gt": ("pk = :p AND sk > :s", with_values(s=2), [3, 10, 20]),
    "ge": ("pk = :p AND sk >= :s", with_values(s=2), [2, 3, 10, 20]),
    "value-first-turns": ("pk = :p AND :s < sk", with_values(s=2), [3, 10, 20]),
    "between": ("pk = :p AND sk BETWEEN :s AND :t", with_values(s=-1, t=3), [-1, 0, 1, 2, 3]),
    "between-one": ("pk = :p AND sk BETWEEN :s AND :t", with_values(s=3, t=3), [3]),
    "between-nobody": ("pk = :p AND sk BETWEEN :s AND :t", with_values(s=4, t=9), []),
    "between-swapped": (
        "pk = :p AND sk BETWEEN :s AND :t",
        with_values(s=9, t=4),
        Invalid("upper bound to be greater than or equal to lower bound"),
    ),
    "parentheses": ("(pk = :p) AND (sk > :s)", with_values(s=2), [3, 10, 20]),
    "begins-number": ("pk = :p AND begins_with(sk, :s)", with_values(s=1), Invalid("[Ii]ncorrect operand type")),
    "begins-on-number-key": ("pk = :p AND begins_with(sk, :s)", with_values(s="1"), Invalid("type")),
    "no-hash": ("sk = :s", {":s": 1}, Invalid("Query condition missed key schema element")),
    "hash-not-eq": ("pk > :p", ALL, Invalid("Query key condition not supported")),
    "hash-begins": ("begins_with(pk, :p)", ALL, Invalid("Query key condition not supported")),
    "or": ("pk = :p OR sk = :s", with_values(s=1), Invalid("OR|Invalid operator used in KeyConditionExpression")),
    "not": ("NOT pk = :p", ALL, Invalid("NOT|Invalid operator used in KeyConditionExpression")),
    "ne": (
        "pk = :p AND sk <> :s",
        with_values(s=1),
        Invalid("<>|Invalid operator used in KeyConditionExpression|not supported"),
    ),
    "in": ("pk = :p AND sk IN (:s)", with_values(s=1), Invalid("IN|Invalid operator used in KeyConditionExpression")),
    "function": (
        "pk = :p AND attribute_exists(sk)",
        ALL,
        Invalid("[Ii]nvalid operator|attribute_exists|not supported"),
    ),
    "two-on-the-range": (
        "pk = :p AND sk > :s AND sk < :t",
        with_values(s=1, t=9),
        Invalid("must only contain one condition per key"),
    ),
    "two-on-the-hash": (
        "pk = :p AND pk = :q",
        {":p": "a", ":q": "a"},
        Invalid("must only contain one condition per key"),
    ),
    "no-key": (
        "pk = :p AND v = :s",
        with_values(s="v0"),
        Invalid("Query condition missed key schema element|key condition"),
    ),
    "range-of-another-type": (
        "pk = :p AND sk = :s",
        with_values(s="2"),
        Invalid("[Cc]ondition parameter type does not match schema type"),
    ),
    "hash-of-another-type": ("pk = :p", {":p": 1}, Invalid("[Cc]ondition parameter type does not match schema type")),
    "nested": ("pk.x = :p", ALL, Invalid("nested|KeyConditionExpression|Key attributes must be scalars")),
    "empty": ("", None, Invalid("The expression can not be empty")),
    "none": (None, None, Invalid("[Ee]ither the KeyConditions or KeyConditionExpression parameter must be specified")),
    "syntax": ("pk = ", None, Invalid("Syntax error")),
    "unused": (
        "pk = :p",
        with_values(q=1),
        Invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:q}"),
    ),
    "undefined": ("pk = :q", ALL, Invalid("attribute value used in expression is not defined; attribute value: :q")),
    "empty-hash": ("pk = :p", {":p": ""}, Invalid("empty string value")),
}


@pytest.mark.parametrize("forward", [True, False], ids=["up", "down"])
@pytest.mark.parametrize("condition, values, expected", cases(NUMBERED))
def test_key_condition(kept_table, run, condition, values, expected, forward):
    table = kept_table("lists", "rows", ROWS + OTHERS)
    if not isinstance(expected, Fails):
        found = [row for row in ROWS if row["sk"] in expected]
        found = found if forward else found[::-1]
        expected = {"Items": items(found), "Count": len(found), "ScannedCount": len(found), "LastEvaluatedKey": None}
    run(table, query(condition, values=values, ScanIndexForward=forward), expected)


TEXTS = ["", "A", "a", "aa", "ab", "b", "é", "😀", "\uffff"]
TEXTS_IN_ORDER = sorted((text for text in TEXTS if text), key=lambda text: text.encode())
BYTES_IN_ORDER = [b"\x00", b"\x00\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\x00"]
NUMBERS_IN_ORDER = [
    Number(text)
    for text in (
        "-1" + "0" * 125,
        "-123456789012345678901234567890",
        "-2",
        "-1.5",
        "-1",
        "-0.5",
        "-0." + "0" * 129 + "1",
        "0",
        "0." + "0" * 129 + "1",
        "0.1",
        "0.11",
        "1",
        "1.0000000000000000000000000000000000001",
        "2",
        "10",
        "100",
        "101",
        "12345678901234567890123456789012345678",
        "1" + "0" * 125,
    )
]


@pytest.mark.parametrize(
    "schema, ordered",
    [("SS", TEXTS_IN_ORDER), ("SB", BYTES_IN_ORDER), ("SN", NUMBERS_IN_ORDER)],
    ids=["text", "bytes", "numbers"],
)
def test_order(make_table, run, client, schema, ordered):
    """API Reference, Query, ScanIndexForward: by UTF-8 bytes, by unsigned bytes, by number."""
    table = make_table(schema, *({"pk": "a", "sk": sk} for sk in ordered[::2] + ordered[1::2]))
    whole = items([{"pk": "a", "sk": sk} for sk in ordered])
    run(table, query("pk = :p", values=ALL), {"Items": whole})
    run(table, query("pk = :p", values=ALL, ScanIndexForward=False), {"Items": whole[::-1]})
    for at, sk in enumerate(ordered):
        for operator, part in (
            ("<", whole[:at]),
            ("<=", whole[: at + 1]),
            (">", whole[at + 1 :]),
            (">=", whole[at:]),
            ("=", whole[at : at + 1]),
        ):
            found = endpoint.call(client, table, *query(f"pk = :p AND sk {operator} :s", values=with_values(s=sk)))
            assert found["Items"] == part, (operator, sk)


def test_begins_with(make_table, run):
    texts = make_table("SS", *({"pk": "a", "sk": sk} for sk in ("a", "ab", "abc", "ac", "b", "ab\uffff")))
    for prefix, expected in (("ab", ["ab", "abc", "ab\uffff"]), ("a", ["a", "ab", "abc", "ab\uffff", "ac"]), ("x", [])):
        run(
            texts,
            query("pk = :p AND begins_with(sk, :s)", values=with_values(s=prefix)),
            {"Items": items([{"pk": "a", "sk": sk} for sk in expected])},
        )
    binaries = make_table("SB", *({"pk": "a", "sk": sk} for sk in (b"\xff", b"\xff\xff", b"\xff\x00", b"\xfe")))
    run(
        binaries,
        query("pk = :p AND begins_with(sk, :s)", values=with_values(s=b"\xff")),
        {"Items": items([{"pk": "a", "sk": sk} for sk in (b"\xff", b"\xff\x00", b"\xff\xff")])},
    )


def pages(client, table, call, start=None):
    """All pages: their items and last keys."""
    found = []
    while True:
        operation, request = call
        page = endpoint.call(client, table, operation, {**request, **({"ExclusiveStartKey": start} if start else {})})
        found.append(page)
        start = page.get("LastEvaluatedKey")
        if start is None:
            return found
        assert len(found) < 100, "it goes on for ever"


@pytest.mark.parametrize("forward", [True, False], ids=["up", "down"])
@pytest.mark.parametrize("limit", [1, 3, 4, 8, 9])
def test_pages(kept_table, client, limit, forward):
    """A page that reached Limit has a LastEvaluatedKey, be there more or not."""
    table = kept_table("lists", "rows", ROWS + OTHERS)
    found = pages(client, table, query("pk = :p", values=ALL, Limit=limit, ScanIndexForward=forward))
    assert [one for page in found for one in page["Items"]] == items(ROWS if forward else ROWS[::-1])
    assert len(found) == len(ROWS) // limit + 1
    for page in found[:-1]:
        assert page["Count"] == page["ScannedCount"] == limit
        assert page["LastEvaluatedKey"] == {name: page["Items"][-1][name] for name in ("pk", "sk")}


@pytest.mark.parametrize("forward", [True, False], ids=["up", "down"])
def test_pages_with_filter(kept_table, client, forward):
    """Limit counts what is read, not what is left."""
    table = kept_table("lists", "rows", ROWS + OTHERS)
    found = pages(
        client,
        table,
        query("pk = :p", values=with_values(v="v1"), FilterExpression="v = :v", Limit=3, ScanIndexForward=forward),
    )
    expected = [row for row in ROWS if row["v"] == "v1"]
    assert [one for page in found for one in page["Items"]] == items(expected if forward else expected[::-1])
    assert [page["ScannedCount"] for page in found] == [3, 3, 2]
    assert [page["Count"] for page in found] == [len(page["Items"]) for page in found]


def test_start_need_not_be_there(kept_table, run):
    table = kept_table("lists", "rows", ROWS + OTHERS)
    run(
        table,
        query("pk = :p", values=ALL, ExclusiveStartKey=item({"pk": "a", "sk": Number("2.5")})),
        {"Items": items(ROWS[5:])},
    )
    run(
        table,
        query("pk = :p", values=ALL, ScanIndexForward=False, ExclusiveStartKey=item({"pk": "a", "sk": Number("2.5")})),
        {"Items": items(ROWS[4::-1])},
    )


STARTS = {
    "of-another-partition": (
        {"pk": "b", "sk": 1},
        Invalid("provided starting key (is outside query boundaries|is invalid|does not match)"),
    ),
    "part": (
        {"pk": "a"},
        Invalid("provided starting key is invalid|Exclusive Start Key must have same size as table's key schema"),
    ),
    "more": (
        {"pk": "a", "sk": 1, "v": "v0"},
        Invalid("starting key is invalid|Exclusive Start Key must have same size as table's key schema"),
    ),
    "of-another-type": ({"pk": "a", "sk": "1"}, Invalid("starting key is invalid|does not match the schema|[Tt]ype")),
}


@pytest.mark.parametrize("start, expected", cases(STARTS))
def test_bad_start(kept_table, run, start, expected):
    run(
        kept_table("lists", "rows", ROWS + OTHERS),
        query("pk = :p", values=ALL, ExclusiveStartKey=item(start)),
        expected,
    )


OPTIONS = {
    # id: options of a Query of partition a, answer or error
    "limit-0": ({"Limit": 0}, Invalid("greater than or equal to 1")),
    "limit-negative": ({"Limit": -1}, Invalid("greater than or equal to 1")),
    "count": ({"Select": "COUNT"}, {"Count": 8, "ScannedCount": 8, "Items": None}),
    "count-of-filter": (
        {"Select": "COUNT", "FilterExpression": "v = :v", "values": with_values(v="v1")},
        {"Count": 2, "ScannedCount": 8, "Items": None},
    ),
    "all-attributes": ({"Select": "ALL_ATTRIBUTES"}, {"Items": items(ROWS)}),
    "specific": (
        {"Select": "SPECIFIC_ATTRIBUTES", "ProjectionExpression": "v"},
        {"Items": items([{"v": row["v"]} for row in ROWS])},
    ),
    "specific-without": (
        {"Select": "SPECIFIC_ATTRIBUTES"},
        Invalid("ProjectionExpression|AttributesToGet|SPECIFIC_ATTRIBUTES"),
    ),
    "all-with-projection": (
        {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "v"},
        Invalid("Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES"),
    ),
    "count-with-projection": (
        {"Select": "COUNT", "ProjectionExpression": "v"},
        Invalid("Cannot specify the ProjectionExpression when choosing to get only the Count"),
    ),
    "projected-without-index": ({"Select": "ALL_PROJECTED_ATTRIBUTES"}, Invalid("ALL_PROJECTED_ATTRIBUTES")),
    "select-unknown": ({"Select": "SOME"}, Invalid("'select' failed to satisfy constraint|Select must be")),
    "projection": (
        {"ProjectionExpression": "sk, n"},
        {"Items": items([{"sk": row["sk"], "n": row["n"]} for row in ROWS])},
    ),
    "projection-then-filter": (
        {"ProjectionExpression": "sk", "FilterExpression": "n > :n", "values": with_values(n=3)},
        {"Items": items([{"sk": 10}, {"sk": 20}]), "Count": 2, "ScannedCount": 8},
    ),
    "filter-or": (
        {"FilterExpression": "n = :n OR v = :v", "values": with_values(n=3, v="v1")},
        {"Count": 3, "ScannedCount": 8},
    ),
    "filter-on-key": (
        {"FilterExpression": "sk > :n", "values": with_values(n=3)},
        Invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"),
    ),
    "filter-on-hash": (
        {"FilterExpression": "pk = :p"},
        Invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: pk"),
    ),
    "no-such-index": ({"IndexName": "nope"}, Invalid("The table does not have the specified index: nope")),
    "consistent": ({"ConsistentRead": True}, {"Items": items(ROWS)}),
    "consistent-limit": ({"ConsistentRead": True, "Limit": 2}, {"Items": items(ROWS[:2])}),
}


@pytest.mark.parametrize("options, expected", cases(OPTIONS))
def test_options(kept_table, run, options, expected):
    run(kept_table("lists", "rows", ROWS + OTHERS), query("pk = :p", **{"values": ALL, **options}), expected)


def test_no_such_table(run):
    run("no-such-table", query("pk = :p", values=ALL), Fails("ResourceNotFoundException"))
    run("no-such-table", scan(), Fails("ResourceNotFoundException"))


def test_page_of_1_mb(make_table, client):
    big = "x" * 300_000
    table = make_table("SN", *({"pk": "a", "sk": number, "v": big} for number in range(8)))
    found = pages(client, table, query("pk = :p", values=ALL))
    assert [one["sk"]["N"] for page in found for one in page["Items"]] == [str(number) for number in range(8)]
    assert len(found) >= 2 and all(page["Count"] <= 4 for page in found)


@pytest.mark.differs(local="reads all 2.4 MB", why="1 MB is what is read, before the filter")
def test_page_of_1_mb_with_filter(make_table, client):
    table = make_table("SN", *({"pk": "a", "sk": number, "v": "x" * 300_000} for number in range(8)))
    filtered = pages(client, table, query("pk = :p", values=with_values(n="no"), FilterExpression="v = :n"))
    assert (
        len(filtered) >= 2
        and sum(page["ScannedCount"] for page in filtered) == 8
        and not any(page["Items"] for page in filtered)
    )


def test_page_of_1_mb_is_of_whole_items(make_table, client):
    """Developer Guide, "Paginating table query results": the item that passes 1 MB may be in the page or not; no more."""
    table = make_table("SN", *({"pk": "a", "sk": number, "v": "x" * 390_000} for number in range(6)))
    counts = [page["Count"] for page in pages(client, table, scan())]
    assert sum(counts) == 6 and max(counts) in (2, 3)


# Scan

MANY = [{"pk": f"p{number}", "sk": number, "v": f"v{number % 2}", "n": number} for number in range(20)]


def keys_of(found):
    return sorted(int(one["sk"]["N"]) for page in found for one in page["Items"])


@pytest.mark.parametrize("limit", [None, 1, 7, 20, 21])
def test_scan_in_pages(kept_table, client, limit):
    found = pages(client, kept_table("lists", "many", MANY), scan(**({"Limit": limit} if limit else {})))
    assert keys_of(found) == list(range(20))
    if limit:
        assert len(found) == 20 // limit + 1
        assert found[0].get("LastEvaluatedKey") in (None, {name: found[0]["Items"][-1][name] for name in ("pk", "sk")})


@pytest.mark.parametrize("segments", [1, 2, 3, 7, 100])
def test_scan_in_segments(kept_table, client, segments):
    table = kept_table("lists", "many", MANY)
    found = [
        page
        for segment in range(segments)
        for page in pages(client, table, scan(TotalSegments=segments, Segment=segment, Limit=4))
    ]
    assert keys_of(found) == list(range(20))


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"Segment": 0}, Invalid("TotalSegments|total segment")),
        ({"TotalSegments": 2}, Invalid("[Ss]egment")),
        ({"Segment": 2, "TotalSegments": 2}, Invalid("Segment|less than")),
        ({"Segment": -1, "TotalSegments": 2}, Invalid("segment")),
        ({"Segment": 0, "TotalSegments": 0}, Invalid("[Ss]egment")),
        ({"Segment": 0, "TotalSegments": 1000001}, Invalid("less than or equal to 1000000")),
        ({"Limit": 0}, Invalid("greater than or equal to 1")),
        ({"IndexName": "nope"}, Invalid("The table does not have the specified index: nope")),
        ({"Select": "COUNT"}, {"Count": 20, "ScannedCount": 20, "Items": None}),
        ({"FilterExpression": "v = :v", "values": {":v": "v1"}}, {"Count": 10, "ScannedCount": 20}),
        ({"FilterExpression": "sk < :v", "values": {":v": 5}}, {"Count": 5, "ScannedCount": 20}),
        ({"FilterExpression": "pk = :v", "values": {":v": "p7"}}, {"Count": 1, "ScannedCount": 20}),
        ({"FilterExpression": "v = :v", "values": {":v": "v1"}, "Select": "COUNT"}, {"Count": 10, "ScannedCount": 20}),
        ({"IndexName": "by_v", "Select": "COUNT"}, {"Count": 20}),
    ],
    ids=[
        "segment-alone",
        "total-alone",
        "segment-too-high",
        "segment-negative",
        "no-segments",
        "too-many-segments",
        "limit-0",
        "no-such-index",
        "count",
        "filter",
        "filter-on-range",
        "filter-on-hash",
        "filter-count",
        "index",
    ],
)
def test_scan_options(kept_table, run, options, expected):
    run(kept_table("lists", "many", MANY), scan(**options), expected)


def test_scan_projection(kept_table, client):
    found = pages(client, kept_table("lists", "many", MANY), scan(ProjectionExpression="sk"))
    assert all(set(one) == {"sk"} for page in found for one in page["Items"])


def test_empty_table(make_table, run):
    table = make_table("SN")
    run(table, scan(), {"Items": [], "Count": 0, "ScannedCount": 0, "LastEvaluatedKey": None})
    run(table, scan(Limit=1), {"Items": [], "Count": 0, "LastEvaluatedKey": None})
    run(table, query("pk = :p", values=ALL, Limit=1), {"Items": [], "Count": 0, "LastEvaluatedKey": None})
