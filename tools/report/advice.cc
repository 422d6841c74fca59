#include "tools/report/advice.h"

#include <algorithm>

namespace liststore {
namespace {

constexpr Advice kLintAdvice[] = {
    {"allow_filtering", "reads more than it returns",
     "a table whose key is what is asked for, or an index"},
    {"batch_partitions", "one node does the work of several",
     "a statement for each partition, sent at once"},
    {"future_timestamp", "shadows later writes", "the server's time, or clocks that agree"},
    {"in_keys", "one node asks for all of them", "a statement for each partition, sent at once"},
    {"large_partition", "is read, moved and repaired as one",
     "a key of more columns, as a day or a bucket, so that no partition grows without end"},
    {"no_ttl", "stays for ever", "USING TTL, or default_time_to_live of the table"},
    {"timestamp_unit",
     "is of another year than was meant: it loses to other writes, or shadows them",
     "microseconds since 1970 in USING TIMESTAMP"},
    {"tombstones", "passes over rows that are deleted or expired before it finds those it returns",
     "delete whole partitions or ranges, or read behind the newest key instead of from the first "
     "one"},
    {"unprepared", "is parsed and planned each time",
     "prepare it once, and execute it with values"},
};

constexpr Advice kCounterAdvice[] = {
    {"connections_ended_for_memory",
     "clients lost a connection that held most of the clients' memory",
     "smaller pages and batches, fewer requests under way, or more --client-memory"},
    {"connections_ended_idle", "clients lost connections on which nothing was sent",
     "heartbeats of the driver more often than --idle-timeout, or a longer one"},
    {"connections_ended_in_handshake", "somebody connected and did not log in in time",
     "look for a health check that only connects, or a driver that speaks TLS to the plain port"},
    {"connections_ended_not_reading", "a client took nothing of its answers for a minute",
     "look for a client that stands still, or smaller pages"},
    {"connections_refused", "clients could not connect",
     "fewer connections a client, a larger --max-connections, or ulimit -n"},
    {"http_requests_refused", "requests over HTTP were not answered",
     "log in as CQL clients do, and fewer at once: docs/http.md"},
    {"dynamodb_requests_refused", "requests of DynamoDB's API were not answered",
     "fewer at once: docs/dynamodb.md"},
    {"logins_refused", "somebody gave a wrong name or password",
     "look for a client with an old password, or for a stranger"},
    {"partitions_evicted", "partitions that were not read lately are gone, and reads miss them",
     "more --memory-limit, or shorter TTLs; of a cache (--memory-policy evict) it is meant"},
    {"requests_refused_for_memory", "requests were answered with OVERLOADED: clients hold too much",
     "smaller pages and batches, fewer requests under way, or more --client-memory"},
    {"requests_refused_for_queue_time",
     "requests waited too long and were answered with OVERLOADED",
     "fewer requests, or more --shards where the machine has cores"},
    {"slow_turns", "requests waited for others of the same shard",
     "smaller statements, batches and pages; where most was waiting for a core, a machine on which "
     "less else runs"},
    {"statements_long_refused", "large statements were not carried out, for want of memory",
     "smaller batches and statements, or more --memory-limit"},
    {"tls_handshakes_failed", "clients could not connect over TLS",
     "look at their CA, at certificates that are over, and at clients without TLS on this port"},
    {"writes_refused_for_memory", "writes were refused at the memory limit",
     "more --memory-limit, shorter TTLs, or --memory-policy evict of a cache"},
};

}  // namespace

std::span<const Advice> LintAdvice() { return kLintAdvice; }

std::span<const Advice> CounterAdvice() { return kCounterAdvice; }

const Advice* FindAdvice(std::span<const Advice> all, std::string_view name) {
  const auto at = std::ranges::find(all, name, &Advice::name);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace liststore
