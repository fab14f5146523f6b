#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace sandgate {

template <class E>
struct Word {
  E value;
  std::string_view text;
};
// clang 14 does not deduce template arguments of aggregates.
template <class E>
Word(E, std::string_view) -> Word<E>;

// How the values of an enumeration are written in the API, the database and files: one table for
// both directions. It does not compile unless it lists the enumerators from the first on, in order.
template <class E, size_t N>
class Words {
 public:
  consteval explicit Words(const Word<E> (&words)[N]) {
    for (size_t i = 0; i < N; ++i) {
      if (static_cast<size_t>(words[i].value) != i) throw "not in the order of the enumerators";
      texts_[i] = words[i].text;
    }
  }

  // Empty for a value that is not in the table.
  constexpr std::string_view of(E value) const {
    const auto index = static_cast<size_t>(value);
    return index < N ? texts_[index] : std::string_view();
  }
  // Empty for a text that is not in the table.
  constexpr std::optional<E> find(std::string_view text) const {
    for (size_t i = 0; i < N; ++i)
      if (texts_[i] == text) return static_cast<E>(i);
    return std::nullopt;
  }
  constexpr std::span<const std::string_view> all() const { return texts_; }

 private:
  std::array<std::string_view, N> texts_;
};

}  // namespace sandgate
