#include "local/node/egress/egress_attachment.hpp"

#include <condition_variable>
#include <cstring>
#include <mutex>

#include "gateway/core/log.hpp"
#include "local/egress/byte_count.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr int kQuickRounds = 20;
constexpr std::chrono::milliseconds kQuickPause{50}, kPause{2000};

}  // namespace

// Beside the journal entry, so that it is removed with it, and renamed when a warm sandbox is
// assigned.
std::string EgressAttachment::byte_count_of(const std::string& id) const {
  return journal_.directory_of(id) + "/egress_bytes";
}

int64_t EgressAttachment::sent_bytes(const std::string& id) const {
  return egress::read_byte_count(byte_count_of(id));
}

void EgressAttachment::begin_reattaching(std::vector<LivePtr> adopted) {
  reattaching_ = std::jthread([this, adopted = std::move(adopted)](const std::stop_token& stop) {
    reattach_all(adopted, stop);
  });
}

void EgressAttachment::attach(const LiveSandbox& live) {
  if (!live.record.has_egress && !allows_egress(live.record.network)) return;
  egress_.attach(live.record, live.pidfd.get(), byte_count_of(live.record.id));
}

// Retries in rounds over all sandboxes: the egress process of an earlier node may hold the same
// ports for a moment, or a program inside may have taken one.
void EgressAttachment::reattach_all(std::vector<LivePtr> adopted, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  for (int round = 1;; ++round) {
    std::erase_if(adopted, [&](const LivePtr& live) {
      return stop.stop_requested() || reattach(*live, round == kQuickRounds);
    });
    if (adopted.empty()) return;
    stopped.wait_for(lock, stop, round < kQuickRounds ? kQuickPause : kPause, [] { return false; });
  }
}

// Returns false to be retried. Does not wait for a busy sandbox, which would delay all others.
bool EgressAttachment::reattach(LiveSandbox& live, bool tells) {
  const std::unique_lock busy(live.busy, std::try_to_lock);
  if (!busy) return false;
  const auto tell = [&](const char* reason) {
    log::error("a sandbox's way out stays closed",
               {{"sandbox", live.record.id}, {"reason", reason}});
  };
  try {
    table_.check_alive(live);
    if (!egress_.is_attached(live.record.id)) attach(live);
    return true;
  } catch (const StepError& failure) {
    if (tells) tell(std::strerror(failure.number));
    return false;
  } catch (const std::exception& failure) {
    if (!table_.is_gone(live)) tell(failure.what());
    return true;
  }
}

// The journal is changed before the policy, and changed back on failure, so that the recorded
// policy is the one in force.
void EgressAttachment::set_network(const std::string& id, const NetworkPolicy& network) {
  LivePtr live = table_.get(id);
  const auto busy = lock_sandbox(*live);
  table_.check_alive(*live);
  const NetworkPolicy before = live->record.network;
  const bool kept = live->record.has_egress;
  table_.update(*live, [&](JournalRecord& record) {
    record.network = network;
    record.has_egress = kept || allows_egress(before) || allows_egress(network);
  });
  const auto take_back = [&](JournalRecord& record) {
    record.network = before;
    record.has_egress = kept;
  };
  bool in_force = true;
  try {
    if (egress_.is_attached(id))
      in_force = egress_.change(id, live->pidfd.get(), network);
    else
      attach(*live);
  } catch (const StepError& failure) {
    table_.update(*live, take_back);
    if (failure.number != EADDRINUSE) throw;
    throw Error(ErrorCode::conflict, "a program of the sandbox listens on port 53, 3128 or 3129");
  } catch (...) {
    table_.update(*live, take_back);
    throw;
  }
  if (!in_force) throw Error(ErrorCode::timeout, "the new network is not in force yet");
}

}  // namespace sandgate
