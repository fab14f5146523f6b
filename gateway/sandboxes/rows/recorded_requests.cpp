#include "gateway/sandboxes/rows/recorded_requests.hpp"

#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate::sandbox_rows {
namespace {

// The time a request ran is its metered time without its pauses: what is booked of its processors,
// and what is not booked yet.
constexpr char kRecorded[] = R"sql(
  SELECT s.id, (extract(epoch from s.created_at) * 1000000)::bigint, s.wishes, s.deployment,
    s.provider, s.region, s.milli_vcpu, s.memory_mib, s.disk_gib, s.processes, d.document,
    coalesce((m.vcpu_total * 1000000000 / nullif(m.milli_vcpu, 0)
      + CASE WHEN m.state = 'running' OR (m.unbooked_end IS NOT NULL AND m.closed_as = 'running')
        THEN extract(epoch from greatest(coalesce(m.unbooked_end, now()), m.boundary)
          - m.boundary) * 1000000 ELSE 0 END)::bigint, 0)
  FROM sandbox s JOIN decision d ON d.id = s.decision
    LEFT JOIN metered_sandbox m ON m.sandbox = s.id
  WHERE s.tenant = $1 AND s.profile = $2 AND s.created_at >= $3::timestamptz
    AND (s.created_at, s.id) < ($4::timestamptz, $5)
  ORDER BY s.created_at DESC, s.id DESC LIMIT $6)sql";

RecordedRequest request_from(const pqxx::row& row) {
  RecordedRequest request;
  request.sandbox = row[0].as<std::string>();
  request.at = from_micros(row[1].as<int64_t>());
  request.overrides = Json::parse(row[2].as<std::string>());
  request.deployment = row[3].as<std::string>();
  request.provider = row[4].as<std::string>();
  request.region = row[5].as<std::string>();
  request.resources = {.milli_vcpu = row[6].as<int64_t>(),
                       .memory_mib = row[7].as<int64_t>(),
                       .disk_gib = row[8].as<int64_t>(),
                       .processes = row[9].as<int64_t>()};
  const Json decision = Json::parse(row[10].as<std::string>());
  request.health = recorded_health(decision);
  const Json snapshot =
      decision.value("requirements", Json::object()).value("snapshot_deployment", Json());
  request.restore = snapshot.is_string();
  if (request.restore) request.snapshot_deployment = snapshot.get<std::string>();
  request.ran = std::chrono::microseconds(row[11].as<int64_t>());
  return request;
}

}  // namespace

std::vector<RecordedRequest> recorded(pqxx::work& tx, const RecordedSpan& span, int most) {
  std::vector<RecordedRequest> requests;
  for (const auto& row : run_prepared(tx, kRecorded, span.tenant.value, span.profile,
                                      to_rfc3339(span.from), to_rfc3339(span.to), span.below, most))
    requests.push_back(request_from(row));
  return requests;
}

}  // namespace sandgate::sandbox_rows
