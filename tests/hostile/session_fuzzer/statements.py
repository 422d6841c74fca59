"""Statements of all kinds at random: most of them are sound, on names that exist; none is small by law."""

KEYSPACES = ("f0", "f1")
TABLES_MAX = 30
# A few rows, of which some are large.
HEAVY = "f0.heavy"
CREATE_HEAVY = (f"CREATE TABLE IF NOT EXISTS {HEAVY} (p int, c int, t text, n varint, d decimal, l list<text>, "
                "m map<int, int>, PRIMARY KEY (p, c))")
SIMPLE = ("int", "bigint", "text", "blob", "uuid", "timeuuid", "varint", "decimal", "double", "float", "boolean",
          "timestamp", "date", "time", "duration", "inet", "smallint", "tinyint", "ascii")
KEY_TYPES = tuple(name for name in SIMPLE if name != "duration")
READABLE = ("system.local", "system.clients", "system_schema.tables", "system_schema.columns", "system.config",
            "system_schema.views", "liststore.memory", "liststore.counters", "system.size_estimates")
FUNCTIONS = ("count({0})", "max({0})", "min({0})", "sum({0})", "avg({0})", "toJson({0})", "writetime({0})", "ttl({0})",
             "max(toJson({0}))", "cast({0} as text)", "cast({0} as double)", "cast({0} as varint)", "token({0})",
             "intAsBlob({0})", "toTimestamp({0})", "blobAsText({0})", "count(*)", "currentTimestamp()")


class Table:
    """What is remembered of a table that was made: it may be gone since."""

    def __init__(self, name, partition, clustering, columns):
        self.name = name
        self.partition, self.clustering = partition, clustering  # [(name, type)]
        self.columns = columns                                   # all of them

    @property
    def key(self):
        return self.partition + self.clustering


class Statements:
    """A source of texts. `size`: how large a large value is, in bytes."""

    def __init__(self, rng, size):
        self.rng = rng
        self.size = size
        self.left = size  # of large things in the statement at hand, in bytes
        self.made = 0
        self.tables = []
        self.types = []
        self.views = []

    # --- Values ---------------------------------------------------------------------------------

    def length(self):
        """Of a text, in bytes: mostly short."""
        rng = self.rng
        draw = rng.random()
        if draw < 0.85:
            return rng.randrange(12)
        return self.take(rng.randrange(2000 if draw < 0.98 else self.size))

    def count(self):
        """Of elements, relations, selectors: mostly few."""
        draw = self.rng.random()
        if draw < 0.9:
            return self.rng.randrange(1, 5)
        count = self.rng.randrange(1, 200 if draw < 0.99 else max(2, self.size // 20))
        return max(1, self.take(20 * count) // 20)

    def take(self, wanted):
        """As much of it as the statement has left."""
        taken = min(wanted, self.left)
        self.left -= taken
        return taken

    def digits(self, count):
        return str(self.rng.randrange(1, 10)) + "".join(self.rng.choices("0123456789", k=count))

    def uuid(self, version="4"):
        hexes = "".join(self.rng.choices("0123456789abcdef", k=32))
        return f"{hexes[:8]}-{hexes[8:12]}-{version}{hexes[13:16]}-8{hexes[17:20]}-{hexes[20:]}"

    def literal(self, type_name, depth=0):
        rng = self.rng
        if rng.random() < 0.03:
            return rng.choice(("null", "?", ":v", "now()", "uuid()", "''", "0x", "NaN", "-Infinity", "(int)1"))
        if type_name in ("int", "smallint", "tinyint", "bigint"):
            bits = {"int": 31, "smallint": 15, "tinyint": 7, "bigint": 63}[type_name]
            if rng.random() < 0.01:
                return str(2 ** bits)
            return str(rng.choice((rng.randrange(8), -rng.randrange(8), 2 ** bits - 1, -2 ** bits)))
        if type_name in ("text", "ascii"):
            return "'" + "".join(rng.choices("abc xyz019_%", k=self.length())) + "'"
        if type_name == "blob":
            return "0x" + "".join(rng.choices("0123456789abcdef", k=2 * self.length()))
        if type_name in ("uuid", "timeuuid"):
            return self.uuid("1" if type_name == "timeuuid" else "4")
        if type_name == "varint":
            return self.digits(self.length())
        if type_name in ("decimal", "double", "float"):
            return rng.choice((f"{rng.random()}", f"1e{rng.randrange(-400, 400)}", f"0.{self.digits(self.length())}",
                               f"{self.digits(self.length())}e{rng.randrange(-2 ** 31, 2 ** 31)}"))
        if type_name == "boolean":
            return rng.choice(("true", "false"))
        if type_name == "timestamp":
            return rng.choice((str(rng.randrange(-2 ** 63, 2 ** 63)), "'2026-01-01'", "'2026-01-01T10:00:00.123+0100'"))
        if type_name == "date":
            return rng.choice(("'2026-01-01'", "'-0001-01-01'", str(rng.randrange(2 ** 32))))
        if type_name == "time":
            return rng.choice(("'10:11:12.123456789'", str(rng.randrange(86400 * 10 ** 9))))
        if type_name == "duration":
            return rng.choice(("1mo2d3ns", "P1Y", "1h", "-1us", f"{self.digits(8)}d"))
        if type_name == "inet":
            return rng.choice(("'127.0.0.1'", "'::1'"))
        return self.collection(type_name, depth)

    def collection(self, type_name, depth):
        if depth > 4 or "<" not in type_name:
            return "{}"
        outer, inner = type_name.split("<", 1)
        inner = inner[:-1]
        if outer == "frozen":
            return self.literal(inner, depth + 1)
        parts = split_types(inner)
        if outer == "tuple":
            return "(" + ", ".join(self.literal(part, depth + 1) for part in parts) + ")"
        count = self.count() if depth == 0 else self.rng.randrange(3)
        if outer == "map":
            pairs = (f"{self.literal(parts[0], depth + 1)}: {self.literal(parts[-1], depth + 1)}" for _ in range(count))
            return "{" + ", ".join(pairs) + "}"
        inside = ", ".join(self.literal(parts[0], depth + 1) for _ in range(count))
        return "[" + inside + "]" if outer == "list" else "{" + inside + "}"

    # --- Types and names ------------------------------------------------------------------------

    def type_name(self, depth=0):
        rng = self.rng
        if depth > 3 or rng.random() < 0.7:
            return rng.choice(SIMPLE)
        if self.types and rng.random() < 0.1:
            return f"frozen<{rng.choice(self.types).split('.')[1]}>"
        outer = rng.choice(("list", "set", "map", "tuple", "frozen"))
        if outer == "frozen":
            return f"frozen<list<{self.type_name(depth + 1)}>>"
        inner = [self.inner_type(depth) for _ in range(2 if outer == "map" else rng.randrange(1, 5))]
        return f"{outer}<{', '.join(inner if outer in ('map', 'tuple') else inner[:1])}>"

    def inner_type(self, depth):
        inner = self.type_name(depth + 1)
        return f"frozen<{inner}>" if "<" in inner and not inner.startswith("frozen") else inner

    def name(self, prefix):
        self.made += 1
        return f"{prefix}{self.made}"

    def keyspace(self):
        return self.rng.choice(KEYSPACES)

    def table(self):
        return self.rng.choice(self.tables) if self.tables else Table("f0.none", [("p", "int")], [], [("p", "int")])

    def column(self, table):
        return self.rng.choice(table.columns)

    # --- Schema ---------------------------------------------------------------------------------

    def create_table(self):
        rng = self.rng
        partition = [(f"p{i}", rng.choice(KEY_TYPES)) for i in range(rng.choice((1, 1, 1, 2, 3)))]
        clustering = [(f"c{i}", rng.choice(KEY_TYPES)) for i in range(rng.choice((0, 1, 1, 2, 4)))]
        count = rng.randrange(1, 8) if rng.random() < 0.95 else self.count()
        if rng.random() < 0.07:
            others = [(f"v{i}", "counter") for i in range(count)]
        else:
            others = [(f"v{i}", self.type_name()) for i in range(count)]
        table = Table(f"{self.keyspace()}.{self.name('t')}", partition, clustering, partition + clustering + others)
        self.tables.append(table)
        lines = [f"{name} {type_name}" + (" static" if clustering and name[0] == "v" and rng.random() < 0.1 else "")
                 for name, type_name in table.columns]
        key = f"({', '.join(name for name, _ in partition)})" + "".join(f", {name}" for name, _ in clustering)
        options = ""
        if clustering and rng.random() < 0.5:
            order = ", ".join(f"{name} {rng.choice(('ASC', 'DESC'))}" for name, _ in clustering)
            options = f" WITH CLUSTERING ORDER BY ({order})"
            if rng.random() < 0.3:
                options += f" AND default_time_to_live = {rng.randrange(6 * 10 ** 8)}"
        return f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join(lines)}, PRIMARY KEY ({key})){options}"

    def drop_table(self, table):
        if table in self.tables:
            self.tables.remove(table)
        return f"DROP TABLE IF EXISTS {table.name}"

    def schema(self):
        rng, table = self.rng, self.table()
        column, type_name = self.column(table)
        keyspace = table.name.split(".")[0]
        kind = rng.randrange(11)
        if kind == 0:
            name = self.name("v")
            table.columns = table.columns + [(name, type_name)]
            return f"ALTER TABLE {table.name} ADD {name} {type_name}"
        if kind == 1:
            return f"ALTER TABLE {table.name} DROP {column}"
        if kind == 2:
            target = rng.choice((column, f"keys({column})", f"values({column})", f"full({column})", f"entries({column})"))
            return f"CREATE INDEX IF NOT EXISTS {self.name('i')} ON {table.name} ({target})"
        if kind == 3:
            columns = ", ".join(name for name, _ in table.partition)
            return f"CREATE INDEX IF NOT EXISTS {self.name('i')} ON {table.name} (({columns}), {column})"
        if kind == 4:
            view = f"{keyspace}.{self.name('m')}"
            self.views = self.views[-10:] + [view]
            names = [name for name, _ in table.key]
            conditions = " AND ".join(f"{name} IS NOT NULL" for name in [column] + names)
            rest = "".join(f", {name}" for name in names if name != column)
            return (f"CREATE MATERIALIZED VIEW IF NOT EXISTS {view} AS SELECT * FROM {table.name} WHERE {conditions} "
                    f"PRIMARY KEY ({column}{rest})")
        if kind == 5 and self.views:
            return f"DROP MATERIALIZED VIEW IF EXISTS {rng.choice(self.views)}"
        if kind == 6:
            name = f"{keyspace}.{self.name('u')}"
            self.types = self.types[-8:] + [name]
            fields = ", ".join(f"g{i} {self.inner_type(0)}" for i in range(self.count()))
            return f"CREATE TYPE IF NOT EXISTS {name} ({fields})"
        if kind == 7:
            return self.drop_table(table)
        if kind == 8:
            return f"TRUNCATE {table.name}"
        if kind == 9:
            return f"DROP INDEX IF EXISTS {keyspace}.i{rng.randrange(self.made + 1)}"
        return f"ALTER TABLE {table.name} WITH comment = {self.literal('text')} AND gc_grace_seconds = {rng.randrange(99)}"

    # --- Data -----------------------------------------------------------------------------------

    def using(self):
        rng = self.rng
        if rng.random() < 0.8:
            return ""
        parts = rng.sample((f"TTL {rng.randrange(64 * 10 ** 7)}", f"TIMESTAMP {rng.randrange(16 * 10 ** 14)}",
                            f"TIMEOUT {rng.randrange(1, 2000)}ms"), rng.randrange(1, 3))
        return " USING " + " AND ".join(parts)

    def condition(self, table):
        draw = self.rng.random()
        if draw < 0.9:
            return ""
        column, type_name = self.column(table)
        return " IF NOT EXISTS" if draw < 0.93 else f" IF {column} = {self.literal(type_name)}"

    def insert(self):
        rng, table = self.rng, self.table()
        if rng.random() < 0.1:
            fields = ", ".join(f'"{name}": "{rng.randrange(9)}"' for name, _ in table.columns)
            return f"INSERT INTO {table.name} JSON '{{{fields}}}'{self.using()}"
        columns = table.key + [pair for pair in table.columns if pair not in table.key and rng.random() < 0.7]
        names = ", ".join(name for name, _ in columns)
        inside = ", ".join(self.key_literal(type_name) if pair in table.key else self.literal(type_name)
                           for pair in columns for type_name in pair[1:])
        exists = " IF NOT EXISTS" if rng.random() < 0.05 else ""
        return f"INSERT INTO {table.name} ({names}) VALUES ({inside}){exists}{self.using()}"

    def key_literal(self, type_name):
        """From few, so that rows meet."""
        if self.rng.random() < 0.8:
            if type_name in ("int", "bigint", "varint", "smallint", "tinyint", "timestamp", "decimal", "double", "float"):
                return str(self.rng.randrange(6))
            if type_name in ("text", "ascii"):
                return f"'{self.rng.randrange(6)}'"
        return self.literal(type_name)

    def relation(self, name, type_name):
        rng = self.rng
        operator = rng.choice(("=", "=", "=", "<", ">", "<=", ">=", "IN", "CONTAINS", "!=", "LIKE", "CONTAINS KEY"))
        if operator == "IN":
            return f"{name} IN ({', '.join(self.key_literal(type_name) for _ in range(self.count()))})"
        return f"{name} {operator} {self.key_literal(type_name)}"

    def where(self, table, whole_key=False):
        rng = self.rng
        parts = [f"{name} = {self.key_literal(type_name)}" for name, type_name in table.partition]
        for name, type_name in table.clustering:
            if not whole_key and rng.random() < 0.4:
                break
            parts.append(f"{name} = {self.key_literal(type_name)}" if whole_key or rng.random() < 0.6
                         else self.relation(name, type_name))
        if not whole_key and rng.random() < 0.3:
            parts = [self.relation(*self.column(table)) for _ in range(self.count())]
        if not whole_key and len(table.clustering) > 1 and rng.random() < 0.2:
            names = ", ".join(name for name, _ in table.clustering)
            literals = ", ".join(self.key_literal(type_name) for _, type_name in table.clustering)
            parts.append(f"({names}) {rng.choice(('>', '<', '=', '>='))} ({literals})")
        return " WHERE " + " AND ".join(parts)

    def update(self):
        rng, table = self.rng, self.table()
        others = [pair for pair in table.columns if pair not in table.key] or table.columns
        changes = []
        for name, type_name in rng.sample(others, min(self.count(), len(others))):
            if type_name == "counter":
                changes.append(f"{name} = {name} {rng.choice('+-')} {rng.randrange(2 ** 40)}")
            elif rng.random() < 0.3:
                changes.append(f"{name} = {name} {rng.choice('+-')} {self.literal(type_name)}")
            elif rng.random() < 0.1:
                changes.append(f"{name}[{rng.randrange(3)}] = {rng.randrange(9)}")
            else:
                changes.append(f"{name} = {self.literal(type_name)}")
        return (f"UPDATE {table.name}{self.using()} SET {', '.join(changes)}{self.where(table, True)}"
                f"{self.condition(table)}")

    def delete(self):
        rng, table = self.rng, self.table()
        column, _ = self.column(table)
        what = f" {column}" if rng.random() < 0.3 and column[0] == "v" else ""
        using = self.using().replace("TTL", "TIMESTAMP") if rng.random() < 0.1 else ""
        return f"DELETE{what} FROM {table.name}{using}{self.where(table, rng.random() < 0.4)}{self.condition(table)}"

    def select(self):
        rng, table = self.rng, self.table()
        if rng.random() < 0.05:
            return f"SELECT * FROM {rng.choice(READABLE)}"
        source = rng.choice(self.views) if self.views and rng.random() < 0.05 else table.name
        selectors = "*"
        if rng.random() < 0.5:
            selectors = ", ".join(rng.choice(FUNCTIONS + ("{0}",) * 12).format(self.column(table)[0])
                                  for _ in range(self.count()))
        text = f"SELECT {rng.choice(('', '', '', '', 'DISTINCT ', 'JSON '))}{selectors} FROM {source}"
        if rng.random() < 0.7:
            text += self.where(table)
        if rng.random() < 0.1:
            text += " GROUP BY " + ", ".join(name for name, _ in table.key[:rng.randrange(1, 4)])
        if table.clustering and rng.random() < 0.1:
            text += f" ORDER BY {table.clustering[0][0]} {rng.choice(('ASC', 'DESC'))}"
        if rng.random() < 0.1:
            text += f" PER PARTITION LIMIT {rng.randrange(1, 9)}"
        if rng.random() < 0.2:
            text += f" LIMIT {rng.randrange(1, 99)}"
        if rng.random() < 0.6:
            text += " ALLOW FILTERING"
        return text

    def batch(self):
        kind = self.rng.choice(("BEGIN BATCH ", "BEGIN UNLOGGED BATCH ", "BEGIN COUNTER BATCH "))
        return kind + "; ".join(self.write() for _ in range(min(self.count(), 300))) + "; APPLY BATCH"

    def write(self):
        return self.rng.choice((self.insert, self.insert, self.update, self.delete))()

    def data(self):
        """One that may be prepared and run again."""
        return self.select() if self.rng.random() < 0.5 else self.write()

    def other(self):
        rng, name = self.rng, self.table().name
        return rng.choice((
            f"USE {self.keyspace()}", "DESCRIBE SCHEMA", f"DESCRIBE TABLE {name}", f"DESCRIBE KEYSPACE {self.keyspace()}",
            "LIST ROLES", f"CREATE ROLE r{rng.randrange(4)}", f"GRANT SELECT ON {name} TO r{rng.randrange(4)}",
            "LIST ALL PERMISSIONS", f"DROP ROLE IF EXISTS r{rng.randrange(4)}", f"PRUNE MATERIALIZED VIEW {name}"))

    # --- What is heavy --------------------------------------------------------------------------

    def heavy_write(self):
        """A row with one large value, in the table of HEAVY."""
        rng = self.rng
        name, text = rng.choice((
            ("t", lambda count: "'" + "x" * count + "'"),
            ("n", lambda count: self.digits(count // 4)),
            ("d", lambda count: f"0.{self.digits(count // 4)}e{rng.randrange(-2 ** 31, 2 ** 31)}"),
            ("l", lambda count: "[" + ", ".join(("'y'",) * (count // 5)) + "]"),
            ("m", lambda count: "{" + ", ".join(f"{i}: 1" for i in range(count // 9)) + "}")))
        size = rng.randrange(5 * self.size) if rng.random() < 0.8 else 30
        return f"INSERT INTO {HEAVY} (p, c, {name}) VALUES ({rng.randrange(2)}, {rng.randrange(20)}, {text(size)})"

    def heavy_read(self):
        """One that multiplies what is stored: a column named often, or a long way from value to answer."""
        rng = self.rng
        column = rng.choice("tndlm")
        selector = rng.choice((column, column, "toJson({0})", "max(toJson({0}))", "cast({0} as text)", "cast({0} as double)",
                               "cast({0} as varint)", "sum({0})", "avg({0})", "count({0})", "min({0})")).format(column)
        selectors = ", ".join((selector,) * rng.choice((1, 1, 2, 10, 200)))
        where = rng.choice(("", f" WHERE p = {rng.randrange(2)}", f" WHERE p IN ({', '.join(map(str, range(3000)))})",
                            f" WHERE {column} = {self.digits(20000)} ALLOW FILTERING",
                            f" WHERE p = 0 AND c IN ({', '.join(map(str, range(90)))}) ORDER BY c DESC"))
        return f"SELECT {rng.choice(('', '', 'JSON '))}{selectors} FROM {HEAVY}{where}"

    def heavy(self):
        return self.heavy_write() if self.rng.random() < 0.4 else self.heavy_read()

    def any(self):
        self.left = self.size
        if len(self.tables) < 4:
            return self.create_table()
        if len(self.tables) > TABLES_MAX:
            return self.drop_table(self.tables[0])
        draw = self.rng.random()
        for share, make in ((0.28, self.insert), (0.40, self.update), (0.48, self.delete), (0.78, self.select),
                            (0.84, self.batch), (0.88, self.create_table), (0.97, self.schema)):
            if draw < share:
                return make()
        return self.other()


def split_types(text):
    """The parameters of a type: `text` is what stands between its angle brackets."""
    parts, depth, begin = [], 0, 0
    for i, character in enumerate(text):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return parts + [text[begin:].strip()]
