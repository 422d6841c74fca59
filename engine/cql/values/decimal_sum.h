// DecimalSum: varints and decimals of any length, added up and divided.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_DECIMAL_SUM_H_
#define LISTSTORE_ENGINE_CQL_VALUES_DECIMAL_SUM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace liststore::cql {

// A sum for each scale, in binary, and at the end one of all. What is added costs time in
// proportion to its bytes: carries wait. The result costs O(n log^2 n) of its bytes and of
// those of a sum for each scale.
class DecimalSum {
 public:
  // Of a varint of at least one byte.
  void AddVarint(std::string_view value) { Add(value, 0); }
  // Of a decimal, with its scale. False, and nothing was added: scales lie further apart than a
  // literal may have digits (kLiteralDigitsMax), or one of several has more (by its bytes,
  // kPrintedVarintBytesMax).
  [[nodiscard]] bool AddDecimal(std::string_view value);

  // What it takes of the heap, about.
  size_t bytes() const { return bytes_; }

  std::string Varint() const;
  // With the largest scale that was added, at least 0.
  std::string Decimal() const;
  // The quotient by a count above 0: a varint's fraction is cut off, a decimal keeps its scale and
  // is rounded half to even. Source: ScyllaDB utils/big_decimal.cc, div.
  DecimalSum CutBy(uint64_t count) const { return DividedBy(count, /*rounds=*/false); }
  DecimalSum RoundedBy(uint64_t count) const { return DividedBy(count, /*rounds=*/true); }

 private:
  // Least significant limb first.
  struct Number {
    bool negative = false;
    std::vector<uint32_t> magnitude;  // the last is not 0
  };
  // Of numbers of one scale: in base 2^32, limbs of any sign, so that none waits for another.
  struct Limbs {
    std::vector<int64_t> limbs;
    uint32_t additions = 0;  // since carries were taken along

    void Add(std::string_view varint);
    void Carry();
  };

  static Number NumberOf(Limbs sum);
  static std::string VarintOf(const Number& number);
  static void AddMagnitude(const Number& number, Limbs& to);

  void Add(std::string_view varint, int64_t scale);
  using ScaledLimbs = std::pair<int64_t, const Limbs*>;
  // Of some, ascending by scale, with the last one's scale.
  static Number SumOf(std::span<const ScaledLimbs> by_scale);
  // Of all, with scale_.
  Number Total() const;
  DecimalSum DividedBy(uint64_t count, bool rounds) const;

  std::map<int64_t, Limbs> by_scale_;
  int64_t scale_ = 0;     // the largest
  size_t bytes_max_ = 0;  // of a number
  size_t bytes_ = 0;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_DECIMAL_SUM_H_
