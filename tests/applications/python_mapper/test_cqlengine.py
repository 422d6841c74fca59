"""Models of cqlengine: their tables, queries, conditions, batches, collections and changes."""

import datetime
import decimal
import uuid

import pytest
from cassandra.cqlengine import ValidationError, columns, connection, functions, management
from cassandra.cqlengine.models import Model
from cassandra.cqlengine.named import NamedKeyspace
from cassandra.cqlengine.query import BatchQuery, BatchType, ContextQuery, LWTException
from cassandra.cqlengine.usertype import UserType
from cassandra.util import datetime_from_uuid1, uuid_from_time

KEYSPACE = "library"
DAY = datetime.datetime(2024, 5, 6)


class Address(UserType):
    street = columns.Text()
    number = columns.Integer()


class Reader(Model):
    __table_name__ = "readers"
    __options__ = {"gc_grace_seconds": 3600, "comment": "who reads"}
    id = columns.UUID(primary_key=True, default=uuid.uuid4)
    name = columns.Text(required=True, index=True)
    born = columns.Date()
    height = columns.Decimal()
    home = columns.UserDefinedType(Address)
    tags = columns.Set(columns.Text)
    notes = columns.Map(columns.Text, columns.Integer)
    phones = columns.List(columns.Text)
    place = columns.Tuple(columns.Double(), columns.Double())
    active = columns.Boolean(default=True)


class Loan(Model):
    reader = columns.Text(partition_key=True)
    at = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    number = columns.Integer(primary_key=True)
    book = columns.Text()
    branch = columns.Text(static=True)


class Visits(Model):
    page = columns.Text(primary_key=True)
    times = columns.Counter()


class Item(Model):
    __table_name__ = "items"
    id = columns.Integer(primary_key=True)
    kind = columns.Text(discriminator_column=True, index=True)
    title = columns.Text()


class Book(Item):
    __discriminator_value__ = "book"
    pages = columns.Integer()


class Film(Item):
    __discriminator_value__ = "film"
    minutes = columns.Integer()


TABLES = (Reader, Loan, Visits, Book, Film)


@pytest.fixture(scope="module", autouse=True)
def schema():
    connection.setup(["127.0.0.1"], KEYSPACE, retry_connect=True)
    connection.get_session().default_timeout = 60
    management.create_keyspace_simple(KEYSPACE, 1)
    management.sync_type(KEYSPACE, Address)
    for table in TABLES:
        management.sync_table(table)
    yield
    management.drop_keyspace(KEYSPACE)
    connection.unregister_connection("default")


@pytest.fixture(autouse=True)
def empty(schema):
    for table in (Reader, Loan, Visits, Item):
        connection.execute(f"TRUNCATE {KEYSPACE}.{table.column_family_name(include_keyspace=False)}")


def ada(**more):
    return Reader.create(**{
        "name": "Ada", "born": datetime.date(1815, 12, 10), "height": decimal.Decimal("1.65"),
        "home": Address(street="Ring", number=7), "tags": {"new", "good"}, "notes": {"a": 1},
        "phones": ["1", "2"], "place": (48.2, 16.4), **more})


def lend(reader, count):
    for number in range(count):
        Loan.create(reader=reader, at=uuid_from_time(DAY + datetime.timedelta(seconds=number), node=1, clock_seq=1),
                    number=number, book=f"book {number}", branch="Wien")


def test_saved_is_found_with_all_of_it():
    saved = ada()
    found = Reader.get(id=saved.id)
    assert found == saved
    assert (found.home.street, found.height, found.place) == ("Ring", decimal.Decimal("1.65"), (48.2, 16.4))
    assert found.born.date() == datetime.date(1815, 12, 10)
    with pytest.raises(Reader.DoesNotExist):
        Reader.get(id=uuid.uuid4())
    with pytest.raises(ValidationError):
        Reader.create(name=None)


def test_collections_change_by_what_changed():
    reader = ada()
    reader.tags.add("old")
    reader.tags.remove("new")
    reader.notes["b"] = 2
    del reader.notes["a"]
    reader.phones = ["0"] + reader.phones + ["3"]
    reader.save()
    found = Reader.get(id=reader.id)
    assert (found.tags, found.notes, found.phones) == ({"good", "old"}, {"b": 2}, ["0", "1", "2", "3"])
    Reader.objects(id=reader.id).update(tags__add={"x"}, notes__update={"c": 3}, phones__append=["4"])
    Reader.objects(id=reader.id).update(tags__remove={"old"}, notes__remove={"b"}, phones__prepend=["-1"])
    found = Reader.get(id=reader.id)
    assert (found.tags, found.notes) == ({"good", "x"}, {"c": 3})
    assert found.phones == ["-1", "0", "1", "2", "3", "4"]


def test_queries_by_index_filter_and_member():
    first, second = ada(), ada(name="Eve", active=False)
    assert Reader.objects(name="Eve").get().id == second.id
    assert {reader.id for reader in Reader.objects(id__in=[first.id, second.id])} == {first.id, second.id}
    assert Reader.objects(name="Ada", active=False).allow_filtering().count() == 0
    filtered = Reader.objects(tags__contains="good", active=False).allow_filtering()
    assert [reader.id for reader in filtered] == [second.id]
    assert Reader.objects.count() == 2
    assert set(Reader.objects.values_list("name", flat=True)) == {"Ada", "Eve"}


def test_whole_table_by_tokens():
    saved = {ada(name=f"reader {number}").id for number in range(30)}
    seen, page = set(), list(Reader.objects.limit(7))
    while page:
        seen |= {reader.id for reader in page}
        page = list(Reader.objects.filter(pk__token__gt=functions.Token(page[-1].pk)).limit(7))
    assert seen == saved
    assert {reader.id for reader in Reader.objects.fetch_size(4)} == saved


def test_partition_in_order_ranges_and_slices():
    lend("ann", 10)
    loans = Loan.objects(reader="ann")
    assert [loan.number for loan in loans] == list(range(9, -1, -1))
    assert [loan.number for loan in loans.order_by("at")] == list(range(10))
    assert [loan.number for loan in loans[2:5]] == [7, 6, 5]
    assert loans.order_by("at").first().number == 0
    after, before = DAY + datetime.timedelta(seconds=3), DAY + datetime.timedelta(seconds=6)
    assert [loan.number for loan in loans.filter(at__gte=functions.MinTimeUUID(after),
                                                 at__lte=functions.MaxTimeUUID(before))] == [6, 5, 4, 3]
    assert datetime_from_uuid1(loans.first().at) == DAY + datetime.timedelta(seconds=9)
    assert {loan.branch for loan in loans} == {"Wien"}
    Loan.objects(reader="ann").update(branch="Graz")
    assert {loan.branch for loan in Loan.objects(reader="ann")} == {"Graz"}
    assert list(Loan.objects.distinct(["reader"]).values_list("reader", flat=True)) == ["ann"]
    loans.filter(at__lt=functions.MinTimeUUID(after)).delete()
    assert Loan.objects(reader="ann").count() == 7


def test_conditions():
    reader = ada()
    with pytest.raises(LWTException) as refused:
        Reader.if_not_exists().create(id=reader.id, name="Eve")
    assert refused.value.existing["name"] == "Ada"
    reader.iff(name="Ada").update(name="Ann")
    with pytest.raises(LWTException) as refused:
        Reader.objects(id=reader.id).iff(name="Ada").update(active=False)
    assert refused.value.existing == {"[applied]": False, "name": "Ann"}
    Reader.objects(id=reader.id).iff(name__ne="Ada").update(active=False)
    Reader.objects(id=reader.id).if_exists().delete()
    with pytest.raises(LWTException):
        Reader.objects(id=reader.id).if_exists().update(active=True)


def test_ttl_and_timestamps():
    reader = ada()
    Reader.objects(id=reader.id).ttl(600).update(active=False)
    Reader.objects(id=reader.id).timestamp(datetime.timedelta(hours=-1)).update(name="older")
    row = connection.execute(f"SELECT name, ttl(active) AS left FROM {KEYSPACE}.readers").one()
    assert row["name"] == "Ada" and 590 < row["left"] <= 600
    Reader.objects(id=reader.id).timestamp(datetime.timedelta(hours=1)).update(name="newer")
    assert Reader.get(id=reader.id).name == "newer"


@pytest.mark.parametrize("kind", [BatchType.Unlogged, None], ids=["unlogged", "logged"])
def test_batches(kind):
    with BatchQuery(batch_type=kind) as batch:
        for number in range(5):
            Loan.batch(batch).create(reader="ann", at=uuid_from_time(DAY), number=number)
        assert Loan.objects.count() == 0
    assert Loan.objects.count() == 5
    with BatchQuery() as batch:
        for loan in Loan.objects(reader="ann"):
            loan.batch(batch).delete()
    assert Loan.objects.count() == 0
    with pytest.raises(LWTException):
        with BatchQuery() as batch:
            Reader.batch(batch).if_not_exists().create(id=ada().id, name="Eve")


def test_counters():
    visits = Visits.create(page="/")
    visits.times += 5
    visits.save()
    visits.times -= 2
    visits.save()
    assert Visits.get(page="/").times == 3


def test_kinds_share_a_table():
    Book.create(id=1, title="Notes", pages=66)
    Film.create(id=2, title="Enigma", minutes=119)
    assert [type(item) for item in Item.objects(id__in=[1, 2])] == [Book, Film]
    assert [book.title for book in Book.objects.allow_filtering()] == ["Notes"]
    assert Film.objects(id=1).allow_filtering().first() is None


def test_tables_by_name_alone():
    lend("ann", 3)
    loans = NamedKeyspace(KEYSPACE).table("loan")
    assert [row["number"] for row in loans.objects(reader="ann").limit(2)] == [2, 1]


def test_models_in_another_keyspace():
    management.create_keyspace_network_topology("other", {"datacenter1": 1})
    try:
        management.sync_table(Visits, keyspaces=["other"])
        with ContextQuery(Visits, keyspace="other") as visits:
            visits.objects(page="/").update(times=4)
            assert visits.get(page="/").times == 4
        assert Visits.objects.count() == 0
    finally:
        management.drop_keyspace("other")


def test_table_follows_its_model():
    class Before(Model):
        __table_name__ = "changing"
        id = columns.Integer(primary_key=True)
        kept = columns.Text()

    class After(Before):
        __table_name__ = "changing"
        __options__ = {"default_time_to_live": 60}
        added = columns.Text(index=True)

    management.sync_table(Before)
    Before.create(id=1, kept="k")
    management.sync_table(After)
    After.objects(id=1).update(added="a")
    assert After.objects(added="a").get().kept == "k"
    metadata = connection.get_cluster().metadata.keyspaces[KEYSPACE].tables["changing"]
    assert metadata.options["default_time_to_live"] == 60
    assert list(metadata.indexes) == ["changing_added_idx"]
    management.drop_table(After)
    assert "changing" not in connection.get_cluster().metadata.keyspaces[KEYSPACE].tables


def test_types_follow_theirs():
    class Size(UserType):
        __type_name__ = "size"
        width = columns.Integer()

    management.sync_type(KEYSPACE, Size)

    class Wider(UserType):
        __type_name__ = "size"
        width = columns.Integer()
        height = columns.Integer()

    management.sync_type(KEYSPACE, Wider)
    fields = connection.get_cluster().metadata.keyspaces[KEYSPACE].user_types["size"].field_names
    assert list(fields) == ["width", "height"]
