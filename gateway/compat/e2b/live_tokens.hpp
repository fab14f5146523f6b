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
// tried one by one over the sandboxes that live. Who is not found waits, a second at most, for a
// list that was read after he came; it is read once a second at most. Thread-safe.
class LiveTokens {
 public:
  static constexpr size_t kMost = 20'000;  // those that end last
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
  struct Index {
    std::chrono::steady_clock::time_point began;  // its reading
    std::vector<Entry> entries;
  };
  using Shared = std::shared_ptr<const Index>;

  Task<std::optional<SandboxId>> search(Shared index, const SignedFile& file,
                                        const std::string& signature);
  Task<Shared> begun_after(std::chrono::steady_clock::time_point moment);
  Task<Shared> read();

  Database& database_;
  const AccessTokens& tokens_;
  std::atomic<int> searches_{0};
  std::mutex mutex_;  // of what follows
  Shared index_ = std::make_shared<const Index>();
  std::chrono::steady_clock::time_point read_at_{};  // when the last reading began
};

}  // namespace sandgate::compat::e2b
