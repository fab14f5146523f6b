#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "gateway/compat/e2b/access_token.hpp"
#include "gateway/core/database.hpp"

namespace sandgate::compat::e2b {

// Finds the sandbox of a token, or whose token made a signature, for requests that do not name a
// sandbox. Looks in an index of the sandboxes that run or are paused, or are on the way from one to
// the other, which is read at most once a second. After a miss, waits up to a second to try an
// index read after the request. Thread-safe.
class TokenIndex {
 public:
  static constexpr size_t kMaxSandboxes = 20'000;  // sandboxes in the index, latest expiry first
  // Limits on concurrent searches, each of which costs up to kMaxSandboxes hashes. The lower limit
  // is per client address (IPv6: per /64), so that one client cannot take all searches.
  static constexpr size_t kMaxSearches = 16, kMaxOfOne = 4;

  TokenIndex(Database& database, const AccessTokens& tokens)
      : database_(database), tokens_(tokens) {}

  // Returns empty if no token matches. `address` is the client's. Throws Error(unavailable) when a
  // limit on searches is reached.
  Task<std::optional<SandboxId>> find(SignedFile file, std::string signature, std::string address);
  // Returns empty if no such sandbox has the token.
  Task<std::optional<SandboxId>> find(std::string token);

 private:
  struct Entry {
    SandboxId sandbox;
    std::string token;
  };
  struct Index {
    std::chrono::steady_clock::time_point began;  // when its reading began
    std::vector<Entry> entries;
    // By the SHA-256 of the token, so that a lookup compares no secrets.
    std::unordered_map<std::string, SandboxId> by_digest;
    std::optional<SandboxId> find(const std::string& digest) const;
  };
  using Shared = std::shared_ptr<const Index>;
  class SearchPermit;

  Shared latest();
  Task<std::optional<SandboxId>> search(Shared index, const SignedFile& file,
                                        const std::string& signature, const std::string& address);
  Task<Shared> begun_after(std::chrono::steady_clock::time_point moment);
  Task<Shared> read();

  Database& database_;
  const AccessTokens& tokens_;
  std::mutex mutex_;  // guards the members below
  std::multiset<std::string> searching_;  // addresses of running searches
  Shared index_ = std::make_shared<const Index>();
  std::chrono::steady_clock::time_point read_at_{};  // when the last reading began
};

}  // namespace sandgate::compat::e2b
