"""The protocol below the SDK: HTTP/1.1 with JSON 1.0.

Source: Amazon DynamoDB Developer Guide, "DynamoDB low-level API" (Programming.LowLevelAPI) and "Error handling".
"""

import http.client
import json
import socket
import zlib

import pytest

import endpoint
from wire import item

TARGET = "DynamoDB_20120810."
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" + "0" * 64
)


def headers_of(operation, **more):
    return {
        "X-Amz-Target": TARGET + operation,
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Date": "20260101T000000Z",
        "Authorization": SIGNED,
        **{name.replace("_", "-"): text for name, text in more.items()},
    }


@pytest.fixture
def connection(url):
    connected = http.client.HTTPConnection("127.0.0.1", endpoint.port_of(url), timeout=60)
    yield connected
    connected.close()


def ask(connection, operation, body, method="POST", path="/", **more):
    connection.request(
        method, path, body if isinstance(body, (bytes, str)) else json.dumps(body), headers_of(operation, **more)
    )
    answer = connection.getresponse()
    return answer, answer.read()


def error_of(answer, body):
    said = json.loads(body)
    return answer.status, said["__type"].rpartition("#")[2], said.get("message", said.get("Message"))


def test_answer(connection, make_table):
    table = make_table("S", {"pk": "a"})
    answer, body = ask(connection, "GetItem", {"TableName": table, "Key": {"pk": {"S": "a"}}})
    assert answer.status == 200 and json.loads(body) == {"Item": {"pk": {"S": "a"}}}
    assert answer.headers["Content-Type"] == "application/x-amz-json-1.0"
    assert answer.headers["x-amzn-RequestId"]
    assert int(answer.headers["Content-Length"]) == len(body)
    assert int(answer.headers.get("x-amz-crc32", zlib.crc32(body))) == zlib.crc32(body)


def test_error(connection):
    answer, body = ask(connection, "GetItem", {"TableName": "no-such-table", "Key": {"pk": {"S": "a"}}})
    assert error_of(answer, body)[:2] == (400, "ResourceNotFoundException")
    assert answer.headers["Content-Type"] == "application/x-amz-json-1.0"
    assert int(answer.headers.get("x-amz-crc32", zlib.crc32(body))) == zlib.crc32(body)


def test_connection_is_kept(connection, make_table):
    table = make_table("S", {"pk": "a"})
    ask(connection, "GetItem", {"TableName": table, "Key": {"pk": {"S": "a"}}})
    socket_ = connection.sock
    for _ in range(5):
        answer, _ = ask(connection, "GetItem", {"TableName": "no-such-table", "Key": {"pk": {"S": "a"}}})
        assert answer.status == 400
        answer, _ = ask(connection, "GetItem", {"TableName": table, "Key": {"pk": {"S": "a"}}})
        assert answer.status == 200
    if endpoint.kind() != "moto":  # it closes each
        assert connection.sock is socket_


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", '"x"', '{"TableName": }', '{"TableName": "abc"} x', b"\xff\xfe", "{" * 10000, "[" * 100000],
    ids=["nothing", "half", "list", "null", "string", "no-value", "more", "bytes", "deep-objects", "deep-lists"],
)
@pytest.mark.own
def test_no_json(connection, body):
    """SerializationException, or what a request without members gives."""
    answer, said = ask(connection, "DescribeTable", body)
    status, code, _ = error_of(answer, said)
    assert status == 400 and code in ("SerializationException", "ValidationException")


@pytest.mark.own
@pytest.mark.parametrize(
    "request_",
    [
        {"TableName": 5},
        {"TableName": "abc", "Key": "x"},
        {"TableName": "abc", "Key": {"pk": "x"}},
        {"TableName": "abc", "Key": {"pk": {"S": 5}}},
        {"TableName": "abc", "Key": {"pk": {"N": 5}}},
        {"TableName": "abc", "Key": {"pk": {"B": "!!!"}}},
        {"TableName": "abc", "Key": {"pk": {"S": "a"}}, "ConsistentRead": "yes"},
        {"TableName": "abc", "Key": {"pk": {"L": {}}}},
        {"TableName": "abc", "Key": {"pk": {"BOOL": "true"}}},
        {"TableName": "abc", "Key": {"pk": {"SS": "a"}}},
    ],
    ids=["name", "key", "value", "S", "N", "base64", "flag", "L", "BOOL", "SS"],
)
def test_member_of_another_type(connection, make_table, request_):
    """The members' types are those of the API; a number is a string."""
    if request_["TableName"] == "abc":
        request_ = {**request_, "TableName": make_table("S")}
    answer, said = ask(connection, "GetItem", request_)
    assert error_of(answer, said)[:2] in ((400, "SerializationException"), (400, "ValidationException"))


@pytest.mark.parametrize(
    "target", ["DynamoDB_20120810.Nothing", "DynamoDB_20120810.", "DynamoDB_20111205.GetItem", "GetItem", ""]
)
@pytest.mark.own
def test_unknown_operation(connection, target):
    connection.request("POST", "/", "{}", {**headers_of("x"), "X-Amz-Target": target})
    answer = connection.getresponse()
    status, code, _ = error_of(answer, answer.read())
    assert (status, code) in ((400, "UnknownOperationException"), (404, "UnknownOperationException"))


@pytest.mark.own
@pytest.mark.parametrize(
    "operation",
    [
        "CreateGlobalTable",
        "ExecuteStatement",
        "ListBackups",
        "ExportTableToPointInTime",
        "DescribeKinesisStreamingDestination",
    ],
)
def test_operation_of_amazon_that_is_not_here(connection, operation):
    answer, said = ask(connection, operation, {})
    assert error_of(answer, said)[:2] == (400, "UnknownOperationException")


@pytest.mark.own
def test_health(connection):
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert answer.status == 200 and answer.read().startswith(b"healthy: ")


def raw(url, data, parts=1):
    """What comes to bytes on a socket, until the other side ends or the answer is whole."""
    with socket.create_connection(("127.0.0.1", endpoint.port_of(url)), timeout=60) as connected:
        step = -(-len(data) // parts)
        for start in range(0, len(data), step):
            connected.sendall(data[start : start + step])
        answer = http.client.HTTPResponse(connected)
        answer.begin()
        return answer.status, answer.read()


def request_bytes(operation, body, *more, length=True):
    lines = [b"POST / HTTP/1.1", b"Host: 127.0.0.1"] + [
        f"{name}: {text}".encode() for name, text in headers_of(operation).items()
    ]
    if length:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join([*lines, *more, b"", b""])


LIMITS = "DescribeLimits"


def test_request_in_single_bytes(url):
    data = request_bytes(LIMITS, b"{}") + b"{}"
    assert raw(url, data, parts=len(data))[0] == 200


@pytest.mark.own
def test_chunked(url):
    body = b"1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n"
    assert raw(url, request_bytes(LIMITS, b"", b"Transfer-Encoding: chunked", length=False) + body)[0] in (200, 411)


@pytest.mark.own
def test_names_of_headers_in_any_case(url):
    data = (
        request_bytes(LIMITS, b"{}")
        .replace(b"X-Amz-Target", b"x-AMZ-tARGET")
        .replace(b"Content-Length", b"content-length")
    )
    assert raw(url, data + b"{}")[0] == 200


@pytest.mark.own
def test_expect_100(url):
    with socket.create_connection(("127.0.0.1", endpoint.port_of(url)), timeout=60) as connected:
        connected.sendall(request_bytes(LIMITS, b"{}", b"Expect: 100-continue"))
        assert connected.recv(100).startswith(b"HTTP/1.1 100 ")
        connected.sendall(b"{}")
        answer = http.client.HTTPResponse(connected)
        answer.begin()
        assert answer.status == 200


@pytest.mark.own
def test_pipelined(url):
    with socket.create_connection(("127.0.0.1", endpoint.port_of(url)), timeout=60) as connected:
        connected.sendall((request_bytes(LIMITS, b"{}") + b"{}") * 3 + request_bytes("Nothing", b"{}") + b"{}")
        file = connected.makefile("rb")
        for expected in (200, 200, 200, 400):
            assert int(file.readline().split()[1]) == expected
            length = 0
            while line := file.readline().strip():
                name, _, text = line.partition(b":")
                length = int(text) if name.lower() == b"content-length" else length
            file.read(length)


@pytest.mark.own
@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"\x00" * 100,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
    ],
    ids=[
        "empty",
        "nonsense",
        "length",
        "negative",
        "two-lengths",
        "length-and-chunks",
        "chunk",
        "version",
        "zeros",
        "tls",
    ],
)
def test_no_http(url, data, client):
    """An answer of 4xx or 5xx, or none; the connection ends, and others go on."""
    with socket.create_connection(("127.0.0.1", endpoint.port_of(url)), timeout=60) as connected:
        connected.sendall(data)
        connected.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connected.recv(65536):
            answer += part
    assert answer == b"" or answer.split()[1][:1] in (b"4", b"5"), answer
    endpoint.call(client, "", "ListTables", {})


@pytest.mark.own
@pytest.mark.parametrize(
    "fill",
    ["X-Long: " + "x" * 10_000_000, "\r\n".join(f"X-{number}: y" for number in range(200_000))],
    ids=["one", "many"],
)
def test_headers_without_end(url, client, fill):
    """They are refused at a bound."""
    with socket.create_connection(("127.0.0.1", endpoint.port_of(url)), timeout=60) as connected:
        try:
            connected.sendall(b"POST / HTTP/1.1\r\n" + fill.encode())
            assert connected.recv(100).split()[1:2] in ([], [b"400"], [b"413"], [b"431"])
        except (ConnectionResetError, BrokenPipeError):
            pass
    endpoint.call(client, "", "ListTables", {})


@pytest.mark.own
def test_body_without_bound(url, client):
    """Requests have 16 MB at most."""
    with socket.create_connection(("127.0.0.1", endpoint.port_of(url)), timeout=60) as connected:
        try:
            connected.sendall(
                request_bytes("PutItem", b"").replace(b"Content-Length: 0", b"Content-Length: 8589934592")
            )
            connected.sendall(b"{")
            assert connected.recv(100).split()[1:2] in ([], [b"400"], [b"413"])
        except (ConnectionResetError, BrokenPipeError):
            pass
    endpoint.call(client, "", "ListTables", {})


@pytest.mark.own
def test_body_of_16_mb(connection, make_table):
    """A batch of 25 items of nearly 400 KB is 10 MB."""
    table = make_table("S")
    request = {
        "RequestItems": {
            table: [{"PutRequest": {"Item": item({"pk": str(number), "v": "x" * 400_000})}} for number in range(25)]
        }
    }
    answer, body = ask(connection, "BatchWriteItem", request)
    assert (answer.status, json.loads(body)) == (200, {"UnprocessedItems": {}})


def test_values_as_they_are_written(connection, make_table):
    """B is base64, N a string, text may be escaped."""
    table = make_table("S")
    body = (
        '{"TableName":"%s","Item":{"pk":{"S":"\\u00e9\\ud83d\\ude00\\u0000\\n"},"b":{"B":"AP8="},"n":{"N":"1e3"},"l":{"L":[{"NULL":true},{"BOOL":false}]}}}'
        % table
    )
    assert ask(connection, "PutItem", body)[0].status == 200
    _, found = ask(connection, "GetItem", {"TableName": table, "Key": {"pk": {"S": "é😀\0\n"}}})
    assert json.loads(found)["Item"] == {
        "pk": {"S": "é😀\0\n"},
        "b": {"B": "AP8="},
        "n": {"N": "1000"},
        "l": {"L": [{"NULL": True}, {"BOOL": False}]},
    }
