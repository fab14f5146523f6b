#include "gateway/sandboxes/upkeep/keyed_work_queue.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kDrainPause{2};

struct Job {
  std::string id;
  std::function<Task<void>()> work;
};

struct Queue {
  size_t under_way = 0;
  std::deque<Job> waiting;
};

Task<void> carry_out(const Job& job) {
  try {
    co_await job.work();
  } catch (const std::exception& failure) {
    log::warn("background work failed", {{"work", job.id}, {"reason", failure.what()}});
  }
}

}  // namespace

struct KeyedWorkQueue::State {
  // The next job of a queue; empty ends the runner.
  std::optional<Job> next(const std::string& name) {
    std::lock_guard lock(mutex);
    const auto queue = queues.find(name);
    if (queue->second.waiting.empty()) {
      if (--queue->second.under_way == 0) queues.erase(queue);
      return std::nullopt;
    }
    Job job = std::move(queue->second.waiting.front());
    queue->second.waiting.pop_front();
    return job;
  }
  void end(const std::string& id) {
    std::lock_guard lock(mutex);
    known.erase(id);
  }

  Options options;
  std::mutex mutex;
  std::map<std::string, Queue> queues;
  std::set<std::string> known;
};

KeyedWorkQueue::KeyedWorkQueue(asio::any_io_executor executor, Options options)
    : executor_(std::move(executor)), state_(std::make_shared<State>()) {
  state_->options = options;
}

Task<void> KeyedWorkQueue::run_queue(std::shared_ptr<State> state, std::string name) {
  for (;;) {
    const auto job = state->next(name);
    if (!job) co_return;
    co_await carry_out(*job);
    state->end(job->id);
  }
}

void KeyedWorkQueue::post(std::string name, std::string id, std::function<Task<void>()> work) {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->known.contains(id)) return;
    Queue& queue = state_->queues[name];
    if (queue.waiting.size() >= state_->options.max_queued) return;
    state_->known.insert(id);
    queue.waiting.push_back({std::move(id), std::move(work)});
    if (queue.under_way >= state_->options.at_once) return;
    ++queue.under_way;
  }
  auto running = run_queue(state_, std::move(name));
  // A strand, because raced tasks share their cancellation state.
  spawn_detached(asio::make_strand(executor_), std::move(running));
}

std::string KeyedWorkQueue::queue_key(const Deployment& deployment) {
  return deployment.tenant ? "tenant/" + deployment.tenant->value : deployment.name;
}

Task<void> KeyedWorkQueue::drain() const {
  for (;;) {
    {
      std::lock_guard lock(state_->mutex);
      if (state_->known.empty()) co_return;
    }
    co_await sleep_for(kDrainPause);
  }
}

}  // namespace sandgate
