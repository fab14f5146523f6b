#pragma once
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/exports/exporter.hpp"

// Reads booked usage events in order of booking. All functions run in the caller's transaction.
namespace sandgate {

// Events with after < sequence <= through, in order.
std::vector<ExportEvent> read_export_events(pqxx::work& tx, int64_t after, int64_t through);

// Dead letters of an export that are marked for retry, with their events.
std::vector<ExportEvent> read_retries(pqxx::work& tx, const std::string& name, int64_t limit);

// The sequence before the first event whose interval begins at or after `since` (RFC 3339); the
// last sequence when there is none.
int64_t sequence_before(pqxx::work& tx, const std::string& since);

}  // namespace sandgate
