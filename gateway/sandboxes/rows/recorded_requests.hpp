#pragma once
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/core/ids.hpp"
#include "gateway/core/time.hpp"
#include "gateway/placement/replay.hpp"

// Reads past creates, for Replay, from rows of sandboxes and decisions. Creates that no deployment
// could ever satisfy, or that were refused before a decision, have no row.
namespace sandgate::sandbox_rows {

struct RecordedSpan {
  TenantId tenant;
  std::string profile;  // name; any version
  Time from, to;  // half open
  std::string below;  // id of the last row seen at `to`; empty: none
};

// Newest first, at most `most`.
std::vector<RecordedRequest> recorded(pqxx::work& tx, const RecordedSpan& span, int most);

}  // namespace sandgate::sandbox_rows
