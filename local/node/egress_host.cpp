#include "local/node/egress_host.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "gateway/core/log.hpp"
#include "local/egress/byte_count.hpp"
#include "local/egress/control_channel.hpp"
#include "local/egress/network_json.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/listener.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kOrderPatience{5}, kLongestPause{5};
constexpr std::chrono::milliseconds kSilence{5'000};  // after which the process is asked
constexpr int kMostSilences = 3;  // in a row
// Nearly all orders are carried out sooner.
constexpr std::chrono::milliseconds kUsualOrder{20}, kLastOrder{100};
constexpr std::chrono::milliseconds kFirstPause{20};

Json egress_settings(const NodeSettings& settings) {
  return {{"uid", egress_uid(settings)},
          {"serve_uid", settings.serve_uid},
          {"private_cidrs", settings.private_cidrs},
          {"authorities", settings.egress_authorities},
          {"log", log::settings()}};
}

bool speaks_within(std::chrono::milliseconds patience, int control) {
  pollfd spoken{control, POLLIN, 0};
  return poll(&spoken, 1, static_cast<int>(patience.count())) > 0;
}

}  // namespace

bool has_way_out(const NetworkPolicy& network) {
  return network.fallback == NetworkDefault::allow || !network.allow.empty();
}

bool wants_way_out(const SandboxOrder& order) {
  return order.has_secrets || has_way_out(order.network);
}

EgressHost::EgressHost(const NodeSettings& settings)
    : settings_(settings), missing_(try_egress_doors()) {
  if (!missing_.empty()) return;
  listener_ = listen_on(settings_.run_dir, "egress.sock", settings_.serve_uid);
  keeper_ = std::jthread([this](std::stop_token stop) { keep_running(std::move(stop)); });
}

EgressHost::~EgressHost() {
  keeper_.request_stop();
  std::lock_guard lock(mutex_);
  if (process_.control) shutdown(process_.control.get(), SHUT_RDWR);
  changed_.notify_all();
}

void EgressHost::keep_running(std::stop_token stop) {
  auto pause = kFirstPause;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      process_ = start_egress(listener_.get(), egress_settings(settings_));
      live_with(lock);
    } catch (const StepError& failure) {
      log::error("egress not started", {{"step", failure.what()}, {"errno", failure.number}});
    }
    process_ = {};
    changed_.notify_all();
    if (stop.stop_requested()) break;
    log::warn("egress process ended: sandboxes reach nothing until it is back");
    if (std::chrono::steady_clock::now() - begin > kLongestPause) pause = kFirstPause;
    changed_.wait_for(lock, stop, pause, [] { return false; });
    pause = std::min<std::chrono::milliseconds>(pause * 2, kLongestPause);
  }
}

// Handles the process's packets until it ends or hangs. The lock is released while waiting for
// packets. Silences are counted, not timed: after a standstill of the whole machine there is one.
void EgressHost::live_with(std::unique_lock<std::mutex>& lock) {
  for (const auto& [id, attached] : attached_) tell_of(id, attached);
  const int control = process_.control.get();
  for (int silences = 0; silences < kMostSilences;) {
    lock.unlock();
    const bool speaks = speaks_within(kSilence, control);
    const auto message = speaks ? egress::receive_control(control) : std::nullopt;
    lock.lock();
    if (speaks && !message) break;
    silences = message ? 0 : silences + 1;
    if (message) hear(message->body);
    if (silences > 0) tell({{"verb", "ping"}});
    if (silences == kMostSilences) log::error("egress process hangs");
  }
  kill(process_.pid, SIGKILL);
  waitpid(process_.pid, nullptr, 0);
}

void EgressHost::hear(const Json& packet) {
  try {
    if (packet.contains("ack")) last_done_ = packet.at("ack").get<uint64_t>();
    const auto lost = attached_.find(packet.value("again", std::string()));
    if (lost != attached_.end()) tell_of(lost->first, lost->second);
  } catch (const Json::exception& nonsense) {
    log::error("egress process talks nonsense", {{"reason", nonsense.what()}});
  }
  changed_.notify_all();
}

std::optional<EgressHost::Order> EgressHost::tell(Json order, const std::vector<int>& fds) {
  if (process_.pid == 0) return std::nullopt;
  order["seq"] = ++last_told_;
  try {
    egress::send_control(process_.control.get(), order, fds);
  } catch (const Error&) {
    kill(process_.pid, SIGKILL);  // the restarted process is told everything
    return std::nullopt;
  }
  return Order{last_told_, process_.pid, std::chrono::steady_clock::now()};
}

void EgressHost::tell_of(const std::string& id, const Attached& attached) {
  const EgressDoors& doors = attached.doors;
  tell({{"verb", "attach"},
        {"id", id},
        {"tenant", attached.tenant},
        {"network", egress::network_json(attached.network)}},
       {doors.dns_udp.get(), doors.dns_tcp.get(), doors.proxy.get(), doors.any.get(),
        attached.byte_count.get()});
}

// Kills a process that does not confirm in time, so that no withdrawn rule stays in force.
bool EgressHost::is_done(std::unique_lock<std::mutex>& lock, const Order& order,
                         std::chrono::milliseconds patience) {
  const bool done = changed_.wait_for(
      lock, patience, [&] { return last_done_ >= order.number || process_.pid != order.to; });
  const bool late = std::chrono::steady_clock::now() - order.at > kOrderPatience;
  if (!done && late) kill(order.to, SIGKILL);
  return done;
}

void EgressHost::attach(const JournalRecord& record, int pidfd, const std::string& byte_count) {
  if (!missing_.empty())
    throw Error(ErrorCode::unsupported, "no way out on this machine: " + missing_);
  Attached fresh{open_egress_doors(pidfd, record.network), record.tenant_id, record.network,
                 egress::open_byte_count(byte_count)};
  std::lock_guard lock(mutex_);
  const auto [place, added] = attached_.try_emplace(record.id, std::move(fresh));
  if (added) tell_of(record.id, place->second);
}

bool EgressHost::change(const std::string& id, int pidfd, const NetworkPolicy& network) {
  std::unique_lock lock(mutex_);
  const auto found = attached_.find(id);
  if (found == attached_.end()) throw Error::not_found("sandbox", id);
  Attached& attached = found->second;
  if (!attached.changing || attached.network != network) {
    change_egress_routes(pidfd, attached.network, network);
    attached.network = network;
    attached.changing =
        tell({{"verb", "policy"}, {"id", id}, {"network", egress::network_json(network)}});
  }
  if (!attached.changing) return true;
  const Order order = *attached.changing;
  if (!is_done(lock, order, kUsualOrder)) return false;
  // The sandbox may have been detached during the wait.
  if (const auto still = attached_.find(id); still != attached_.end())
    still->second.changing.reset();
  return true;
}

void EgressHost::detach(const std::string& id) {
  std::unique_lock lock(mutex_);
  if (attached_.erase(id) == 0) return;
  if (const auto order = tell({{"verb", "detach"}, {"id", id}})) is_done(lock, *order, kLastOrder);
}

bool EgressHost::is_attached(const std::string& id) const {
  std::lock_guard lock(mutex_);
  return attached_.contains(id);
}

}  // namespace sandgate
