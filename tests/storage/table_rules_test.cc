// The rules of CQL's data model that storage expresses, one sentence each. Every rule runs on the
// reference, on Table, and on Table with all waiting reclamation done after each step: whether the
// bytes of what is over are still there must not show. Each of these with plain and with packed
// keys, and, when the rule says nothing of a second column, in a table with one regular column and
// with two.
#include <memory>
#include <string>

#include "engine/storage/table.h"
#include "gtest/gtest.h"
#include "tests/reference/reference_table.h"
#include "tests/storage/table_script.h"

namespace liststore::testing {
namespace table_rules_test {

struct Rule {
  const char* sentence;
  Script script;
};

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.sentence; }

const Rule kReconciliationRules[] = {
    {"the later timestamp wins",
     {Insert("a", 1).V("x"), Insert("a", 2).V("y"), Sees("a=y"), Finds("x", ""), Finds("y", "a")}},
    {"the later timestamp wins though it comes first",
     {Insert("a", 2).V("y"), Insert("a", 1).V("x"), Sees("a=y"), Finds("x", "")}},
    {"a later null wins over a value", {Insert("a", 1).V("x"), Update("a", 2).NullV(), Sees("a")}},
    {"a later value wins over a null",
     {Update("a", 1).NullV(), Update("a", 2).V("x"), Sees("a=x")}},
    {"on a tie the null wins", {Insert("a", 1).V("x"), Update("a", 1).NullV(), Sees("a")}},
    {"on a tie the null wins though it comes first",
     {Update("a", 1).NullV(), Insert("a", 1).V("x"), Sees("a")}},
    {"on a tie expiring beats lasting",
     {Update("a", 1).V("z"), Update("a", 1).V("x").Ttl(5), Sees("a=x"), Wait(5), Sees("")}},
    {"on a tie lasting loses to expiring",
     {Update("a", 1).V("x").Ttl(5), Update("a", 1).V("z"), Sees("a=x"), Wait(5), Sees("")}},
    {"on a tie the later expiry wins",
     {Insert("a", 1).V("x").Ttl(9), Insert("a", 1).V("z").Ttl(5), Sees("a=x"), Wait(5), Sees("a=x"),
      Wait(4), Sees("")}},
    {"on a tie with equal expiry the smaller TTL, written later, wins",
     {Insert("a", 1).V("z").Ttl(10), Wait(4), Insert("a", 1).V("x").Ttl(6), Sees("a=x")}},
    {"on a full tie the larger value wins",
     {Insert("a", 1).V("y"), Insert("a", 1).V("z"), Sees("a=z"), Insert("a", 1).V("x"), Sees("a=z"),
      Finds("x", ""), Finds("y", ""), Finds("z", "a")}},
    {"on a full tie the empty value loses",
     {Insert("a", 1).V(""), Insert("a", 1).V("x"), Insert("a", 1).V(""), Sees("a=x")}},
    {"values compare as unsigned bytes",
     {Insert("a", 1).V("\x7f"), Insert("a", 1).V("\x80"), Sees("a=\x80")}},
    {"a longer value wins over its prefix",
     {Insert("a", 1).V("xx"), Insert("a", 1).V("x"), Sees("a=xx")}},
    {"columns are merged one by one",
     {Insert("a", 2).V("x").W("1"), Insert("a", 1).V("y").W("2"), Update("a", 3).W("3"),
      Sees("a=x+3")}},
    {"on a tie each column takes its larger value",
     {Insert("a", 1).V("x").W("2"), Insert("a", 1).V("y").W("1"), Sees("a=y+2")}},
    {"an older marker joins a newer cell",
     {Update("a", 2).V("x"), Insert("a", 1), Update("a", 3).NullV(), Sees("a")}},
    {"on a tie the expiring marker wins",
     {Insert("a", 1), Insert("a", 1).Ttl(5), Sees("a"), Wait(5), Sees("")}},
    {"extreme timestamps keep their order",
     {Insert("a", -4'000'000'000'000'000'000).V("x"), Sees("a=x"),
      Insert("a", 4'000'000'000'000'000'000).V("y"), Insert("a", 1).V("z"), Sees("a=y")}},
    {"rows whose timestamps lie far apart live side by side",
     {Insert("a", -4'000'000'000'000'000'000).V("x"), Insert("b", 4'000'000'000'000'000'000).V("y"),
      Insert("c", 1).V("z"), Sees("c=z b=y a=x"), Insert("a", 0).V("w"), Sees("c=z b=y a=w")}},
};

const Rule kInsertRules[] = {
    {"INSERT without values makes a row", {Insert("a", 1), Sees("a"), Finds("", "")}},
    {"INSERT of nulls makes a row", {Insert("a", 1).NullV(), Sees("a")}},
    {"UPDATE to null makes no row", {Update("a", 1).NullV(), Sees("")}},
    {"a row made by UPDATE goes with its last value",
     {Update("a", 1).V("x").W("y"), Update("a", 2).NullV(), Sees("a+y"), Update("a", 3).NullW(),
      Sees("")}},
    {"a row made by INSERT stays without its values",
     {Insert("a", 1).V("x"), Update("a", 2).NullV(), Sees("a"), Finds("x", "")}},
    {"a column that is left out keeps its value",
     {Insert("a", 1).V("x").W("y"), Insert("a", 2).W("z"), Sees("a=x+z"), Finds("x", "a")}},
    {"INSERT over a row made by UPDATE gives it a marker",
     {Update("a", 1).V("x"), Insert("a", 2), Update("a", 3).NullV(), Sees("a")}},
    {"UPDATE leaves the marker's expiry alone",
     {Insert("a", 1).V("x").Ttl(5), Update("a", 2).V("y"), Wait(5), Sees("a=y"),
      Update("a", 3).NullV(), Sees("")}},
    {"a second INSERT keeps one row",
     {Insert("a", 1).V("x"), Insert("a", 2).V("x"), Sees("a=x"), Finds("x", "a")}},
    {"rows come in descending key order",
     {Insert("b", 1).V("x"), Insert("a", 1).V("x"), Insert("c", 1).V("x"), Sees("c=x b=x a=x"),
      Finds("x", "c b a")}},
    {"the empty key sorts before all others",
     {Insert("a", 1).V("x"), Insert("", 1).V("y"), Sees("a=x =y"), Finds("y", ""), DeleteRow("", 2),
      Sees("a=x")}},
};

const Rule kTtlRules[] = {
    {"a row lives until the second of its expiry",
     {Insert("a", 1).V("x").Ttl(5), Wait(4), Sees("a=x"), Finds("x", "a"), Wait(1), Sees(""),
      Finds("x", "")}},
    {"the longest TTL there is",
     {Insert("a", 1).V("x").Ttl(kTtlSecondsMax), Wait(kTtlSecondsMax - 1), Sees("a=x"), Wait(1),
      Sees("")}},
    {"rewriting a column with another TTL changes that column only",
     {Update("a", 1).V("x").W("y").Ttl(5), Update("a", 2).V("z").Ttl(9), Wait(5), Sees("a=z"),
      Wait(4), Sees("")}},
    {"a later write without TTL lasts",
     {Insert("a", 1).V("x").Ttl(5), Insert("a", 2).V("y"), Wait(1'000), Sees("a=y")}},
    {"a later write with TTL ends what lasted",
     {Insert("a", 1).V("x"), Insert("a", 2).V("y").Ttl(5), Wait(5), Sees(""), Finds("x", "")}},
    {"an expired cell shadows older and equal timestamps",
     {Insert("a", 100).V("x").Ttl(1), Wait(1), Insert("a", 50).V("x"), Sees(""),
      Insert("a", 100).V("x"), Sees(""), Insert("a", 101).V("x"), Sees("a=x")}},
    {"an expired cell shadows a larger value on a tie",
     {Update("a", 100).V("a").Ttl(1), Wait(1), Update("a", 100).V("z"), Sees("")}},
    {"a shadow ends gc_grace after the write",
     {Insert("a", 100).V("x").Ttl(1), Wait(99), Insert("a", 50).V("x"), Sees(""), Wait(1),
      Insert("a", 50).V("x"), Sees("a=x")}},
    {"a TTL longer than gc_grace leaves no shadow",
     {Insert("a", 100).V("x").Ttl(150), Wait(150), Insert("a", 50).V("y"), Sees("a=y")}},
    {"a row whose value has expired stays while its marker lives",
     {Insert("a", 1), Update("a", 2).V("x").Ttl(5), Wait(5), Sees("a"), Finds("x", "")}},
    {"a row whose marker has expired stays while its value lives",
     {Insert("a", 1).Ttl(5), Update("a", 1).V("x"), Wait(5), Sees("a=x"), Finds("x", "a")}},
    {"a shadow covers its own column only",
     {Update("a", 100).V("x").Ttl(1), Wait(1), Update("a", 50).V("y").W("z"), Sees("a+z")}},
    {"an expired marker shadows older markers",
     {Insert("a", 100).Ttl(1), Wait(1), Insert("a", 50), Sees(""), Insert("a", 101), Sees("a")}},
    {"rows expire one by one",
     {Insert("a", 1).V("x").Ttl(3), Insert("b", 1).V("x").Ttl(1), Insert("c", 1).V("x").Ttl(2),
      Wait(1), Sees("c=x a=x"), Wait(1), Sees("a=x"), Wait(1), Sees("")}},
};

const Rule kDeletionRules[] = {
    {"a row deletion covers older writes",
     {Insert("a", 1).V("x"), Insert("b", 1).V("x"), DeleteRow("a", 2), Removed(1), Sees("b=x"),
      Finds("x", "b")}},
    {"at an equal timestamp the deletion wins",
     {Insert("a", 1).V("x"), DeleteRow("a", 1), Removed(1), Sees("")}},
    {"at an equal timestamp the deletion wins though it comes first",
     {DeleteRow("a", 1), Insert("a", 1).V("x"), Sees("")}},
    {"a deletion with an older timestamp does nothing",
     {Insert("a", 2).V("x"), DeleteRow("a", 1), Removed(0), Sees("a=x"), Finds("x", "a")}},
    {"a write older than the deletion stays hidden",
     {Insert("a", 1).V("x"), DeleteRow("a", 5), Insert("a", 4).V("y"), Sees(""),
      Insert("a", 6).V("z"), Sees("a=z")}},
    {"deleting what is not there still leaves a tombstone",
     {DeleteRow("a", 5), Removed(0), Insert("a", 4).V("y"), Sees("")}},
    {"a tombstone ends after gc_grace",
     {DeleteRow("a", 5), Wait(99), Insert("a", 4).V("y"), Sees(""), Wait(1), Insert("a", 4).V("y"),
      Sees("a=y")}},
    {"of two deletions the larger timestamp counts",
     {DeleteRow("a", 5), Wait(60), DeleteRow("a", 3), Wait(40), Insert("a", 2).V("x"),
      Sees("a=x")}},
    {"a repeated deletion renews the tombstone",
     {DeleteRow("a", 5), Wait(60), DeleteRow("a", 5), Wait(40), Insert("a", 4).V("x"), Sees("")}},
    {"a deletion leaves newer columns",
     {Insert("a", 1).V("x").W("y"), Update("a", 3).W("z"), DeleteRow("a", 2), Removed(0),
      Sees("a+z"), Finds("x", "")}},
    {"deleting an expired row removes nothing",
     {Insert("a", 1).V("x").Ttl(2), Wait(2), DeleteRow("a", 5), Removed(0)}},
    {"a null hides older values until gc_grace has passed",
     {Update("a", 5).NullV(), Wait(99), Update("a", 4).V("x"), Sees(""), Wait(1),
      Update("a", 4).V("x"), Sees("a=x")}},
    {"a range deletion takes its lower bound and leaves its upper",
     {Insert("a", 1).V("x"), Insert("b", 1).V("x"), Insert("c", 1).V("x"), DeleteRange("a", "c", 2),
      Removed(2), Sees("c=x"), Finds("x", "c")}},
    {"a range deletion leaves newer rows",
     {Insert("a", 1).V("x"), Insert("b", 3).V("x"), DeleteRange("a", "z", 2), Removed(1),
      Sees("b=x")}},
    {"a range tombstone hides older writes within it only",
     {DeleteRange("b", "d", 5), Insert("a", 4).V("x"), Insert("b", 4).V("x"), Insert("c", 5).V("x"),
      Insert("d", 4).V("x"), Sees("d=x a=x"), Insert("c", 6).V("y"), Sees("d=x c=y a=x")}},
    {"where ranges overlap the stronger counts",
     {DeleteRange("a", "d", 3), DeleteRange("b", "c", 7), Insert("a", 5).V("x"),
      Insert("b", 5).V("x"), Insert("c", 5).V("x"), Sees("c=x a=x"), DeleteRange("a", "d", 6),
      Removed(2), Insert("b", 7).V("y"), Insert("c", 7).V("y"), Sees("c=y")}},
    {"a range tombstone ends after gc_grace",
     {DeleteRange("a", "c", 5), Wait(100), Insert("b", 4).V("x"), Sees("b=x")}},
    {"an impossible range deletes nothing",
     {Insert("b", 1).V("x"), DeleteRange("c", "a", 5), Removed(0), DeleteRange("b", "b", 5),
      Sees("b=x"), Insert("b", 2).V("y"), Sees("b=y")}},
    {"a partition deletion covers all that is not newer",
     {Insert("a", 1).V("x"), Insert("b", 2).V("x"), Insert("c", 3).V("x"), DeletePartition(2),
      Removed(2), Sees("c=x"), Finds("x", "c")}},
    {"a partition tombstone hides older writes",
     {Insert("a", 1).V("x"), DeletePartition(5), Removed(1), Insert("a", 5).V("x"),
      Insert("b", 4).V("x"), Sees(""), Insert("b", 6).V("x"), Sees("b=x")}},
    {"a partition tombstone ends after gc_grace",
     {DeletePartition(5), Wait(99), Insert("a", 4).V("x"), Sees(""), Wait(1), Insert("a", 4).V("x"),
      Sees("a=x")}},
    {"a row deletion under a stronger partition tombstone adds nothing",
     {DeletePartition(5), Wait(60), DeleteRow("a", 4), Wait(40), Insert("a", 3).V("x"),
      Sees("a=x")}},
    {"a range deletion under a stronger partition tombstone adds nothing",
     {DeletePartition(5), Wait(60), DeleteRange("a", "c", 4), Wait(40), Insert("a", 3).V("x"),
      Sees("a=x")}},
    {"a stronger partition deletion takes older tombstones with it",
     {DeleteRow("a", 3), DeleteRange("a", "c", 4), DeletePartition(5), Insert("b", 5).V("x"),
      Sees(""), Insert("b", 6).V("x"), Sees("b=x")}},
    {"deletion by value takes the rows that hold it",
     {Insert("a", 1).V("x"), Insert("b", 1).V("y"), Insert("c", 1).V("x"), DeleteByValue("x", 2),
      Removed(2), Sees("b=y"), Finds("x", ""), DeleteByValue("x", 3), Removed(0)}},
    {"deletion by value leaves newer rows",
     {Insert("a", 1).V("x"), Insert("b", 3).V("x"), DeleteByValue("x", 2), Removed(1),
      Sees("b=x")}},
    {"deletion by value leaves tombstones under the rows it took",
     {Insert("a", 1).V("x"), DeleteByValue("x", 5), Insert("a", 4).V("y"), Insert("b", 4).V("y"),
      Sees("b=y")}},
    {"deletion by value does not see expired rows",
     {Insert("a", 1).V("x").Ttl(2), Wait(2), DeleteByValue("x", 5), Removed(0)}},
    {"truncation forgets values and tombstones",
     {Insert("a", 9).V("x"), DeleteRow("b", 9), DeleteRange("c", "d", 9), DeletePartition(8),
      Truncate(), Sees(""), Finds("x", ""), Insert("a", 1).V("p"), Insert("b", 1).V("q"),
      Insert("c", 1).V("r"), Sees("c=r b=q a=p"), Finds("q", "b")}},
};

const Rule kBatchRules[] = {
    {"of two INSERTs of one key in a batch the larger value wins",
     {Insert("a", 1).V("y").With(Insert("a", 1).V("x")), Sees("a=y"), Finds("x", "")}},
    {"of two INSERTs of one key in a batch the expiring wins",
     {Insert("a", 1).V("x").Ttl(5).With(Insert("a", 1).V("y")), Sees("a=x"), Wait(5), Sees("")}},
    {"INSERT of a value and UPDATE to null in a batch give null",
     {Update("a", 1).NullV().With(Insert("a", 1).V("x")), Sees("a")}},
    {"INSERT and DELETE under one timestamp give no row",
     {Insert("a", 7).V("x"), DeleteRow("a", 7), Sees(""), DeleteRow("b", 7), Insert("b", 7).V("x"),
      Sees("")}},
    {"a partition DELETE and INSERTs under one timestamp give nothing",
     {DeletePartition(7), Insert("a", 7).V("x").With(Insert("b", 7).V("x")), Sees("")}},
    {"the rows of a batch are applied together",
     {Insert("a", 1).V("x").With(Insert("b", 1).V("y").Ttl(5)).With(Update("c", 1).V("z")),
      Sees("c=z b=y a=x"), Wait(5), Sees("c=z a=x")}},
};

const Rule kIndexRules[] = {
    {"the empty value is found",
     {Insert("a", 1).V(""), Insert("b", 1), Sees("b a="), Finds("", "a")}},
    {"a null is not found", {Insert("a", 1).V("x"), Update("a", 2).NullV(), Finds("x", "")}},
    {"a value is found under all its keys",
     {Insert("a", 1).V("x"), Insert("b", 2).V("x"), Insert("c", 3).V("y"), Finds("x", "b a"),
      Insert("b", 4).V("y"), Finds("x", "a"), Finds("y", "c b")}},
    {"matching is by all bytes",
     {Insert("a", 1).V(std::string("x\0", 2)), Finds("x", ""), Finds(std::string("x\0", 2), "a")}},
    {"a losing write leaves the index alone",
     {Insert("a", 5).V("x"), Insert("a", 4).V("y"), Finds("x", "a"), Finds("y", "")}},
    {"a refreshed value is found until its new expiry",
     {Insert("a", 1).V("x").Ttl(3), Insert("a", 2).V("x").Ttl(9), Wait(3), Finds("x", "a"), Wait(6),
      Finds("x", "")}},
    {"another column's value is not found",
     {Insert("a", 1).V("x").W("y"), Finds("y", ""), Finds("x", "a")}},
};

const Rule kOwnTimestampRules[] = {
    {"with timestamps of its own a table needs no tombstones",
     {Insert("a", 1).V("x").Own(), DeleteRow("a", 2).Own(), Removed(1), Sees(""),
      Insert("a", 3).V("y").Own(), Sees("a=y"), DeletePartition(4).Own(), Removed(1), Sees("")}},
    {"own timestamps still decide between values",
     {Insert("a", 2).V("y").Own(), Insert("a", 2).V("x").Own(), Sees("a=y"),
      Insert("a", 3).V("x").Own(), Sees("a=x")}},
    {"what had expired before the first foreign timestamp shadows nothing",
     {Insert("a", 100).V("x").Ttl(1).Own(), Wait(1), Insert("a", 50).V("y"), Sees("a=y")}},
    {"what lives at the first foreign timestamp shadows when it expires",
     {Insert("a", 100).V("x").Ttl(5).Own(), Insert("b", 1).V("x"), Wait(5), Insert("a", 50).V("y"),
      Sees("b=x")}},
    {"deletion by value under own timestamps takes all rows that hold it and live",
     {Insert("a", 1).V("x").Own(), Insert("b", 2).V("x").Ttl(3).Own(), Insert("c", 3).V("y").Own(),
      Insert("d", 4).V("x").Own(), Insert("e", 5).V("x").Own(), Wait(3),
      DeleteByValue("x", 6).Own(), Removed(3), Sees("c=y"), Finds("x", ""), Finds("y", "c"),
      DeleteByValue("x", 7).Own(), Removed(0), DeleteByValue("y", 8).Own(), Removed(1), Sees(""),
      Insert("a", 9).V("y").Own(), Sees("a=y")}},
    {"deletions from the first foreign timestamp on leave tombstones",
     {DeleteRow("a", 5).Own(), Insert("a", 4).V("x"), Sees("a=x"), DeleteRow("a", 6).Own(),
      Removed(1), Insert("a", 5).V("y"), Sees("")}},
};

const Rule kStaticRules[] = {
    {"a static value is there without rows, and is none", {Static(1).V("x"), Sees("*=x")}},
    {"a static value stands beside the rows",
     {Insert("a", 1).V("x").With(Static(1).V("s")), Insert("b", 2).V("y"), Sees("*=s b=y a=x"),
      Finds("s", ""), Finds("x", "a")}},
    {"static values are merged as those of a row",
     {Static(2).V("x").W("1"), Static(1).V("y").W("2"), Static(3).W("3"), Sees("*=x+3")}},
    {"on a tie the larger static value wins", {Static(1).V("y"), Static(1).V("x"), Sees("*=y")}},
    {"a static null wins on a tie, and leaves nothing",
     {Static(1).V("x"), Static(1).NullV(), Sees(""), Static(1).V("z"), Sees(""), Static(2).V("y"),
      Sees("*=y")}},
    {"a static value expires by itself, and casts a shadow",
     {Insert("a", 1).V("x"), Static(5).V("s").W("t").Ttl(5), Static(6).W("u"), Sees("*=s+u a=x"),
      Wait(5), Sees("*+u a=x"), Static(4).V("y"), Sees("*+u a=x"), Wait(kScriptGraceSeconds),
      Static(4).V("y"), Sees("*=y+u a=x")}},
    {"a partition DELETE takes older static values, and those to come",
     {Insert("a", 1).V("x"), Static(2).V("s"), Static(9).W("t"), DeletePartition(5), Removed(1),
      Sees("*+t"), Static(4).V("u"), Sees("*+t"), Static(6).V("u"), Sees("*=u+t"),
      Wait(kScriptGraceSeconds), Static(4).W("v"), Sees("*=u+t")}},
    {"a range DELETE leaves static values",
     {Insert("a", 1).V("x"), Static(2).V("s"), DeleteRange("", "z", 5), Sees("*=s"),
      Static(3).V("t"), Sees("*=t")}},
    {"a row DELETE leaves static values",
     {Insert("a", 1).V("x"), Static(2).V("s"), DeleteRow("a", 5), Sees("*=s")}},
    {"with timestamps of its own a table keeps nothing of static nulls",
     {Static(1).V("x").Own(), Static(2).NullV().Own(), Sees(""), Static(3).V("y").Own(),
      Insert("a", 4).V("z").Own(), DeletePartition(5).Own(), Removed(1), Sees("")}},
    {"a partition whose static values are over is small again",
     {Insert("a", 1).V("x").Own(), Static(2).V("s").Ttl(5).Own(), Sees("*=s a=x"), Wait(5),
      Sees("a=x"), Insert("b", 3).V("y").Own(), Sees("b=y a=x")}},
    {"static values go with a truncation",
     {Static(9).V("s"), Truncate(), Sees(""), Static(1).V("t"), Sees("*=t")}},
};

const Rule kElementRules[] = {
    {"elements are merged one by one, and seen in the order of their paths",
     {Update("a", 2).E("q", "1").E("p", "1"), Update("a", 1).E("q", "2").E("r", "2"),
      Update("a", 3).E("r", "3"), Sees("a+p1+q1+r3")}},
    {"a row lives by an element alone",
     {Update("a", 1).E("p", "1"), Sees("a+p1"), Update("a", 2).NullE("p"), Sees("")}},
    {"a null element wins on a tie, and stays until its grace is over",
     {Insert("a", 1), Update("a", 5).E("p", "1"), Update("a", 5).NullE("p"), Sees("a"),
      Update("a", 5).E("p", "2"), Sees("a"), Wait(kScriptGraceSeconds), Update("a", 4).E("p", "3"),
      Sees("a+p3")}},
    {"a null of the column takes its elements of the same timestamp, and of older ones",
     {Insert("a", 1), Update("a", 2).E("p", "1"), Update("a", 3).E("q", "1"),
      Update("a", 4).E("r", "1"), Update("a", 3).NullW(), Sees("a+r1"), Update("a", 3).E("s", "1"),
      Sees("a+r1"), Update("a", 4).E("s", "1"), Sees("a+r1+s1")}},
    {"a whole value takes older elements, and those that come late",
     {Insert("a", 1), Update("a", 2).E("p", "1"), Update("a", 5).Whole().E("q", "1"), Sees("a+q1"),
      Update("a", 4).E("r", "1"), Sees("a+q1"), Update("a", 6).E("r", "1"), Sees("a+q1+r1")}},
    {"whole values of one timestamp add up",
     {Update("a", 5).Whole().E("p", "1"), Update("a", 5).Whole().E("q", "1"), Sees("a+p1+q1")}},
    {"an older whole value does nothing to newer elements",
     {Update("a", 5).E("p", "1"), Update("a", 3).Whole().E("q", "1"), Sees("a+p1+q1"),
      Update("a", 2).E("r", "1"), Sees("a+p1+q1")}},
    {"an element expires by itself, and casts a shadow",
     {Insert("a", 1), Update("a", 5).E("p", "1").Ttl(5), Update("a", 2).E("q", "1"),
      Sees("a+p1+q1"), Wait(5), Sees("a+q1"), Update("a", 4).E("p", "2"), Sees("a+q1"),
      Wait(kScriptGraceSeconds), Update("a", 4).E("p", "2"), Sees("a+p2+q1")}},
    {"a row DELETE takes older elements, and leaves newer ones",
     {Update("a", 2).E("p", "1"), Update("a", 6).E("q", "1"), DeleteRow("a", 5), Sees("a+q1"),
      Update("a", 5).E("r", "1"), Sees("a+q1")}},
    {"the static row has elements too",
     {Static(2).E("p", "1"), Static(5).Whole().E("q", "1"), Sees("*+q1"), DeletePartition(4),
      Sees("*+q1"), DeletePartition(5), Sees("")}},
    {"with timestamps of its own a table keeps nothing of what made way",
     {Update("a", 1).E("p", "1").Own(), Update("a", 2).Whole().E("q", "1").Own(), Sees("a+q1"),
      Update("a", 3).NullE("q").Own(), Sees("")}},
};

class SomeAddress : public storage::AddressOf {
 public:
  uint64_t operator()(std::string_view) const override { return 0x1234'5678'9abc'def0u; }
};

class TableRulesTest : public ::testing::TestWithParam<Rule> {
 protected:
  void RunOnReference(bool with_w, bool item_keys) {
    ReferenceTable table(ScriptSchema(with_w));
    ScriptRunner<ReferenceTable>(table, partition_, item_keys).Run(GetParam().script, [](int64_t) {
    });
  }

  void RunOnTable(bool with_w, bool item_keys, bool reclaims) {
    memory::MemoryBudget budget(uint64_t{64} << 20);
    memory::PagePool pool(budget);
    const SomeAddress address_of;
    const TableSchema schema = ScriptSchema(with_w);
    storage::Table table(schema, pool, budget, address_of);
    ScriptRunner<storage::Table>(table, partition_, item_keys)
        .Run(GetParam().script, [&](int64_t now_seconds) {
          while (reclaims && table.Reclaim(now_seconds, 10) > 0) {
          }
          table.Verify();
        });
  }

  const std::string key_ = std::string("\0\1a\0\0\1b\0", 8);
  const storage::PartitionRef partition_ = {key_, SomeAddress()(key_)};
};

TEST_P(TableRulesTest, Holds) {
  for (const bool with_w : {false, true}) {
    if (!with_w && UsesW(GetParam().script)) continue;
    for (const bool item_keys : {false, true}) {
      SCOPED_TRACE(std::string(with_w ? "two columns, " : "one column, ") +
                   (item_keys ? "item keys" : "plain keys"));
      {
        SCOPED_TRACE("reference");
        RunOnReference(with_w, item_keys);
      }
      for (const bool reclaims : {false, true}) {
        SCOPED_TRACE(reclaims ? "table that reclaims" : "table");
        RunOnTable(with_w, item_keys, reclaims);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Reconciliation, TableRulesTest, ::testing::ValuesIn(kReconciliationRules));
INSTANTIATE_TEST_SUITE_P(Insert, TableRulesTest, ::testing::ValuesIn(kInsertRules));
INSTANTIATE_TEST_SUITE_P(Ttl, TableRulesTest, ::testing::ValuesIn(kTtlRules));
INSTANTIATE_TEST_SUITE_P(Deletion, TableRulesTest, ::testing::ValuesIn(kDeletionRules));
INSTANTIATE_TEST_SUITE_P(Batch, TableRulesTest, ::testing::ValuesIn(kBatchRules));
INSTANTIATE_TEST_SUITE_P(Index, TableRulesTest, ::testing::ValuesIn(kIndexRules));
INSTANTIATE_TEST_SUITE_P(OwnTimestamps, TableRulesTest, ::testing::ValuesIn(kOwnTimestampRules));
INSTANTIATE_TEST_SUITE_P(Static, TableRulesTest, ::testing::ValuesIn(kStaticRules));
INSTANTIATE_TEST_SUITE_P(Element, TableRulesTest, ::testing::ValuesIn(kElementRules));

}  // namespace table_rules_test
}  // namespace liststore::testing
