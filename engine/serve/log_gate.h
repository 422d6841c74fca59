// LogGate: answers leave when the logs have what they speak of.
#ifndef LISTSTORE_ENGINE_SERVE_LOG_GATE_H_
#define LISTSTORE_ENGINE_SERVE_LOG_GATE_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "engine/durable/log_set.h"
#include "engine/network/answer_gate.h"

namespace liststore {

class LogGate final : public network::AnswerGate {
 public:
  // `logs` outlives the gate, which outlives the loops.
  explicit LogGate(durable::LogSet& logs) : logs_(logs) {}

  uint64_t Enter(uint32_t loop) override { return logs_.Enter(loop); }
  void CloseRound(uint32_t loop) override { logs_.CloseRound(loop); }
  uint64_t Passed(uint32_t loop) override { return logs_.Passed(loop); }
  void TellOfPassing(uint32_t loop, std::function<void()> tell) override {
    logs_.TellOfPassing(loop, std::move(tell));
  }

 private:
  durable::LogSet& logs_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_LOG_GATE_H_
