#include "gateway/placement/deployments.hpp"

#include <algorithm>

#include "gateway/core/crypto.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/placement/placement_settings.hpp"

namespace sandgate {
namespace {

DeploymentPtr as_described_now(Deployment deployment) {
  deployment.descriptor = deployment.backend->descriptor();
  return std::make_shared<const Deployment>(std::move(deployment));
}

// The backend's address, by the setting's name in all kinds that have one.
std::string address_in(const Json& settings) {
  std::string address;
  for (const char* name : {"url", "api_url"})
    if (const Json told = settings.value(name, Json()); told.is_string())
      address = told.get<std::string>();
  while (address.ends_with('/')) address.pop_back();
  return address;
}

// Whether a first query of the backend ended, in success or failure.
bool was_asked(const Descriptor& descriptor) {
  return descriptor.known || !descriptor.notes.empty();
}

// Identifies a backend by its kind, the given settings and its credentials.
std::string digest_of(const DeploymentRow& row, const Json& settings) {
  std::string names = row.provider + "\n" + settings.dump();
  for (const auto& [name, value] : row.credentials)
    names += "\n" + Json(name).dump() + Json(value.reveal()).dump();
  return sha256_hex(names);
}

constexpr std::chrono::seconds kRefreshEvery{1}, kReloadEvery{30};
constexpr std::chrono::milliseconds kTryAgain{250};  // after a failed load
constexpr std::chrono::milliseconds kLookAgain{25};  // poll interval of waiting callers
constexpr std::chrono::seconds kReadyTimeout{2};

}  // namespace

Deployments::Deployments(DeploymentStore& store, Factory factory, DeploymentSet fixed)
    : store_(store), factory_(std::move(factory)), fixed_(std::move(fixed)) {
  publish(fixed_);
}

void Deployments::publish(DeploymentSet set) {
  std::sort(set.begin(), set.end(), [](const auto& a, const auto& b) {
    return a->name != b->name ? a->name < b->name : a->tenant < b->tenant;
  });
  auto next = std::make_shared<const DeploymentSet>(std::move(set));
  std::lock_guard lock(mutex_);
  set_ = std::move(next);
}

std::shared_ptr<const DeploymentSet> Deployments::snapshot() const {
  std::lock_guard lock(mutex_);
  return set_;
}

DeploymentPtr Deployments::find(const TenantId& tenant, std::string_view name) const {
  return find_deployment(*snapshot(), tenant, name);
}

// Equal credentials at the same kind of backend are one account, whoever owns the deployment; but
// not at two addresses, whose operators need not know of each other.
std::shared_ptr<Account> Deployments::account_of(const DeploymentRow& row) {
  if (row.credentials.empty()) return std::make_shared<Account>();
  std::erase_if(accounts_, [](const auto& known) { return known.second.expired(); });
  std::weak_ptr<Account>& known = accounts_[digest_of(row, Json(address_in(row.settings)))];
  auto account = known.lock();
  if (!account) known = account = std::make_shared<Account>();
  return account;
}

// Keeps the Provider, and so its known capabilities, while nothing it is made from has changed. A
// Provider without known capabilities is replaced.
std::shared_ptr<Provider> Deployments::backend_of(const DeploymentRow& row, const Loaded* before) {
  const auto known = before ? before->backend.lock() : nullptr;
  const bool is_same = known && before->digest == digest_of(row, backend_settings(row.settings));
  return is_same && known->descriptor().known ? known : factory_(row);
}

DeploymentPtr Deployments::make(const DeploymentRow& row, const Loaded* before) {
  try {
    if (row.sealed_by_other_key)
      throw Error(ErrorCode::unavailable,
                  "its credentials are sealed with another master key: restore that key, or set "
                  "them again");
    Problems problems;
    const PlacementSettings settings = read_placement_settings(row.settings, problems);
    problems.throw_if_any();
    auto backend = backend_of(row, before);
    auto descriptor = backend->descriptor();
    return std::make_shared<const Deployment>(
        Deployment{.name = row.name,
                   .provider = row.provider,
                   .backend = std::move(backend),
                   .descriptor = std::move(descriptor),
                   .enabled = row.enabled,
                   .stored = true,
                   .tenant = row.tenant,
                   .weight = row.weight,
                   .attempt_deadline = settings.attempt_deadline,
                   .account = account_of(row),
                   .account_limits = settings.account});
  } catch (const std::exception& error) {  // any failure; the others are loaded
    log::error("a deployment cannot be used", {{"deployment", row.name}, {"reason", error.what()}});
    return nullptr;
  }
}

void Deployments::on_change(std::function<void(const DeploymentKey&)> callback) {
  on_change_ = std::move(callback);
}

void Deployments::on_reload(std::function<void(const DeploymentSet&)> callback) {
  on_reload_ = std::move(callback);
}

Task<void> Deployments::reload() {
  const std::vector<DeploymentRow> rows = co_await store_.all();
  const auto before = snapshot();
  DeploymentSet set;
  for (const DeploymentPtr& one : fixed_) set.push_back(as_described_now(*one));
  std::map<DeploymentKey, Loaded> loaded;
  std::vector<DeploymentKey> changed;
  for (const DeploymentRow& row : rows) {
    const DeploymentKey key{row.name, row.tenant};
    if (find_deployment(fixed_, DeploymentKey{row.name})) {
      log::warn("a deployment has the name of a built-in one", {{"deployment", row.name}});
      continue;
    }
    const auto found = rows_.find(key);
    const Loaded* known = found == rows_.end() ? nullptr : &found->second;
    const bool is_changed = known && known->version != row.version;
    const DeploymentPtr old = find_deployment(*before, key);
    const DeploymentPtr one = old && known && !is_changed ? old : make(row, known);
    Loaded& now = loaded[key] = {.version = row.version};
    if (!one) continue;
    now.digest = digest_of(row, backend_settings(row.settings));
    now.backend = one->backend;
    set.push_back(one);
    if (is_changed) changed.push_back(key);
  }
  rows_ = std::move(loaded);
  publish(std::move(set));
  if (on_reload_) on_reload_(*snapshot());
  if (!on_change_) co_return;
  for (const DeploymentKey& key : changed) on_change_(key);
}

void Deployments::refresh() {
  DeploymentSet set;
  const auto before = snapshot();
  for (const DeploymentPtr& one : *before) set.push_back(as_described_now(*one));
  publish(std::move(set));
}

void Deployments::wake() {
  wake_pending_ = true;
  std::unique_lock lock(mutex_);
  const auto wakeup = wakeup_.lock();
  lock.unlock();
  if (wakeup) wakeup->set();
}

// A reload under way may have read the store before the change, so wait for the next one.
Task<void> Deployments::wait_until_reloaded(std::chrono::steady_clock::time_point until) {
  const uint64_t wanted = begun_ + 1;
  wake();
  while (loaded_ < wanted && std::chrono::steady_clock::now() < until)
    co_await sleep_for(kLookAgain);
}

Task<void> Deployments::wait_ready(DeploymentKey key) {
  const auto until = std::chrono::steady_clock::now() + kReadyTimeout;
  while (std::chrono::steady_clock::now() < until) {
    co_await wait_until_reloaded(until);
    const DeploymentPtr one = find_deployment(*snapshot(), key);
    if (!one || !one->enabled || was_asked(one->descriptor)) co_return;
    while (!was_asked(one->backend->descriptor()) && std::chrono::steady_clock::now() < until)
      co_await sleep_for(kLookAgain);
  }
}

Task<void> Deployments::catch_up() {
  return wait_until_reloaded(std::chrono::steady_clock::now() + kReadyTimeout);
}

Task<void> Deployments::reload_if_woken() {
  const uint64_t number = ++begun_;
  auto reloading = reload();
  const auto outcome = co_await attempt(std::move(reloading));
  if (std::holds_alternative<Error>(outcome)) {
    wake_pending_ = true;
    co_return co_await sleep_for(kTryAgain);
  }
  refresh();
  loaded_ = number;
}

Task<void> Deployments::run() {
  const auto wakeup = std::make_shared<AutoResetEvent>(co_await asio::this_coro::executor);
  {
    std::lock_guard lock(mutex_);
    wakeup_ = wakeup;
  }
  for (auto reload_at = std::chrono::steady_clock::now();;) {
    const auto now = std::chrono::steady_clock::now();
    if (wake_pending_.exchange(false) || now >= reload_at) {
      co_await reload_if_woken();
      reload_at = now + kReloadEvery;
    } else {
      refresh();
    }
    if (wake_pending_) continue;
    auto waking = attempt_within(kRefreshEvery, wakeup->wait());
    co_await std::move(waking);
  }
}

}  // namespace sandgate
