#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "gateway/core/field_text.hpp"

namespace sandgate {

// The names in the Connection fields of one message (RFC 9110, 7.6.1): further fields that are not
// forwarded. Split once and limited to kMaxNames, because each field of the message is looked up
// here.
class ConnectionNames {
 public:
  static constexpr size_t kMaxNames = 32;

  // Adds the names in one field's value, which must outlive this object. Returns false if there are
  // more than kMaxNames; empty ones do not count.
  bool add(std::string_view list) {
    while (!list.empty()) {
      const size_t end = std::min(list.find(','), list.size());
      const std::string_view name = trimmed(list.substr(0, end));
      list.remove_prefix(std::min(end + 1, list.size()));
      if (name.empty()) continue;
      if (count_ == kMaxNames) return false;
      names_[count_++] = name;
    }
    return true;
  }

  bool has(std::string_view name) const {  // ignores case
    return std::any_of(names_.begin(), names_.begin() + count_,
                       [&](std::string_view one) { return equal_ignoring_case(one, name); });
  }

 private:
  std::array<std::string_view, kMaxNames> names_;
  size_t count_ = 0;
};

}  // namespace sandgate
