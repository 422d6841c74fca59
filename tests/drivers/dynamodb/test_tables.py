"""Tables: CreateTable, DescribeTable, ListTables, UpdateTable, DeleteTable, tags, limits.

Sources: Amazon DynamoDB API Reference of each; Developer Guide, "Quotas".
"""

import copy
import time

import pytest

import endpoint
import schemas
from wire import Fails, Invalid, TABLE, put, query, scan


def without(request, *names):
    return {name: inner for name, inner in request.items() if name not in names}


def changed(schema, **more):
    return {**copy.deepcopy(schemas.SCHEMAS[schema]), **more}


PROVISIONED = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
S, LISTS = schemas.SCHEMAS["S"], schemas.SCHEMAS["lists"]


def definitions(text):
    return [{"AttributeName": one.split(":")[0], "AttributeType": one.split(":")[1]} for one in text.split()]


def elements(text):
    return [{"AttributeName": one.split(":")[0], "KeyType": one.split(":")[1]} for one in text.split()]


def with_index(where, **index):
    request = changed("lists")
    request.pop("LocalSecondaryIndexes")
    base = {"IndexName": "one", "KeySchema": elements("pk:HASH v:RANGE"), "Projection": {"ProjectionType": "ALL"}}
    request[where] = [{name: inner for name, inner in {**base, **index}.items() if inner is not None}]
    return request


LOCAL, WORLD = "LocalSecondaryIndexes", "GlobalSecondaryIndexes"
BAD_TABLES = {
    "no-key-schema": without(S, "KeySchema"),
    "empty-key-schema": {**S, "KeySchema": []},
    "no-definitions": without(S, "AttributeDefinitions"),
    "key-not-defined": {**S, "AttributeDefinitions": definitions("other:S")},
    "definition-not-used": {**S, "AttributeDefinitions": definitions("pk:S x:S")},
    "range-alone": {**S, "KeySchema": elements("pk:RANGE")},
    "two-hashes": {**S, "KeySchema": elements("pk:HASH x:HASH"), "AttributeDefinitions": definitions("pk:S x:S")},
    "range-first": {**S, "KeySchema": elements("x:RANGE pk:HASH"), "AttributeDefinitions": definitions("pk:S x:S")},
    "same-twice": {**S, "KeySchema": elements("pk:HASH pk:RANGE")},
    "three-keys": {
        **S,
        "KeySchema": elements("pk:HASH x:RANGE y:RANGE"),
        "AttributeDefinitions": definitions("pk:S x:S y:S"),
    },
    "type-unknown": {**S, "AttributeDefinitions": definitions("pk:X")},
    "type-no-key": {**S, "AttributeDefinitions": definitions("pk:BOOL")},
    "role-unknown": {**S, "KeySchema": elements("pk:KEY")},
    "billing-unknown": {**S, "BillingMode": "FREE"},
    "no-capacity": without(S, "BillingMode"),
    "capacity-of-0": {
        **without(S, "BillingMode"),
        "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 1},
    },
    "capacity-on-demand": {**S, "ProvisionedThroughput": PROVISIONED},
    "local-without-range": {
        **changed("S"),
        "AttributeDefinitions": definitions("pk:S v:S"),
        LOCAL: with_index(LOCAL)[LOCAL],
    },
    "local-of-another-hash": with_index(LOCAL, KeySchema=elements("v:HASH sk:RANGE")),
    "local-hash-alone": {
        **with_index(LOCAL, KeySchema=elements("pk:HASH")),
        "AttributeDefinitions": definitions("pk:S sk:N"),
    },
    "local-no-projection": with_index(LOCAL, Projection=None),
    "local-projection-unknown": with_index(LOCAL, Projection={"ProjectionType": "MOST"}),
    "local-no-name": with_index(LOCAL, IndexName=None),
    "local-short-name": with_index(LOCAL, IndexName="ab"),
    "world-none": {**S, WORLD: []},
    "local-include-nothing": with_index(LOCAL, Projection={"ProjectionType": "INCLUDE"}),
    "local-all-and-some": with_index(LOCAL, Projection={"ProjectionType": "ALL", "NonKeyAttributes": ["a"]}),
    "world-key-not-defined": {**with_index(WORLD, KeySchema=elements("nope:HASH"))},
    "two-of-one-name": {**with_index(LOCAL), WORLD: with_index(WORLD)[WORLD]},
    "six-local": {
        **with_index(LOCAL),
        LOCAL: [{**with_index(LOCAL)[LOCAL][0], "IndexName": f"index{number}"} for number in range(6)],
    },
}
TABLES_DIFFER = {
    "billing-unknown": {"local": "InternalFailure", "why": "it is the caller's fault"},
    "capacity-on-demand": {"local": "takes it", "why": "API Reference, BillingMode: capacity is of PROVISIONED"},
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.differs(**TABLES_DIFFER[name])] if name in TABLES_DIFFER else [])
        for name in BAD_TABLES
    ],
)
def test_bad_table(run, new_name, name):
    """API Reference, CreateTable."""
    table = new_name()
    run(table, ("CreateTable", {"TableName": TABLE, **BAD_TABLES[name]}), Invalid())
    run(table, ("DescribeTable", {"TableName": TABLE}), Fails("ResourceNotFoundException"))


@pytest.mark.parametrize("name", ["", "ab", "a" * 256, "a b", "a/b", "a:b", "tablé", "a#b"])
def test_bad_table_name(run, name):
    """Quotas, "Naming rules": 3 to 255 of a-z A-Z 0-9 _ - ."""
    run(name, ("CreateTable", {"TableName": TABLE, **S}), Invalid())


@pytest.mark.parametrize("name", ["abc", "a" * 255, "A-b_c.9", "...", "feature_repo.driver_hourly_stats"])
def test_table_name(run, client, name):
    run(name, ("CreateTable", {"TableName": TABLE, **S}))
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 0.1, "MaxAttempts": 100})
    run(name, put({"pk": "a"}))
    run(name, scan(), {"Count": 1})
    run(name, ("DeleteTable", {"TableName": TABLE}))


def described(client, table):
    return endpoint.call(client, table, "DescribeTable", {"TableName": TABLE})["Table"]


@pytest.mark.parametrize("schema", ["S", "SN", "local", "global"])
def test_description(client, make_table, schema):
    table, asked = make_table(schema), schemas.SCHEMAS[schema]
    found = described(client, table)
    assert found["TableName"] == table and found["TableStatus"] == "ACTIVE"
    assert found["KeySchema"] == asked["KeySchema"]
    assert sorted(found["AttributeDefinitions"], key=str) == sorted(asked["AttributeDefinitions"], key=str)
    assert found["TableArn"].startswith("arn:aws:dynamodb:") and found["TableArn"].endswith(f":table/{table}")
    assert abs(found["CreationDateTime"].timestamp() - time.time()) < 366 * 86400  # the clock may be one that stands
    assert found["ItemCount"] == 0 and found["TableSizeBytes"] == 0
    assert found["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert {found["ProvisionedThroughput"][name] for name in PROVISIONED} == {0}
    for where in (LOCAL, WORLD):
        indexes = {index["IndexName"]: index for index in found.get(where, [])}
        assert set(indexes) == {index["IndexName"] for index in asked.get(where, [])}
        for index in asked.get(where, []):
            same = indexes[index["IndexName"]]
            assert same["KeySchema"] == index["KeySchema"] and same["Projection"] == index["Projection"]
            assert same["IndexArn"] == f"{found['TableArn']}/index/{index['IndexName']}"
            assert same["ItemCount"] == 0 and same["IndexSizeBytes"] == 0
            assert where == LOCAL or same["IndexStatus"] == "ACTIVE"


def test_create_answers_with_the_description(client, new_name):
    table = new_name()
    found = endpoint.call(client, table, "CreateTable", {"TableName": TABLE, **LISTS})["TableDescription"]
    assert found["TableName"] == table and found["TableStatus"] in ("CREATING", "ACTIVE")
    found = endpoint.call(client, table, "DeleteTable", {"TableName": TABLE})["TableDescription"]
    assert found["TableName"] == table


def test_provisioned(client, run, new_name):
    table = new_name()
    run(table, ("CreateTable", {"TableName": TABLE, **without(S, "BillingMode"), "ProvisionedThroughput": PROVISIONED}))
    found = described(client, table)["ProvisionedThroughput"]
    assert {name: found[name] for name in PROVISIONED} == PROVISIONED
    run(table, ("DeleteTable", {"TableName": TABLE}))


def test_create_twice(run, make_table):
    run(
        make_table("S"),
        ("CreateTable", {"TableName": TABLE, **S}),
        Fails("ResourceInUseException", "Table already exists|Cannot create preexisting table"),
    )


@pytest.mark.parametrize(
    "operation, more",
    [
        ("DescribeTable", {}),
        ("DeleteTable", {}),
        ("UpdateTable", {"BillingMode": "PAY_PER_REQUEST"}),
        ("DescribeTimeToLive", {}),
        ("UpdateTimeToLive", {"TimeToLiveSpecification": {"AttributeName": "t", "Enabled": True}}),
        pytest.param(
            "DescribeContinuousBackups",
            {},
            marks=pytest.mark.differs(local="it has no such operation", why="consoles ask for it"),
        ),
    ],
)
def test_no_such_table(run, operation, more):
    run(
        "no-such-table",
        (operation, {"TableName": TABLE, **more}),
        Fails("ResourceNotFoundException" if operation != "DescribeContinuousBackups" else "TableNotFoundException"),
    )


def test_deleted_table_is_gone_with_its_items(client, run, new_name):
    table = new_name()
    for _ in range(2):
        run(table, ("CreateTable", {"TableName": TABLE, **S}))
        run(table, scan(), {"Count": 0})
        run(table, put({"pk": "a"}))
        run(table, ("DeleteTable", {"TableName": TABLE}))
        client.get_waiter("table_not_exists").wait(TableName=table, WaiterConfig={"Delay": 0.1, "MaxAttempts": 100})
        run(table, scan(), Fails("ResourceNotFoundException"))


def test_table_of_another_schema_after_deletion(run, new_name):
    table = new_name()
    run(table, ("CreateTable", {"TableName": TABLE, **S}))
    run(table, ("DeleteTable", {"TableName": TABLE}))
    run(table, ("CreateTable", {"TableName": TABLE, **schemas.SCHEMAS["SN"]}))
    run(table, put({"pk": "a"}), Invalid("Missing the key sk|required keys"))
    run(table, ("DeleteTable", {"TableName": TABLE}))


def test_deletion_protection(run, client, new_name):
    table = new_name()
    run(table, ("CreateTable", {"TableName": TABLE, **S, "DeletionProtectionEnabled": True}))
    assert described(client, table)["DeletionProtectionEnabled"] is True
    run(table, ("DeleteTable", {"TableName": TABLE}), Invalid("protected against deletion"))
    run(table, ("UpdateTable", {"TableName": TABLE, "DeletionProtectionEnabled": False}))
    run(table, ("DeleteTable", {"TableName": TABLE}))


def test_names_in_pages(client, make_table):
    """API Reference, ListTables."""
    made = sorted(make_table("S") for _ in range(5))
    for limit in (None, 1, 2, 100):
        seen, start = [], None
        while True:
            page = endpoint.call(
                client,
                "",
                "ListTables",
                {**({"Limit": limit} if limit else {}), **({"ExclusiveStartTableName": start} if start else {})},
            )
            assert limit is None or len(page["TableNames"]) <= limit
            seen += page["TableNames"]
            start = page.get("LastEvaluatedTableName")
            if start is None:
                break
            assert start == seen[-1]
        assert len(set(seen)) == len(seen) and set(made) <= set(seen)


@pytest.mark.parametrize("limit", [0, 101, -1])
def test_bad_page_of_names(run, limit):
    run("", ("ListTables", {"Limit": limit}), Invalid("[Ll]imit"))


def test_limits(client):
    found = endpoint.call(client, "", "DescribeLimits", {})
    assert all(
        isinstance(found[name], int) and found[name] > 0
        for name in (
            "AccountMaxReadCapacityUnits",
            "AccountMaxWriteCapacityUnits",
            "TableMaxReadCapacityUnits",
            "TableMaxWriteCapacityUnits",
        )
    )


@pytest.mark.differs(local="DescribeEndpoints is not supported", why="SDKs may ask")
def test_endpoints(client):
    found = endpoint.call(client, "", "DescribeEndpoints", {})["Endpoints"]
    assert found[0]["Address"] and found[0]["CachePeriodInMinutes"] > 0


@pytest.mark.differs(local="it has no such operation", why="consoles ask for it")
def test_continuous_backups(client, make_table):
    table = make_table("S")
    found = endpoint.call(client, table, "DescribeContinuousBackups", {"TableName": TABLE})[
        "ContinuousBackupsDescription"
    ]
    assert found["ContinuousBackupsStatus"] in ("ENABLED", "DISABLED")
    assert found["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "DISABLED"


# Tags

NO_TAGS = "Tagging is not currently supported in DynamoDB Local"


def tags_of(client, arn):
    found = endpoint.call(client, "", "ListTagsOfResource", {"ResourceArn": arn})
    return {tag["Key"]: tag["Value"] for tag in found["Tags"]}


@pytest.mark.differs(local=NO_TAGS, why="Feast asks for tags in each apply")
def test_tags(client, run, make_table):
    arn = described(client, make_table("S"))["TableArn"]
    assert tags_of(client, arn) == {}
    run(
        "",
        ("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "team", "Value": "x"}, {"Key": "empty", "Value": ""}]}),
    )
    assert tags_of(client, arn) == {"team": "x", "empty": ""}
    run("", ("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "team", "Value": "y"}]}))
    run("", ("UntagResource", {"ResourceArn": arn, "TagKeys": ["empty", "nope"]}))
    assert tags_of(client, arn) == {"team": "y"}


@pytest.mark.differs(local=NO_TAGS, why="Feast asks for tags in each apply")
def test_tags_of_a_new_table(client, run, new_name):
    table = new_name()
    run(table, ("CreateTable", {"TableName": TABLE, **S, "Tags": [{"Key": "team", "Value": "x"}]}))
    assert tags_of(client, described(client, table)["TableArn"]) == {"team": "x"}
    run(table, ("DeleteTable", {"TableName": TABLE}))


@pytest.mark.differs(local=NO_TAGS, why="Feast asks for tags in each apply")
@pytest.mark.parametrize(
    "operation, more",
    [
        ("ListTagsOfResource", {}),
        ("TagResource", {"Tags": [{"Key": "a", "Value": "b"}]}),
        ("UntagResource", {"TagKeys": ["a"]}),
    ],
)
def test_tags_of_nothing(run, client, make_table, operation, more):
    table = make_table("S")
    arn = described(client, table)["TableArn"].replace(table, "no-such-table")
    run("", (operation, {"ResourceArn": arn, **more}), Fails("ResourceNotFoundException"))


# UpdateTable


def test_billing_mode(client, run, make_table):
    table = make_table("S")
    run(
        table, ("UpdateTable", {"TableName": TABLE, "BillingMode": "PROVISIONED", "ProvisionedThroughput": PROVISIONED})
    )
    for _ in range(100):
        found = described(client, table)
        if found["TableStatus"] == "ACTIVE":
            break
        time.sleep(0.1)
    assert {name: found["ProvisionedThroughput"][name] for name in PROVISIONED} == PROVISIONED


def wait_for_indexes(client, table):
    for _ in range(300):
        found = described(client, table)
        if found["TableStatus"] == "ACTIVE" and all(index["IndexStatus"] == "ACTIVE" for index in found.get(WORLD, [])):
            return {index["IndexName"] for index in found.get(WORLD, [])}
        time.sleep(0.1)
    raise AssertionError(found)


def test_global_index_of_a_table_with_items(client, run, make_table):
    table = make_table(
        "SN",
        {"pk": "a", "sk": 1, "g": "x"},
        {"pk": "b", "sk": 2, "g": "x"},
        {"pk": "c", "sk": 3},
        {"pk": "d", "sk": 4, "g": 5},
    )
    look = query("g = :g", values={":g": "x"}, IndexName="by_g")
    run(table, look, Invalid("does not have the specified index"))
    run(
        table,
        (
            "UpdateTable",
            {
                "TableName": TABLE,
                "AttributeDefinitions": definitions("g:S"),
                "GlobalSecondaryIndexUpdates": [
                    {
                        "Create": {
                            "IndexName": "by_g",
                            "KeySchema": elements("g:HASH"),
                            "Projection": {"ProjectionType": "ALL"},
                        }
                    }
                ],
            },
        ),
    )
    assert wait_for_indexes(client, table) == {"by_g"}
    run(table, look, {"Count": 2})
    run(table, put({"pk": "e", "sk": 5, "g": "x"}))
    run(table, look, {"Count": 3})
    run(table, put({"pk": "e", "sk": 5, "g": 5}), Invalid("Type mismatch for Index Key"))
    run(
        table, ("UpdateTable", {"TableName": TABLE, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_g"}}]})
    )
    assert wait_for_indexes(client, table) == set()
    run(table, look, Invalid("does not have the specified index"))
    run(table, put({"pk": "e", "sk": 5, "g": 5}))


@pytest.mark.parametrize(
    "more, expected",
    [
        ({}, Invalid()),
        ({"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "nope"}}]}, Fails("ResourceNotFoundException")),
        (
            {
                "GlobalSecondaryIndexUpdates": [
                    {
                        "Create": {
                            "IndexName": "new",
                            "KeySchema": elements("g:HASH"),
                            "Projection": {"ProjectionType": "ALL"},
                        }
                    }
                ]
            },
            Invalid(),
        ),
    ],
    ids=["nothing", "no-such-index", "not-defined"],
)
def test_bad_update_of_table(run, make_table, more, expected):
    run(make_table("S"), ("UpdateTable", {"TableName": TABLE, **more}), expected)
