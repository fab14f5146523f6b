#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/multiprecision/cpp_int.hpp>

namespace sandgate {

// An exact decimal number, `unscaled / 10^scale`: the only type for money and quantities. Addition,
// subtraction and multiplication are exact; only functions that say so round.
class Decimal {
 public:
  using Integer = boost::multiprecision::cpp_int;

  Decimal() = default;
  Decimal(int64_t value) : unscaled_(value) {}
  Decimal(Integer unscaled, int scale);

  // Parses untrusted text: digits with at most one point between digits ("0.0504"), at most 18
  // digits on either side; no sign, exponent, space or separator. Empty for anything else.
  static std::optional<Decimal> parse(std::string_view text);
  // Parses the output of to_string(): as parse(), but with an optional leading '-' ("-0" is
  // refused) and at most kMaxPrinted digits on either side.
  static constexpr size_t kMaxPrinted = 100;
  static std::optional<Decimal> parse_printed(std::string_view text);
  // Parses a NUMERIC as PostgreSQL prints it, with at most 120 digits on either side. Throws
  // Error(internal) for anything else.
  static Decimal from_sql(std::string_view text);

  // Canonical: no trailing zeros after the point, no point without digits, "0" for zero.
  std::string to_string() const;
  // With exactly `digits` digits after the point. Throws Error(internal) when the value has more.
  std::string to_fixed(int digits) const;

  // Rounds half to even, to `digits` digits after the point.
  Decimal rounded(int digits) const;
  // The smallest multiple of `step` that is not below the value; `step` must be positive.
  Decimal rounded_up_to(const Decimal& step) const;

  // The quotient, rounded up to `digits` digits after the point; `divisor` must be positive.
  Decimal divided_up(int64_t divisor, int digits) const;
  // The integer quotient, rounded down; `divisor` must be positive and the value not negative.
  Integer whole_quotient(const Decimal& divisor) const;

  bool is_zero() const { return unscaled_.is_zero(); }
  bool is_negative() const { return unscaled_.sign() < 0; }

  Decimal& operator+=(const Decimal& other);
  Decimal& operator-=(const Decimal& other);
  friend Decimal operator+(Decimal a, const Decimal& b) { return a += b; }
  friend Decimal operator-(Decimal a, const Decimal& b) { return a -= b; }
  friend Decimal operator-(const Decimal& a) { return Decimal(-a.unscaled_, a.scale_); }
  friend Decimal operator*(const Decimal& a, const Decimal& b) {
    return Decimal(a.unscaled_ * b.unscaled_, a.scale_ + b.scale_);
  }
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal& a, const Decimal& b) { return (a <=> b) == 0; }

 private:
  // Brings both to the larger scale.
  static void align(Decimal& a, Decimal& b);

  Integer unscaled_ = 0;
  int scale_ = 0;
};

// An amount in a currency (ISO 4217 code).
struct Money {
  Decimal amount;
  std::string currency;
  bool operator==(const Money&) const = default;
};

}  // namespace sandgate
