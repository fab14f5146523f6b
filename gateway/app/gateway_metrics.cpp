#include "gateway/app/gateway.hpp"

namespace sandgate {

void Gateway::render_metrics(MetricText& out) const {
  if (metrics_) metrics_->render(out);
  if (const auto disk = local_ ? local_->disk() : std::nullopt) {
    out.gauge("sandgate_local_disk_free_bytes",
              "Free on the file system of local sandboxes' disks.",
              static_cast<uint64_t>(disk->free_bytes));
    out.gauge("sandgate_local_disk_floor_bytes", "Below it no local sandbox is made.",
              static_cast<uint64_t>(disk->floor_bytes));
  }
  if (server_) out.gauge("sandgate_connections", "Connections of clients.", server_->connections());
  out.counter("sandgate_sandbox_cache_hits_total", "Sandboxes found in memory.",
              sandbox_cache_.hits());
  out.counter("sandgate_sandbox_cache_misses_total", "Sandboxes read from the database.",
              sandbox_cache_.misses());
  out.gauge("sandgate_port_connections_waiting", "Idle connections kept to servers in sandboxes.",
            app_pool_.waiting());
  out.counter("sandgate_usage_conflicts_total", "Usage that contradicts what is booked.",
              meter_.conflicts());
  out.counter("sandgate_implausible_counters_total",
              "Readings of what backends count that say more than can be.", meter_.implausible());
  out.gauge("sandgate_event_streams", "Clients that listen to events.", event_bell_.listeners());
  out.counter("sandgate_events_total", "Events that were numbered.", event_log_.collected());
  webhook_sender_.render(out);
  out.counter("sandgate_creates_without_price_total", "Creates on a backend without a price.",
              lifecycle_.unpriced());
  out.gauge("sandgate_outage_journal_records",
            "Records of ends that wait for the database: that one is asked for, that it is done.",
            outage_.records());
  out.gauge("sandgate_outage_journal_bytes", "The size of what waits.", outage_.bytes());
  out.counter("sandgate_losses_total", "Sandboxes whose cost, or a part of it, nobody pays.",
              lifecycle_.losses().booked());
  out.counter("sandgate_outage_journal_replayed_total", "Ends written after an outage.",
              outage_.replayed());
}

}  // namespace sandgate
