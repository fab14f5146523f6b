#include "gateway/core/decimal.hpp"

#include <algorithm>
#include <array>

#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

using Integer = Decimal::Integer;

constexpr size_t kMaxDigits = 18;

const Integer& power_of_ten(int exponent) {
  static const auto kPowers = [] {
    std::array<Integer, 128> powers;
    powers[0] = 1;
    for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
    return powers;
  }();
  if (exponent < 0 || exponent >= static_cast<int>(kPowers.size()))
    throw Error(ErrorCode::internal, "a decimal has too many digits");
  return kPowers[static_cast<size_t>(exponent)];
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Digits with at most one point between them, each side at most `max` long.
std::optional<Decimal> parse_digits(std::string_view text, size_t max) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view part =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (!all_digits(whole) || whole.size() > max || part.size() > max) return std::nullopt;
  if (point != std::string_view::npos && !all_digits(part)) return std::nullopt;
  // In machine words, because cpp_int reads a leading zero as octal.
  Integer value = 0;
  for (const std::string_view digits : {whole, part})
    for (size_t at = 0; at < digits.size(); at += kMaxDigits) {
      const std::string_view group = digits.substr(at, kMaxDigits);
      uint64_t word = 0;
      for (char c : group) word = word * 10 + static_cast<uint64_t>(c - '0');
      value = value * power_of_ten(static_cast<int>(group.size())) + word;
    }
  return Decimal(std::move(value), static_cast<int>(part.size()));
}

std::optional<Decimal> parse_either_sign(std::string_view text, size_t max) {
  if (!text.starts_with('-')) return parse_digits(text, max);
  const auto value = parse_digits(text.substr(1), max);
  if (!value || value->is_zero()) return std::nullopt;
  return -*value;
}

}  // namespace

Decimal::Decimal(Integer unscaled, int scale) : unscaled_(std::move(unscaled)), scale_(scale) {}

std::optional<Decimal> Decimal::parse(std::string_view text) {
  return parse_digits(text, kMaxDigits);
}

std::optional<Decimal> Decimal::parse_printed(std::string_view text) {
  return parse_either_sign(text, kMaxPrinted);
}

Decimal Decimal::from_sql(std::string_view text) {
  const auto value = parse_either_sign(text, 120);
  if (!value) throw Error(ErrorCode::internal, "the database holds a number that is not exact");
  return *value;
}

std::string Decimal::to_string() const {
  if (unscaled_.is_zero()) return "0";
  std::string digits = Integer(abs(unscaled_)).str();
  const size_t scale = static_cast<size_t>(scale_);
  if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
  if (scale > 0) {
    digits.insert(digits.size() - scale, 1, '.');
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  return (is_negative() ? "-" : "") + digits;
}

std::string Decimal::to_fixed(int digits) const {
  if (rounded(digits) != *this)
    throw Error(ErrorCode::internal, "a decimal was to be printed with fewer digits than it has");
  std::string text = to_string();
  if (digits == 0) return text;
  const size_t point = text.find('.');
  const size_t present = point == std::string::npos ? 0 : text.size() - point - 1;
  if (point == std::string::npos) text.push_back('.');
  return text.append(static_cast<size_t>(digits) - present, '0');
}

Decimal Decimal::rounded(int digits) const {
  if (scale_ <= digits) return *this;
  const Integer& unit = power_of_ten(scale_ - digits);
  Integer quotient, rest;
  divide_qr(Integer(abs(unscaled_)), unit, quotient, rest);
  rest *= 2;
  if (rest > unit || (rest == unit && bit_test(quotient, 0))) ++quotient;
  return Decimal(is_negative() ? Integer(-quotient) : quotient, digits);
}

Decimal Decimal::rounded_up_to(const Decimal& step) const {
  Decimal value = *this, unit = step;
  align(value, unit);
  Integer quotient, rest;
  divide_qr(value.unscaled_, unit.unscaled_, quotient, rest);
  if (rest > 0) ++quotient;
  return Decimal(quotient * unit.unscaled_, unit.scale_);
}

Decimal Decimal::divided_up(int64_t divisor, int digits) const {
  const Decimal scaled(unscaled_ * power_of_ten(std::max(digits - scale_, 0)),
                       std::max(digits, scale_));
  Integer quotient, rest;
  divide_qr(scaled.unscaled_, Integer(power_of_ten(scaled.scale_ - digits) * divisor), quotient,
            rest);
  if (rest > 0) ++quotient;
  return Decimal(std::move(quotient), digits);
}

Decimal::Integer Decimal::whole_quotient(const Decimal& divisor) const {
  Decimal value = *this, unit = divisor;
  align(value, unit);
  return value.unscaled_ / unit.unscaled_;
}

void Decimal::align(Decimal& a, Decimal& b) {
  Decimal& coarse = a.scale_ < b.scale_ ? a : b;
  const int scale = std::max(a.scale_, b.scale_);
  if (coarse.scale_ == scale) return;
  coarse.unscaled_ *= power_of_ten(scale - coarse.scale_);
  coarse.scale_ = scale;
}

Decimal& Decimal::operator+=(const Decimal& other) {
  if (scale_ == other.scale_) {
    unscaled_ += other.unscaled_;
    return *this;
  }
  Decimal term = other;
  align(*this, term);
  unscaled_ += term.unscaled_;
  return *this;
}

Decimal& Decimal::operator-=(const Decimal& other) { return *this += -other; }

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.scale_ == b.scale_) return a.unscaled_.compare(b.unscaled_) <=> 0;
  Decimal x = a, y = b;
  Decimal::align(x, y);
  return x.unscaled_.compare(y.unscaled_) <=> 0;
}

}  // namespace sandgate
