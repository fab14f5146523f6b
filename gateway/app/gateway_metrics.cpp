#include "gateway/app/gateway.hpp"

namespace sandgate {
namespace {

// Writes Prometheus text, a metric with its help at a time.
class MetricLines {
 public:
  explicit MetricLines(std::string& out) : out_(out) {}
  void gauge(std::string name, const char* help, uint64_t value) const {
    write(std::move(name), "gauge", help, value);
  }
  void counter(std::string name, const char* help, uint64_t value) const {
    write(std::move(name), "counter", help, value);
  }

 private:
  void write(std::string name, const char* type, const char* help, uint64_t value) const {
    out_ += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n" + name + " " +
            std::to_string(value) + "\n";
  }
  std::string& out_;
};

}  // namespace

void Gateway::render_metrics(std::string& out) const {
  if (metrics_) metrics_->render(out);
  const MetricLines lines{out};
  if (const auto disk = local_ ? local_->disk() : std::nullopt) {
    lines.gauge("sandgate_local_disk_free_bytes",
                "Free on the file system of local sandboxes' disks.",
                static_cast<uint64_t>(disk->free_bytes));
    lines.gauge("sandgate_local_disk_floor_bytes", "Below it no local sandbox is made.",
                static_cast<uint64_t>(disk->floor_bytes));
  }
  if (server_)
    lines.gauge("sandgate_connections", "Connections of clients.", server_->connections());
  lines.counter("sandgate_sandbox_cache_hits_total", "Sandboxes found in memory.",
                sandbox_cache_.hits());
  lines.counter("sandgate_sandbox_cache_misses_total", "Sandboxes read from the database.",
                sandbox_cache_.misses());
  lines.gauge("sandgate_port_connections_waiting", "Idle connections kept to servers in sandboxes.",
              app_pool_.waiting());
  lines.counter("sandgate_usage_conflicts_total", "Usage that contradicts what is booked.",
                meter_.conflicts());
  lines.counter("sandgate_implausible_counters_total",
                "Readings of what backends count that say more than can be.", meter_.implausible());
  lines.gauge("sandgate_event_streams", "Clients that listen to events.", event_bell_.listeners());
  lines.counter("sandgate_events_total", "Events that were numbered.", event_log_.collected());
  webhook_sender_.render(out);
  lines.counter("sandgate_creates_without_price_total", "Creates on a backend without a price.",
                lifecycle_.unpriced());
  lines.gauge("sandgate_outage_journal_records",
              "Records of ends that wait for the database: that one is asked for, that it is done.",
              outage_.records());
  lines.gauge("sandgate_outage_journal_bytes", "The size of what waits.", outage_.bytes());
  lines.counter("sandgate_losses_total", "Sandboxes whose cost, or a part of it, nobody pays.",
                lifecycle_.losses().booked());
  lines.counter("sandgate_outage_journal_replayed_total", "Ends written after an outage.",
                outage_.replayed());
}

}  // namespace sandgate
