#include "gateway/compat/e2b/token_index.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::chrono::seconds kApart{1};  // between two readings
constexpr size_t kTokenLength = 64;
constexpr size_t kSlice = 256;  // entries per turn of the event loop

// The owner of one IPv6 address usually controls its whole /64.
std::string network_of(const std::string& address) {
  boost::system::error_code failure;
  const auto parsed = asio::ip::make_address(address, failure);
  if (failure || !parsed.is_v6() || parsed.to_v6().is_v4_mapped()) return address;
  const auto bytes = parsed.to_v6().to_bytes();
  return std::string(bytes.begin(), bytes.begin() + 8);
}

Task<void> give_turn() {
  const auto executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
}

}  // namespace

// A slot for a running search.
class TokenIndex::SearchPermit {
 public:
  SearchPermit(TokenIndex& of, const std::string& address) : of_(of) {
    const std::lock_guard lock(of_.mutex_);
    std::string network = network_of(address);
    if (of_.searching_.size() < kMaxSearches && of_.searching_.count(network) < kMaxOfOne) {
      place_ = of_.searching_.insert(std::move(network));
      return;
    }
    Error error(ErrorCode::unavailable, "too many signed addresses are looked up: try again");
    error.retry_after = std::chrono::seconds(1);
    throw error;
  }
  ~SearchPermit() {
    const std::lock_guard lock(of_.mutex_);
    of_.searching_.erase(place_);
  }
  SearchPermit(const SearchPermit&) = delete;
  SearchPermit& operator=(const SearchPermit&) = delete;

 private:
  TokenIndex& of_;
  std::multiset<std::string>::iterator place_;
};

std::optional<SandboxId> TokenIndex::Index::find(const std::string& digest) const {
  const auto found = by_digest.find(digest);
  return found == by_digest.end() ? std::nullopt : std::optional(found->second);
}

TokenIndex::Shared TokenIndex::latest() {
  const std::lock_guard lock(mutex_);
  return index_;
}

Task<TokenIndex::Shared> TokenIndex::read() {
  auto index = std::make_shared<Index>();
  index->began = std::chrono::steady_clock::now();
  auto work = [](pqxx::work& tx) {
    return run_prepared(tx,
                        "SELECT id FROM sandbox"
                        " WHERE state IN ('running', 'pausing', 'paused', 'resuming')"
                        " ORDER BY expires_at DESC LIMIT $1",
                        static_cast<int64_t>(kMaxSandboxes));
  };
  const pqxx::result rows = co_await database_.run(std::move(work));
  for (const auto& row : rows) {
    const SandboxId id{row[0].as<std::string>()};
    index->entries.push_back({id, tokens_.token_of(id)});
    index->by_digest.emplace(sha256_hex(index->entries.back().token), id);
    if (index->entries.size() % kSlice == 0) co_await give_turn();
  }
  co_return index;
}

Task<TokenIndex::Shared> TokenIndex::begun_after(std::chrono::steady_clock::time_point moment) {
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

Task<std::optional<SandboxId>> TokenIndex::search(Shared index, const SignedFile& file,
                                                  const std::string& signature,
                                                  const std::string& address) {
  const SearchPermit permit(*this, address);
  for (size_t i = 0; i < index->entries.size(); ++i) {
    const Entry& entry = index->entries[i];
    if (equal_in_constant_time(signature_of(file, entry.token), signature)) co_return entry.sandbox;
    if (i % kSlice == kSlice - 1) co_await give_turn();
  }
  co_return std::nullopt;
}

Task<std::optional<SandboxId>> TokenIndex::find(SignedFile file, std::string signature,
                                                std::string address) {
  const auto came = std::chrono::steady_clock::now();
  Shared index = latest();
  const auto known = co_await search(index, file, signature, address);
  if (known) co_return known;
  index = co_await begun_after(came);
  co_return co_await search(index, file, signature, address);
}

Task<std::optional<SandboxId>> TokenIndex::find(std::string token) {
  const auto came = std::chrono::steady_clock::now();
  if (token.size() != kTokenLength) co_return std::nullopt;
  const std::string digest = sha256_hex(token);
  const auto known = latest()->find(digest);
  if (known) co_return known;
  const Shared index = co_await begun_after(came);
  co_return index->find(digest);
}

}  // namespace sandgate::compat::e2b
