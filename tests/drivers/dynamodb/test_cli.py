"""The AWS CLI, unmodified: what a person types.

Source: AWS CLI Command Reference, `dynamodb`.
"""

import json
import os
import subprocess
import sys
import uuid

import pytest

pytest.importorskip("awscli")
KEYS = [
    "--attribute-definitions",
    "AttributeName=pk,AttributeType=S",
    "AttributeName=sk,AttributeType=N",
    "AttributeName=v,AttributeType=S",
    "--key-schema",
    "AttributeName=pk,KeyType=HASH",
    "AttributeName=sk,KeyType=RANGE",
    "--billing-mode",
    "PAY_PER_REQUEST",
]
INDEX = json.dumps(
    [
        {
            "IndexName": "by_v",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "v", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ]
)


@pytest.fixture
def aws(url, tmp_path):
    """aws(command, argument...): what it prints, read as JSON; of one that fails, its status and what it says."""
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "AKID",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
        "AWS_MAX_ATTEMPTS": "1",
    }

    def run(*arguments):
        command = [
            sys.executable,
            "-B",
            "-m",
            "awscli",
            "--endpoint-url",
            url,
            "--output",
            "json",
            "dynamodb",
            *arguments,
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=120, env=environment
        )
        if done.returncode != 0:
            return done.returncode, done.stderr.strip()
        return json.loads(done.stdout) if done.stdout.strip() else None

    return run


def row(sk):
    return {"pk": {"S": "a"}, "sk": {"N": str(sk)}, "v": {"S": f"v{sk % 2}"}}


def test_a_table_and_its_items(aws, new_name):
    table = ["--table-name", new_name()]
    assert (
        aws("create-table", *table, *KEYS, "--local-secondary-indexes", INDEX)["TableDescription"]["TableName"]
        == table[1]
    )
    assert aws("wait", "table-exists", *table) is None
    key = ["--key", json.dumps({"pk": {"S": "a"}, "sk": {"N": "0"}})]
    values = ["--expression-attribute-values", json.dumps({":p": {"S": "a"}, ":v": {"S": "v1"}})]
    assert aws("put-item", *table, "--item", json.dumps(row(0))) is None
    assert aws("get-item", *table, *key, "--consistent-read") == {"Item": row(0)}
    assert aws(
        "batch-write-item",
        "--request-items",
        json.dumps({table[1]: [{"PutRequest": {"Item": row(sk)}} for sk in range(1, 9)]}),
    ) == {"UnprocessedItems": {}}
    assert aws(
        "update-item",
        *table,
        *key,
        "--update-expression",
        "SET n = if_not_exists(n, :zero) + :one",
        "--expression-attribute-values",
        '{":zero":{"N":"0"},":one":{"N":"1"}}',
        "--return-values",
        "UPDATED_NEW",
    ) == {"Attributes": {"n": {"N": "1"}}}
    status, said = aws(
        "put-item", *table, "--item", json.dumps(row(0)), "--condition-expression", "attribute_not_exists(pk)"
    )
    assert (
        status != 0
        and "(ConditionalCheckFailedException) when calling the PutItem operation: The conditional request failed"
        in said
    )
    found = aws(
        "query",
        *table,
        "--index-name",
        "by_v",
        "--key-condition-expression",
        "pk = :p AND v = :v",
        *values,
        "--page-size",
        "1",
    )
    assert sorted(one["sk"]["N"] for one in found["Items"]) == ["1", "3", "5", "7"] and found["Count"] == 4
    # The paginator asks for pages of 2; of what it has it shows 3, and where to go on.
    found = aws("scan", *table, "--page-size", "2", "--max-items", "3")
    assert len(found["Items"]) == 3
    rest = aws("scan", *table, "--starting-token", found["NextToken"])
    assert [one["sk"]["N"] for one in found["Items"] + rest["Items"]] == [str(sk) for sk in range(9)]
    assert aws("delete-table", *table)["TableDescription"]["TableName"] == table[1]
    status, said = aws("describe-table", *table)
    assert status != 0 and "(ResourceNotFoundException) when calling the DescribeTable operation" in said


def test_transactions_and_time_to_live(aws, make_table):
    table = make_table("lists", {"pk": "a", "sk": 1})
    actions = [
        {"Put": {"TableName": table, "Item": row(2)}},
        {
            "ConditionCheck": {
                "TableName": table,
                "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}},
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        },
    ]
    status, said = aws("transact-write-items", "--transact-items", json.dumps(actions))
    assert status != 0 and "(TransactionCanceledException)" in said and "[None, ConditionalCheckFailed]" in said
    assert (
        aws(
            "transact-write-items",
            "--transact-items",
            json.dumps(actions[:1]),
            "--client-request-token",
            str(uuid.uuid4()),
        )
        is None
    )
    assert aws(
        "transact-get-items",
        "--transact-items",
        json.dumps([{"Get": {"TableName": table, "Key": {"pk": {"S": "a"}, "sk": {"N": "2"}}}}]),
    ) == {"Responses": [{"Item": row(2)}]}
    assert aws(
        "update-time-to-live", "--table-name", table, "--time-to-live-specification", "Enabled=true,AttributeName=t"
    ) == {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}
    assert aws("describe-time-to-live", "--table-name", table)["TimeToLiveDescription"]["AttributeName"] == "t"
