#include "local/node/egress/egress_supervisor.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "gateway/core/log.hpp"
#include "local/egress/byte_count.hpp"
#include "local/egress/control_channel.hpp"
#include "local/egress/network_json.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/server/listener.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kCommandTimeout{5}, kLongestPause{5};
constexpr std::chrono::milliseconds kSilence{5'000};  // after which the process is asked
constexpr int kMaxSilences = 3;  // in a row
// Nearly all commands are carried out sooner.
constexpr std::chrono::milliseconds kChangeWait{20}, kDetachWait{100};
constexpr std::chrono::milliseconds kFirstPause{20};

Json egress_settings(const NodeSettings& settings) {
  return {{"uid", egress_uid(settings)},
          {"serve_uid", settings.serve_uid},
          {"private_cidrs", settings.private_cidrs},
          {"authorities", settings.egress_authorities},
          {"log", log::settings()}};
}

bool speaks_within(std::chrono::milliseconds timeout, int control) {
  pollfd spoken{control, POLLIN, 0};
  return poll(&spoken, 1, static_cast<int>(timeout.count())) > 0;
}

}  // namespace

bool allows_egress(const NetworkPolicy& network) {
  return network.fallback == NetworkDefault::allow || !network.allow.empty();
}

bool needs_egress(const SandboxRequest& request) {
  return request.has_secrets || allows_egress(request.network);
}

EgressSupervisor::EgressSupervisor(const NodeSettings& settings)
    : settings_(settings), unsupported_reason_(try_egress_listeners()) {
  if (!unsupported_reason_.empty()) return;
  listener_ = listen_on(settings_.run_dir, "egress.sock", settings_.serve_uid);
  thread_ = std::jthread([this](std::stop_token stop) { keep_running(std::move(stop)); });
}

EgressSupervisor::~EgressSupervisor() {
  thread_.request_stop();
  std::lock_guard lock(mutex_);
  if (process_.control) shutdown(process_.control.get(), SHUT_RDWR);
  changed_.notify_all();
}

void EgressSupervisor::keep_running(std::stop_token stop) {
  auto pause = kFirstPause;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      process_ = start_egress(listener_.get(), egress_settings(settings_));
      supervise(lock);
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
void EgressSupervisor::supervise(std::unique_lock<std::mutex>& lock) {
  for (const auto& [id, attached] : attached_) send_attach(id, attached);
  const int control = process_.control.get();
  for (int silences = 0; silences < kMaxSilences;) {
    lock.unlock();
    const bool speaks = speaks_within(kSilence, control);
    const auto message = speaks ? egress::receive_control(control) : std::nullopt;
    lock.lock();
    if (speaks && !message) break;
    silences = message ? 0 : silences + 1;
    if (message) handle_packet(message->body);
    if (silences > 0) send_command({{"verb", "ping"}});
    if (silences == kMaxSilences) log::error("egress process hangs");
  }
  kill(process_.pid, SIGKILL);
  waitpid(process_.pid, nullptr, 0);
}

void EgressSupervisor::handle_packet(const Json& packet) {
  try {
    if (packet.contains("ack")) last_done_ = packet.at("ack").get<uint64_t>();
    const auto lost = attached_.find(packet.value("again", std::string()));
    if (lost != attached_.end()) send_attach(lost->first, lost->second);
  } catch (const Json::exception& nonsense) {
    log::error("egress process talks nonsense", {{"reason", nonsense.what()}});
  }
  changed_.notify_all();
}

std::optional<EgressSupervisor::Command> EgressSupervisor::send_command(
    Json command, const std::vector<int>& fds) {
  if (process_.pid == 0) return std::nullopt;
  command["seq"] = ++last_sent_;
  try {
    egress::send_control(process_.control.get(), command, fds);
  } catch (const Error&) {
    kill(process_.pid, SIGKILL);  // the restarted process is told everything
    return std::nullopt;
  }
  return Command{last_sent_, process_.pid, std::chrono::steady_clock::now()};
}

void EgressSupervisor::send_attach(const std::string& id, const Attached& attached) {
  const EgressListeners& listeners = attached.listeners;
  send_command({{"verb", "attach"},
                {"id", id},
                {"tenant", attached.tenant},
                {"network", egress::network_json(attached.network)}},
               {listeners.dns_udp.get(), listeners.dns_tcp.get(), listeners.proxy.get(),
                listeners.transparent.get(), attached.byte_count.get()});
}

// Kills a process that does not confirm in time, so that no withdrawn rule stays in force.
bool EgressSupervisor::wait_until_done(std::unique_lock<std::mutex>& lock, const Command& command,
                                       std::chrono::milliseconds timeout) {
  const bool done = changed_.wait_for(
      lock, timeout, [&] { return last_done_ >= command.number || process_.pid != command.to; });
  const bool late = std::chrono::steady_clock::now() - command.at > kCommandTimeout;
  if (!done && late) kill(command.to, SIGKILL);
  return done;
}

void EgressSupervisor::attach(const JournalRecord& record, int pidfd,
                              const std::string& byte_count) {
  if (!unsupported_reason_.empty())
    throw Error(ErrorCode::unsupported, "no way out on this machine: " + unsupported_reason_);
  Attached fresh{open_egress_listeners(pidfd, record.network), record.tenant_id, record.network,
                 egress::open_byte_count(byte_count)};
  std::lock_guard lock(mutex_);
  const auto [place, added] = attached_.try_emplace(record.id, std::move(fresh));
  if (added) send_attach(record.id, place->second);
}

bool EgressSupervisor::change(const std::string& id, int pidfd, const NetworkPolicy& network) {
  std::unique_lock lock(mutex_);
  const auto found = attached_.find(id);
  if (found == attached_.end()) throw Error::not_found("sandbox", id);
  Attached& attached = found->second;
  if (!attached.changing || attached.network != network) {
    change_egress_routes(pidfd, attached.network, network);
    attached.network = network;
    attached.changing =
        send_command({{"verb", "policy"}, {"id", id}, {"network", egress::network_json(network)}});
  }
  if (!attached.changing) return true;
  const Command command = *attached.changing;
  if (!wait_until_done(lock, command, kChangeWait)) return false;
  // The sandbox may have been detached during the wait.
  if (const auto still = attached_.find(id); still != attached_.end())
    still->second.changing.reset();
  return true;
}

void EgressSupervisor::detach(const std::string& id) {
  std::unique_lock lock(mutex_);
  if (attached_.erase(id) == 0) return;
  if (const auto command = send_command({{"verb", "detach"}, {"id", id}}))
    wait_until_done(lock, *command, kDetachWait);
}

bool EgressSupervisor::is_attached(const std::string& id) const {
  std::lock_guard lock(mutex_);
  return attached_.contains(id);
}

}  // namespace sandgate
