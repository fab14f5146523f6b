#include "gateway/compat/e2b/live_tokens.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::chrono::seconds kApart{1};  // one reading and the next
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

Task<LiveTokens::Shared> LiveTokens::read() {
  auto index = std::make_shared<Index>();
  index->began = std::chrono::steady_clock::now();
  auto work = [](pqxx::work& tx) {
    return run_prepared(tx,
                        "SELECT id FROM sandbox WHERE state IN ('running', 'paused')"
                        " ORDER BY expires_at DESC LIMIT $1",
                        static_cast<int64_t>(kMost));
  };
  const pqxx::result rows = co_await database_.run(std::move(work));
  for (const auto& row : rows) {
    const SandboxId id{row[0].as<std::string>()};
    index->entries.push_back({id, tokens_.token_of(id)});
    if (index->entries.size() % kSlice == 0) co_await give_turn();
  }
  co_return index;
}

Task<LiveTokens::Shared> LiveTokens::begun_after(std::chrono::steady_clock::time_point moment) {
  for (;;) {
    std::chrono::steady_clock::duration wait;
    {
      const std::lock_guard lock(mutex_);
      if (index_->began >= moment) co_return index_;
      const auto now = std::chrono::steady_clock::now();
      wait = read_at_ + kApart - now;
      if (wait.count() <= 0) read_at_ = now;
    }
    if (wait.count() <= 0) break;
    co_await sleep_for(wait);
  }
  Shared fresh = co_await read();
  const std::lock_guard lock(mutex_);
  index_ = fresh;
  co_return fresh;
}

Task<std::optional<SandboxId>> LiveTokens::search(Shared index, const SignedFile& file,
                                                  const std::string& signature) {
  const Seat seat(searches_);
  for (size_t i = 0; i < index->entries.size(); ++i) {
    const Entry& entry = index->entries[i];
    if (equal_in_constant_time(signature_of(file, entry.token), signature)) co_return entry.sandbox;
    if (i % kSlice == kSlice - 1) co_await give_turn();
  }
  co_return std::nullopt;
}

Task<std::optional<SandboxId>> LiveTokens::find(SignedFile file, std::string signature) {
  const auto came = std::chrono::steady_clock::now();
  Shared index;
  {
    const std::lock_guard lock(mutex_);
    index = index_;
  }
  const auto known = co_await search(index, file, signature);
  if (known) co_return known;
  index = co_await begun_after(came);
  co_return co_await search(index, file, signature);
}

}  // namespace sandgate::compat::e2b
