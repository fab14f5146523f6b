#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gateway/compat/e2b/access_token.hpp"
#include "gateway/core/database.hpp"

namespace sandgate::compat::e2b {

// Whose token a signature was made with, for addresses that do not say which sandbox they are for:
// tried one by one over the sandboxes that live. What the index does not know is looked for in the
// database at most once a second. Thread-safe.
class LiveTokens {
 public:
  static constexpr size_t kMost = 20'000;  // the youngest
  static constexpr int kMaxSearches = 4;  // at once: each costs up to kMost hashes

  LiveTokens(Database& database, const AccessTokens& tokens)
      : database_(database), tokens_(tokens) {}

  // Empty: of none. Throws Error(unavailable) when too many search.
  Task<std::optional<SandboxId>> find(SignedFile file, std::string signature);

 private:
  struct Entry {
    SandboxId sandbox;
    std::string token;
  };
  using Index = std::vector<Entry>;

  Task<std::shared_ptr<const Index>> renewed(std::shared_ptr<const Index> seen);
  Task<std::vector<SandboxId>> living();

  Database& database_;
  const AccessTokens& tokens_;
  std::atomic<int> searches_{0};
  std::mutex mutex_;
  std::shared_ptr<const Index> index_ = std::make_shared<const Index>();
  std::chrono::steady_clock::time_point read_at_{};
};

}  // namespace sandgate::compat::e2b
