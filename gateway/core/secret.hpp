#pragma once
#include <ostream>
#include <string>
#include <utility>

#include <openssl/crypto.h>

namespace sandgate {

// A string that is never printed and whose memory is wiped when the value is destroyed, replaced or
// moved away. `reveal` marks every use.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) : value_(std::move(other.value_)) { other.wipe(); }
  // Takes a copy or a moved value.
  Secret& operator=(Secret other) noexcept {
    wipe();
    value_ = std::move(other.value_);
    return *this;
  }
  ~Secret() { wipe(); }

  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

  friend std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "[secret]"; }

 private:
  // Covers the capacity: a moved-from or shortened string may still hold bytes behind its end.
  void wipe() {
    value_.resize(value_.capacity());
    OPENSSL_cleanse(value_.data(), value_.size());
    value_.clear();
  }

  std::string value_;
};

}  // namespace sandgate
