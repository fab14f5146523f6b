#pragma once
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/exports/exporter.hpp"

// Booked events in the order of booking. Everything here runs in a transaction of the caller's.
namespace sandgate {

// Events with after < sequence <= through, in order.
std::vector<ExportEvent> read_export_events(pqxx::work& tx, int64_t after, int64_t through);

// The dead letters of an export that shall be tried again, with their events.
std::vector<ExportEvent> read_retries(pqxx::work& tx, const std::string& name, int64_t limit);

// Before the first event whose interval begins at or after a moment (RFC 3339).
int64_t sequence_before(pqxx::work& tx, const std::string& since);

}  // namespace sandgate
