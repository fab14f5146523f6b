#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/multiprecision/cpp_int.hpp>

namespace sandgate {

// An exact decimal: `unscaled / 10^scale`. The only number that money and quantities may be;
// add, subtract and multiply are exact, and rounding happens only where it is asked for.
class Decimal {
 public:
  using Integer = boost::multiprecision::cpp_int;

  Decimal() = default;
  Decimal(int64_t value) : unscaled_(value) {}
  Decimal(Integer unscaled, int scale);

  // Outside text: digits with at most one point between digits ("0.0504"), not negative, no sign,
  // exponent, space or separator, at most 18 digits on either side. Empty otherwise.
  static std::optional<Decimal> parse(std::string_view text);
  // What to_string() printed, of whatever was added and multiplied: the same with a leading '-'
  // allowed ("-0" is not) and at most kMostPrinted digits on either side.
  static constexpr size_t kMostPrinted = 100;
  static std::optional<Decimal> parse_printed(std::string_view text);
  // A NUMERIC as PostgreSQL prints it, of any length. Throws Error(internal) for anything else.
  static Decimal from_sql(std::string_view text);

  // Canonical: no trailing zeros after the point, no point without digits, "0" for zero.
  std::string to_string() const;
  // With exactly `digits` after the point; the value must not have more (round first).
  std::string to_fixed(int digits) const;

  // Half to even, to `digits` after the point.
  Decimal rounded(int digits) const;
  // The smallest multiple of `step` that is not below the value; `step` must be positive.
  Decimal rounded_up_to(const Decimal& step) const;

  // Divided by a positive number, up to the next value with `digits` after the point.
  Decimal divided_up(int64_t divisor, int digits) const;
  // How many times the positive divisor goes in, rounded down; neither may be negative.
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

// An amount of a currency (ISO 4217 code).
struct Money {
  Decimal amount;
  std::string currency;
  bool operator==(const Money&) const = default;
};

}  // namespace sandgate
