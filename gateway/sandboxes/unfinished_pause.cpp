#include "gateway/sandboxes/unfinished_pause.hpp"

#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "gateway/sandboxes/upkeep/state_alignment.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kRetryPause{200};

// `mark`: while it lives, use waits.
Task<void> finish(Lifecycle& lifecycle, SandboxId id, std::shared_ptr<void> mark) {
  auto write = [id](pqxx::work& tx) { return sandbox_rows::postpone_pausing(tx, id); };
  for (auto rest = sandbox_rows::kPauseLease / kRetryPause; rest > 0; --rest) {
    co_await sleep_for(kRetryPause);
    const auto outcome = co_await attempt(lifecycle.parts().database.run(write));
    const auto* is_under_way = std::get_if<bool>(&outcome);
    if (!is_under_way) continue;
    if (!*is_under_way) co_await align_state(lifecycle, id);
    break;
  }
  mark.reset();
}

}  // namespace

void leave_unfinished(Lifecycle& lifecycle, SandboxId id) {
  auto mark = lifecycle.transitions().mark_pausing(id);
  spawn_detached(lifecycle.parts().executor, finish(lifecycle, std::move(id), std::move(mark)));
}

}  // namespace sandgate
