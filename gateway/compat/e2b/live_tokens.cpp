#include "gateway/compat/e2b/live_tokens.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::chrono::seconds kYoungEnough{1};
constexpr size_t kSlice = 256;  // tried before others on the loop get their turn

// One of the searches that run.
class Seat {
 public:
  explicit Seat(std::atomic<int>& taken) : taken_(taken) {
    if (++taken_ <= LiveTokens::kMaxSearches) return;
    --taken_;
    Error error(ErrorCode::unavailable, "too many signed addresses are looked up: try again");
    error.retry_after = std::chrono::seconds(1);
    throw error;
  }
  ~Seat() { --taken_; }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

 private:
  std::atomic<int>& taken_;
};

Task<void> give_turn() {
  const auto executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
}

}  // namespace

Task<std::vector<SandboxId>> LiveTokens::living() {
  auto read = [](pqxx::work& tx) {
    std::vector<SandboxId> ids;
    for (const auto& row : run_prepared(tx,
                                        "SELECT id FROM sandbox WHERE state IN ('running', "
                                        "'paused') ORDER BY expires_at DESC LIMIT $1",
                                        static_cast<int64_t>(kMost)))
      ids.push_back(SandboxId{row[0].as<std::string>()});
    return ids;
  };
  co_return co_await database_.run(std::move(read));
}

// The index as it is now; what was `seen` when it is too young to be read again.
Task<std::shared_ptr<const LiveTokens::Index>> LiveTokens::renewed(
    std::shared_ptr<const Index> seen) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (index_ != seen || now - read_at_ < kYoungEnough) co_return index_;
    read_at_ = now;
  }
  const auto ids = co_await living();
  auto fresh = std::make_shared<Index>();
  for (const SandboxId& id : ids) {
    fresh->push_back({id, tokens_.token_of(id)});
    if (fresh->size() % kSlice == 0) co_await give_turn();
  }
  const std::lock_guard lock(mutex_);
  index_ = fresh;
  co_return index_;
}

Task<std::optional<SandboxId>> LiveTokens::find(SignedFile file, std::string signature) {
  const Seat seat(searches_);
  std::shared_ptr<const Index> index;
  {
    const std::lock_guard lock(mutex_);
    index = index_;
  }
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < index->size(); ++i) {
      const Entry& entry = (*index)[i];
      if (equal_in_constant_time(signature_of(file, entry.token), signature))
        co_return entry.sandbox;
      if (i % kSlice == kSlice - 1) co_await give_turn();
    }
    const auto again = co_await renewed(index);
    if (again == index) break;
    index = again;
  }
  co_return std::nullopt;
}

}  // namespace sandgate::compat::e2b
