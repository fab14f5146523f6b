#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gateway/compat/e2b/access_token.hpp"
#include "gateway/core/database.hpp"

namespace sandgate::compat::e2b {

// Whose token a signature was made with, for addresses that do not say which sandbox they are for:
// tried one by one over the sandboxes that live. Who is not found waits, a second at most, for a
// list that was read after he came; it is read once a second at most. Thread-safe.
class LiveTokens {
 public:
  static constexpr size_t kMost = 20'000;  // those that end last
  // At once: each costs up to kMost hashes. Of one caller's address (IPv6: its /64) fewer, so that
  // nobody has all of them.
  static constexpr size_t kMaxSearches = 16, kMaxOfOne = 4;

  LiveTokens(Database& database, const AccessTokens& tokens)
      : database_(database), tokens_(tokens) {}

  // Empty: of none. `address`: whose search it is. Throws Error(unavailable) when too many search.
  Task<std::optional<SandboxId>> find(SignedFile file, std::string signature, std::string address);

 private:
  struct Entry {
    SandboxId sandbox;
    std::string token;
  };
  struct Index {
    std::chrono::steady_clock::time_point began;  // its reading
    std::vector<Entry> entries;
  };
  using Shared = std::shared_ptr<const Index>;
  class Seat;

  Task<std::optional<SandboxId>> search(Shared index, const SignedFile& file,
                                        const std::string& signature, const std::string& address);
  Task<Shared> begun_after(std::chrono::steady_clock::time_point moment);
  Task<Shared> read();

  Database& database_;
  const AccessTokens& tokens_;
  std::mutex mutex_;  // of what follows
  std::multiset<std::string> searching_;  // from where
  Shared index_ = std::make_shared<const Index>();
  std::chrono::steady_clock::time_point read_at_{};  // when the last reading began
};

}  // namespace sandgate::compat::e2b
