#pragma once
#include <atomic>
#include <climits>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "gateway/core/trace.hpp"
#include "providers/provider.hpp"

namespace sandgate::test {

// An in-memory backend with every capability that placement asks for and switches for faults.
// Thread-safe.
class FakeProvider : public Provider {
 public:
  enum class Fault {
    none,
    error,  // create throws `code`, nothing is made
    hang,  // create never answers, nothing is made
    lost_reply,  // create makes a sandbox and throws `code`
    slow,  // create takes `delay`
    nonsense,  // create returns an invalid sandbox and makes none
    repeated,  // create returns an existing sandbox after `delay` and makes none
  };

  explicit FakeProvider(std::string name) : offered_(capable(name)) {}
  static Descriptor capable(std::string name);

  void fail_creates(Fault fault, ErrorCode code = ErrorCode::unavailable,
                    std::chrono::milliseconds delay = {});
  // Sandboxes get that size at least.
  void give(Resources least) { least_ = least; }
  void foresee(std::string backend_id) { foreseen_ = std::move(backend_id); }  // empty: nothing
  void refuse_kills(bool refuse) { refuse_kills_ = refuse; }
  void hang_kills(bool hang) { hang_kills_ = hang; }  // until switched off
  void hang_lists(bool hang) { hang_lists_ = hang; }
  void refuse_lists(bool refuse) { refuse_lists_ = refuse; }
  // Faults of pause, resume and snapshot: error, or lost_reply, which does the work first.
  void fail_states(Fault fault, ErrorCode code = ErrorCode::unavailable);
  // Runs `happening` after the next pause, resume or extend took effect and before it returns.
  void once_changed(std::function<void()> happening);
  // Makes the next `times` calls of extend() throw that; empty: none.
  void fail_extends(std::optional<ErrorCode> code, int times = INT_MAX) {
    extend_fault_ = code;
    extend_faults_ = times;
  }
  // Makes set_network() throw that; else it is unsupported.
  void fail_networks(ErrorCode code) { network_fault_ = code; }
  // Makes extend() throw Error(invalid) for longer times; 0: for none.
  void refuse_times_beyond(std::chrono::seconds most) { longest_ = most; }
  void offer(Descriptor descriptor);
  // The next `times` questions for a sandbox are answered as if it did not exist.
  void lag(int times) { lags_ = times; }
  void lose(const std::string& backend_id);  // the sandbox ends by itself and disappears
  // As finish(), but by itself and that long ago.
  void die(const std::string& backend_id, std::chrono::milliseconds ago);
  // The sandbox ends by a rule of the backend, which tells of it where the descriptor says so.
  void end_by_rule(const std::string& backend_id, RuledEnd end);
  void leave(const std::string& backend_id);  // ends by itself, listed until a kill
  void made_at(Time at) { made_at_ = at; }  // of later sandboxes in lists; else none

  // Shifts the end time reported by finish() back by `by`, from now on.
  void end_earlier(std::chrono::milliseconds by) { ended_ago_ = by; }
  void count(SandboxMetrics totals);  // what metrics() returns; without it metrics() refuses

  size_t alive() const;
  bool has(const std::string& sandbox_id) const;
  int creates() const { return creates_; }
  int kills() const { return kills_; }
  CreateSpec last_spec() const;
  std::chrono::seconds last_extension() const;  // argument of the last extend(); 0: none
  int extensions() const { return extensions_; }
  TracePtr last_trace() const;  // of the last create()
  BackendState state_of(const std::string& backend_id) const;
  size_t snapshots() const;

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  std::optional<BackendSandbox> predict_create(const CreateSpec& spec) const override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;
  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;
  Task<void> extend(std::string id, std::chrono::seconds ttl) override;
  Task<void> set_network(std::string id, NetworkPolicy policy) override;
  Task<SandboxMetrics> metrics(std::string id) override;
  Task<SandboxMetrics> finish(std::string id) override;  // later reported by find()
  Task<std::vector<std::string>> deaths() override;  // by die(), however long ago

 private:
  // Moves one that is alive among the finished; null: it is not. With mutex_ held.
  BackendSandbox* put_aside(const std::string& id, std::chrono::milliseconds ago);
  void change(const std::string& id, BackendState state);
  // Throws the configured fault; for lost_reply only after the work (`before` false).
  void fail_as_switched(bool before) const;

  BackendSandbox make(const CreateSpec& spec);

  mutable std::mutex mutex_;
  Descriptor offered_;
  Fault fault_ = Fault::none;
  ErrorCode code_ = ErrorCode::unavailable;
  std::chrono::milliseconds delay_{0};
  std::function<void()> once_changed_;
  Fault state_fault_ = Fault::none;
  ErrorCode state_code_ = ErrorCode::unavailable;
  std::map<std::string, BackendSandbox> alive_;
  std::map<std::string, BackendSandbox> finished_;
  std::map<std::string, std::string> snapshots_;  // backend id -> our id
  CreateSpec last_spec_;
  TracePtr last_trace_;
  std::chrono::seconds last_extension_{0};
  std::optional<SandboxMetrics> counted_;
  std::optional<Time> made_at_;
  int next_ = 0;
  int lags_ = 0;
  std::string foreseen_;
  Resources least_{0, 0, 0, 0};
  std::atomic<bool> refuse_kills_{false}, hang_kills_{false};
  std::atomic<bool> hang_lists_{false}, refuse_lists_{false};
  std::optional<ErrorCode> extend_fault_;
  ErrorCode network_fault_ = ErrorCode::unsupported;
  std::atomic<std::chrono::seconds> longest_{};
  std::atomic<std::chrono::milliseconds> ended_ago_{};
  std::atomic<int> creates_{0}, kills_{0}, extensions_{0};
  int extend_faults_ = 0;  // left of extend_fault_
};

}  // namespace sandgate::test
