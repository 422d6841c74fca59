"""The tables of the corpus, by short names: types of the hash key and of the range key, then indexes."""


def _element(name, role):
    return {"AttributeName": name, "KeyType": role}


def _definition(name, kind):
    return {"AttributeName": name, "AttributeType": kind}


def _index(name, *keys, projection="ALL", include=()):
    return {
        "IndexName": name,
        "KeySchema": [_element(key, role) for key, role in zip(keys, ("HASH", "RANGE"))],
        "Projection": {"ProjectionType": projection, **({"NonKeyAttributes": list(include)} if include else {})},
    }


def table(keys, local=(), world=(), more="", **rest):
    """`keys`: like "S" or "SN"; `more`: definitions of the indexes' attributes, like "v:S n:N"."""
    names = ["pk", "sk"][: len(keys)]
    request = {
        "KeySchema": [_element(name, role) for name, role in zip(names, ("HASH", "RANGE"))],
        "AttributeDefinitions": [_definition(name, kind) for name, kind in zip(names, keys)]
        + [_definition(*one.split(":")) for one in more.split()],
        "BillingMode": "PAY_PER_REQUEST",
        **rest,
    }
    if local:
        request["LocalSecondaryIndexes"] = list(local)
    if world:
        request["GlobalSecondaryIndexes"] = list(world)
    return request


SCHEMAS = {keys: table(keys) for keys in ("S", "N", "B", "SS", "SN", "SB", "NN", "BB")}
# Lists of an entity's events: one sort key, and one index by value.
SCHEMAS["lists"] = table("SN", local=[_index("by_v", "pk", "v")], more="v:S")
SCHEMAS["local"] = table(
    "SN",
    more="v:S w:N",
    local=[
        _index("by_v", "pk", "v"),
        _index("keys_only", "pk", "w", projection="KEYS_ONLY"),
        _index("include", "pk", "w", projection="INCLUDE", include=["a"]),
    ],
)
SCHEMAS["global"] = table(
    "SN",
    more="g:S w:N",
    world=[
        _index("by_g", "g", "w"),
        _index("only_g", "g"),
        _index("keys_only", "g", "sk", projection="KEYS_ONLY"),
        _index("include", "g", "w", projection="INCLUDE", include=["a"]),
    ],
)
