#pragma once
#include "gateway/http/responder.hpp"

namespace sandgate::test {

// The body of a request without one.
class NoBody final : public http::IncomingBody {
 public:
  bool ended() const override { return true; }
  std::optional<uint64_t> length() const override { return 0; }
  bool broken() const override { return false; }
  Task<void> send_continue() override { co_return; }
  Task<size_t> read(std::span<char>) override { co_return 0; }
};

}  // namespace sandgate::test
