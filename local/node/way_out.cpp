// What a supervisor's sandboxes may reach.
#include "local/node/supervisor.hpp"

namespace sandgate {

// Beside the journal's entry, so that it lives as long and goes with a seat to its owner.
std::string Supervisor::byte_count_of(const std::string& id) const {
  return journal_.directory_of(id) + "/egress_bytes";
}

void Supervisor::open_way_out(const Live& live) {
  if (!has_way_out(live.record.network)) return;
  egress_.attach(live.record, live.pidfd.get(), byte_count_of(live.record.id));
}

void Supervisor::set_network(const std::string& id, const NetworkPolicy& network) {
  LivePtr live = lookup(id);
  if (!live) throw Error::not_found("sandbox", id);
  const auto busy = hold(*live);
  JournalRecord copy;
  bool was_open = false;
  {
    std::lock_guard lock(mutex_);
    if (live->gone) throw Error::not_found("sandbox", id);
    was_open = egress_.is_attached(id);
    live->record.network = network;
    copy = live->record;
  }
  journal_.write(copy);
  if (was_open)
    egress_.change(id, live->pidfd.get(), network);
  else
    open_way_out(*live);
}

}  // namespace sandgate
