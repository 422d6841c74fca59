// DecimalSum: varints and decimals of any length, added up and divided.
#ifndef LISTSTORE_ENGINE_CQL_DECIMAL_SUM_H_
#define LISTSTORE_ENGINE_CQL_DECIMAL_SUM_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace liststore {

// A signed number of decimal digits, value = digits * 10^-scale. What is added costs time in
// proportion to its digits, and the conversion to and from CQL's bytes their square.
class DecimalSum {
 public:
  // Of a varint of at least one byte.
  void AddVarint(std::string_view value) { Add(value, 0); }
  // Of a decimal, with its scale. False, and nothing was added: scales lie so far apart that the
  // sum would have more digits than a literal may (kLiteralDigitsMax).
  [[nodiscard]] bool AddDecimal(std::string_view value);

  std::string Varint() const;
  // With the largest scale that was added.
  std::string Decimal() const;
  // The quotient by a count above 0: a varint's fraction is cut off, a decimal keeps its scale and
  // is rounded half to even. Source: ScyllaDB utils/big_decimal.cc, div.
  DecimalSum CutBy(uint64_t count) const;
  DecimalSum RoundedBy(uint64_t count) const;

 private:
  void Add(std::string_view varint, int64_t scale);
  DecimalSum DividedBy(uint64_t count, uint64_t& remainder) const;

  bool negative_ = false;
  std::string digits_ = "0";  // most significant first, no zeros in front
  int64_t scale_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CQL_DECIMAL_SUM_H_
