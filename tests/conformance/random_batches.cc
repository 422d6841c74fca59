#include "tests/conformance/random_batches.h"

#include <utility>

namespace liststore::testing {
namespace {

// What it writes is written after all of it was made: no statement in a batch reads.
std::function<void(int64_t, int64_t)> ApplyAll(std::vector<RandomWrite> writes,
                                               std::optional<int64_t> timestamp) {
  return [writes = std::move(writes), timestamp](int64_t otherwise, int64_t now_seconds) {
    for (const RandomWrite& write : writes) {
      write.apply(timestamp.value_or(otherwise), now_seconds);
    }
  };
}

RandomBatch Message(Random& random, const std::function<TableModel&()>& any_model,
                    const WriteTimes& times) {
  RandomBatch batch;
  const bool logged = random.OneIn(2);
  batch.shown = logged ? "BEGIN BATCH\n" : "BEGIN UNLOGGED BATCH\n";
  std::vector<RandomWrite> writes;
  std::vector<CqlStatement> sent;
  for (uint64_t left = random.Below(6); left > 0; --left) {
    writes.push_back(MakeRandomWrite(random, any_model(), times));
    sent.push_back(writes.back().sent);
    batch.shown += "  " + writes.back().shown + ";\n";
  }
  batch.shown += "APPLY BATCH";
  batch.send = [sent = std::move(sent), logged, timestamp = times.of_message](CqlSession& session) {
    return session.RunBatch(logged, sent, timestamp);
  };
  batch.apply = ApplyAll(std::move(writes), times.of_message);
  return batch;
}

RandomBatch Text(Random& random, const std::function<TableModel&()>& any_model, WriteTimes times) {
  RandomBatch batch;
  const std::optional<int64_t> of_message = times.of_message;
  std::optional<int64_t> of_batch;
  if (times.may_say_timestamp && random.OneIn(2)) {
    of_batch = RandomTimestamp(random, times);
    times.may_say_timestamp = false;
    times.of_message = of_batch;
  }
  CqlStatement sent;
  sent.text = random.OneIn(2) ? "BEGIN BATCH" : "BEGIN UNLOGGED BATCH";
  batch.shown = sent.text + "\n";
  if (of_batch) sent.text += " USING TIMESTAMP " + std::to_string(*of_batch);
  std::vector<RandomWrite> writes;
  for (uint64_t left = 1 + random.Below(5); left > 0; --left) {
    writes.push_back(MakeRandomWrite(random, any_model(), times));
    const CqlStatement& one = writes.back().sent;
    batch.shown += "  " + writes.back().shown + ";\n";
    sent.text += " " + one.text + ";";
    sent.parameters.insert(sent.parameters.end(), one.parameters.begin(), one.parameters.end());
  }
  sent.text += " APPLY BATCH";
  sent.prepared = random.OneIn(2);
  batch.shown += "APPLY BATCH";
  batch.send = [sent, of_message](CqlSession& session) {
    return session.Run(
        sent, {.page_size = std::nullopt, .paging_state = {}, .default_timestamp = of_message});
  };
  batch.apply = ApplyAll(std::move(writes), times.of_message);
  return batch;
}

}  // namespace

RandomBatch MakeRandomBatch(Random& random, const std::function<TableModel&()>& any_model,
                            WriteTimes times) {
  times.may_read = false;
  return random.OneIn(2) ? Message(random, any_model, times) : Text(random, any_model, times);
}

}  // namespace liststore::testing
