#pragma once
#include <ostream>
#include <string>
#include <utility>

#include <openssl/crypto.h>

namespace sandgate {

// A string that is never printed. The destructor wipes the value; an assignment does not wipe the
// value it replaces. `reveal` marks every use.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  Secret(Secret&&) = default;
  Secret& operator=(const Secret&) = default;
  Secret& operator=(Secret&&) = default;
  ~Secret() { OPENSSL_cleanse(value_.data(), value_.size()); }

  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

  friend std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "[secret]"; }

 private:
  std::string value_;
};

}  // namespace sandgate
