#pragma once
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/upkeep/keyed_work_queue.hpp"

namespace sandgate {

// Periodically compares each backend's list with the registry, deployments in parallel; replicas
// take turns by a lease, which Descriptor::min_list_interval may make longer. Only the gateway of
// our own machine checks that machine, first at its start. Sandboxes missing at their backend
// become failed; on our own machine, those that are paused or run there although their rows say
// otherwise become what they are there. Listed sandboxes of this installation that the registry has
// no use for are killed after a minute; unknown ones on our own machine at once, as nobody else
// creates any there.
class Reconciler {
 public:
  struct Options {
    std::chrono::milliseconds every{15'000};
    std::chrono::milliseconds orphan_age{60'000};  // time an orphan is seen before it is killed
  };
  Reconciler(Lifecycle& lifecycle, Options options)
      : lifecycle_(lifecycle),
        options_(options),
        work_queue_(asio::make_strand(lifecycle.parts().executor),
                    {.at_once = 2, .max_queued = 100}) {}

  struct Result {
    size_t lost = 0, aligned = 0, orphans_killed = 0;
  };
  // Empty when another replica holds the lease or the backend does not answer.
  Task<std::optional<Result>> reconcile(DeploymentPtr deployment);
  Task<void> run();  // all deployments, spread over each period; until cancelled
  // Asks the backends on our own machine which sandboxes died lately, so that nobody has to wait
  // for the next comparison. To be repeated within Provider::kDeathsKept, one call at a time.
  Task<void> note_deaths();
  // The same once those backends are known, within two seconds: await before anything else may end
  // the charge of a sandbox that died while no gateway was there.
  Task<void> note_earlier_deaths();
  // Records what the registry misses on our own machine, for whatever reason it ended: await before
  // usage is booked that nobody could book for a while. The machine has `patience` to become known.
  Task<void> note_earlier_ends(std::chrono::milliseconds patience);
  // Whether the sandbox's death is known and the database does not have it: nothing else may end
  // its charge then. Thread-safe.
  bool has_unrecorded_death(const SandboxId& id) const;
  Task<void> drain() const { return work_queue_.drain(); }  // await before destruction

 private:
  // By backend id: when this replica first saw the orphan.
  using Sightings = std::map<std::string, std::chrono::steady_clock::time_point>;

  // `noted`: what needs no second look; updated.
  Task<void> note_deaths_on(DeploymentPtr deployment, std::set<std::string>& noted);
  template <class Map>
  void forget_removed(Map& map) const;
  // Seldom: a tenant's own backend may be away for ever, or now and then.
  void log_unlisted(const DeploymentKey& deployment, const Error& reason);
  void set_unrecorded_deaths(const DeploymentKey& deployment, std::set<std::string> deaths);
  void send_for(DeploymentPtr deployment);
  Task<std::vector<DeploymentPtr>> on_own_machine(std::chrono::milliseconds patience) const;
  Task<size_t> fail_lost(DeploymentPtr deployment, std::vector<BackendSandbox> listed,
                         std::vector<SandboxRecord> expected);
  // Records what became of an expected sandbox that is not listed. True: it is lost. False: it is
  // there after all, nobody knows, or it had been ended.
  Task<bool> note_if_gone(DeploymentPtr deployment, SandboxRecord record);
  Task<size_t> kill_orphans(DeploymentPtr deployment, std::vector<BackendSandbox> listed);
  bool old_enough(std::chrono::steady_clock::time_point first_seen) const;

  Lifecycle& lifecycle_;
  Options options_;
  std::map<DeploymentKey, Sightings> first_seen_;
  std::map<DeploymentKey, std::set<std::string>> noted_deaths_;  // used by note_deaths() only
  mutable std::mutex mutex_;
  std::map<DeploymentKey, std::set<std::string>> unrecorded_deaths_;  // guarded by mutex_
  std::map<DeploymentKey, std::chrono::steady_clock::time_point> unlisted_logged_;  // likewise
  KeyedWorkQueue work_queue_;  // on a strand, which guards first_seen_
};

}  // namespace sandgate
