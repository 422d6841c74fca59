"""What is of this server alone: who may ask, what is kept over a restart, what happens when memory ends.

Source: docs/dynamodb.md; codes by Amazon DynamoDB Developer Guide, "Error handling with DynamoDB".
"""

import http.client
import json

import boto3
import botocore.config
import botocore.exceptions
import pytest

import conftest
import endpoint
from wire import TABLE, delete, get, item, put, query, scan, value

pytestmark = pytest.mark.own


@pytest.fixture(autouse=True)
def _ours():
    if endpoint.kind() != "liststore":
        pytest.skip("of liststore alone")


def signed_by(url, key, secret, token=None, **options):
    session = boto3.session.Session(key, secret, token, region_name="us-east-1")
    config = botocore.config.Config(retries={"total_max_attempts": 1}, **options)
    return session.client("dynamodb", endpoint_url=url, config=config)


@pytest.fixture
def guarded(tmp_path):
    """The URL of a server that knows two access keys."""
    keys = tmp_path / "keys"
    keys.write_text("AKIDEXAMPLE secret/with+signs=\nOTHER second\n")
    keys.chmod(0o600)
    with endpoint.liststore("--dynamodb-credentials-file", str(keys)) as url:
        yield url


def code_of(call):
    with pytest.raises(botocore.exceptions.ClientError) as raised:
        call()
    return raised.value.response["Error"]["Code"]


def test_signatures_are_checked(guarded):
    for key, secret in (("AKIDEXAMPLE", "secret/with+signs="), ("OTHER", "second")):
        assert signed_by(guarded, key, secret).list_tables()["TableNames"] == []
    # A token of a session is signed with the rest.
    assert signed_by(guarded, "OTHER", "second", "the-token").list_tables()["TableNames"] == []
    # Other headers may be signed too, as proxies and other versions do.
    client = signed_by(guarded, "OTHER", "second", user_agent_extra="é".encode().decode("latin-1"))
    assert client.list_tables()["TableNames"] == []


def test_wrong_signatures(guarded):
    assert code_of(signed_by(guarded, "OTHER", "secret/with+signs=").list_tables) == "InvalidSignatureException"
    assert code_of(signed_by(guarded, "NOBODY", "second").list_tables) == "UnrecognizedClientException"
    assert code_of(signed_by(guarded, "", "second", None).list_tables) in (
        "UnrecognizedClientException",
        "IncompleteSignatureException",
        "MissingAuthenticationTokenException",
    )


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Basic Og==",
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256 Credential=OTHER, SignedHeaders=host, Signature=00",
        "AWS4-HMAC-SHA256 Credential=OTHER/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=, Signature=",
        "AWS4-HMAC-SHA256 Credential=OTHER/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;nothing, Signature="
        + "0" * 64,
        "AWS4-HMAC-SHA256 " + "x" * 5000,
    ],
    ids=["none", "empty", "basic", "bare", "short", "nothing-signed", "not-there", "long"],
)
def test_no_signature(guarded, authorization):
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.port_of(guarded), timeout=60)
    headers = {
        "X-Amz-Target": "DynamoDB_20120810.ListTables",
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Date": "20260101T000000Z",
        **({} if authorization is None else {"Authorization": authorization}),
    }
    connection.request("POST", "/", "{}", headers)
    answer = connection.getresponse()
    said = json.loads(answer.read())
    assert answer.status in (400, 403)
    assert said["__type"].rpartition("#")[2] in (
        "MissingAuthenticationTokenException",
        "MissingAuthenticationToken",
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "UnrecognizedClientException",
    )
    connection.close()


def test_a_body_that_was_changed_is_refused(guarded):
    """The signature is of the body too."""
    client = signed_by(guarded, "OTHER", "second")

    def change(request, **_):
        request.body = request.body.replace(b"10", b"11")

    client.meta.events.register("before-send.dynamodb", change)
    assert code_of(lambda: client.list_tables(Limit=10)) == "InvalidSignatureException"


@pytest.mark.parametrize("kept", [("--commit-log", "os"), ("--save-at-end",)], ids=["log", "snapshot"])
def test_what_is_kept_over_a_restart(tmp_path, kept):
    arguments = ("--data-dir", str(tmp_path / "data"), *kept)
    last = item({"pk": "a", "sk": 3, "v": "x", "m": {"l": [1, None, {"n": True}]}, "s": {"a", "b"}, "b": b"\x00"})
    with endpoint.liststore(*arguments) as url:
        client = endpoint.connect(url)
        conftest.create(client, "lists", "lists")
        endpoint.call(client, "lists", "PutItem", {"TableName": TABLE, "Item": last})
        endpoint.call(client, "lists", *put({"pk": "a", "sk": 1, "v": "y"}))
        endpoint.call(client, "lists", *put({"pk": "a", "sk": 2}))
        endpoint.call(client, "lists", *delete({"pk": "a", "sk": 2}))
        endpoint.call(
            client,
            "lists",
            "UpdateTimeToLive",
            {"TableName": TABLE, "TimeToLiveSpecification": {"AttributeName": "t", "Enabled": True}},
        )
        described = endpoint.call(client, "lists", "DescribeTable", {"TableName": TABLE})["Table"]
        endpoint.call(
            client, "", "TagResource", {"ResourceArn": described["TableArn"], "Tags": [{"Key": "a", "Value": "b"}]}
        )
        conftest.create(client, "gone", "S")
        endpoint.call(client, "gone", "DeleteTable", {"TableName": TABLE})
    with endpoint.liststore(*arguments) as url:
        client = endpoint.connect(url)
        assert endpoint.call(client, "", "ListTables", {}) == {"TableNames": ["lists"]}
        assert endpoint.call(client, "lists", "DescribeTable", {"TableName": TABLE})["Table"] == described
        assert endpoint.call(client, "lists", *get({"pk": "a", "sk": 3})) == {"Item": last}
        assert endpoint.call(client, "lists", *scan())["Count"] == 2
        found = endpoint.call(
            client, "lists", *query("pk = :p AND v = :v", values={":p": "a", ":v": "x"}, IndexName="by_v")
        )
        assert found["Items"] == [last]
        ttl = endpoint.call(client, "lists", "DescribeTimeToLive", {"TableName": TABLE})["TimeToLiveDescription"]
        assert ttl == {"AttributeName": "t", "TimeToLiveStatus": "ENABLED"}
        tags = endpoint.call(client, "", "ListTagsOfResource", {"ResourceArn": described["TableArn"]})["Tags"]
        assert tags == [{"Key": "a", "Value": "b"}]


def test_memory_ends(tmp_path):
    """Writes are refused with a code of the API, reads go on, and after deletions writes do."""
    with endpoint.liststore("--memory-limit", "64M") as url:
        client = endpoint.connect(url)
        conftest.create(client, "lists", "SN")
        row = lambda number: put({"pk": "a", "sk": number, "v": "x" * 300_000})  # noqa: E731
        for number in range(1000):
            found = endpoint.outcome(client, "lists", *row(number))
            if isinstance(found, botocore.exceptions.ClientError):
                break
        assert 20 < number < 999
        assert found.response["Error"]["Code"] in (
            "ProvisionedThroughputExceededException",
            "RequestLimitExceeded",
            "LimitExceededException",
            "InternalServerError",
        )
        assert endpoint.call(client, "lists", *get({"pk": "a", "sk": 5}))["Item"]["v"] == value("x" * 300_000)
        for gone in range(number):
            assert not isinstance(endpoint.outcome(client, "lists", *delete({"pk": "a", "sk": gone})), Exception)
        assert not isinstance(endpoint.outcome(client, "lists", *row(1)), Exception)
        endpoint.call(client, "lists", "DeleteTable", {"TableName": TABLE})
        conftest.create(client, "lists", "SN")
        endpoint.call(client, "lists", *row(1))
