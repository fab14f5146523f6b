#include "gateway/sandboxes/errands.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kRestPause{2};

struct Errand {
  std::string id;
  std::function<Task<void>()> work;
};

struct Line {
  size_t under_way = 0;
  std::deque<Errand> waiting;
};

Task<void> carry_out(const Errand& errand) {
  try {
    co_await errand.work();
  } catch (const std::exception& failure) {
    log::warn("background work failed", {{"work", errand.id}, {"reason", failure.what()}});
  }
}

}  // namespace

struct Errands::State {
  // The next errand of a line; empty ends the runner.
  std::optional<Errand> next(const std::string& name) {
    std::lock_guard lock(mutex);
    const auto line = lines.find(name);
    if (line->second.waiting.empty()) {
      if (--line->second.under_way == 0) lines.erase(line);
      return std::nullopt;
    }
    Errand errand = std::move(line->second.waiting.front());
    line->second.waiting.pop_front();
    return errand;
  }
  void end(const std::string& id) {
    std::lock_guard lock(mutex);
    known.erase(id);
  }

  Options options;
  std::mutex mutex;
  std::map<std::string, Line> lines;
  std::set<std::string> known;
};

Errands::Errands(asio::any_io_executor executor, Options options)
    : executor_(std::move(executor)), state_(std::make_shared<State>()) {
  state_->options = options;
}

Task<void> Errands::run_line(std::shared_ptr<State> state, std::string name) {
  for (;;) {
    const auto errand = state->next(name);
    if (!errand) co_return;
    co_await carry_out(*errand);
    state->end(errand->id);
  }
}

void Errands::send(std::string name, std::string id, std::function<Task<void>()> work) {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->known.contains(id)) return;
    Line& line = state_->lines[name];
    if (line.waiting.size() >= state_->options.waiting) return;
    state_->known.insert(id);
    line.waiting.push_back({std::move(id), std::move(work)});
    if (line.under_way >= state_->options.at_once) return;
    ++line.under_way;
  }
  auto running = run_line(state_, std::move(name));
  // A strand, because raced tasks share their cancellation state.
  spawn_detached(asio::make_strand(executor_), std::move(running));
}

std::string Errands::line_of(const Deployment& deployment) {
  return deployment.tenant ? "tenant/" + deployment.tenant->value : deployment.name;
}

Task<void> Errands::rest() const {
  for (;;) {
    {
      std::lock_guard lock(state_->mutex);
      if (state_->known.empty()) co_return;
    }
    co_await sleep_for(kRestPause);
  }
}

}  // namespace sandgate
