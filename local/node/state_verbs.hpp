#pragma once
#include <optional>
#include <string>

#include "local/node/supervisor.hpp"

namespace sandgate {

// pause, resume, snapshot, find_snapshot and remove_snapshot; empty for every other verb. Blocks.
std::optional<Json> answer_state_verb(Supervisor& supervisor, const std::string& verb,
                                      const Json& params);

// Whether a request may take as long as copying gigabytes does.
bool copies_a_disk(const std::string& verb, const Json& params);
// The tenant whose request that is; empty: nobody's.
std::string whose_disk(Supervisor& supervisor, const Json& params);

}  // namespace sandgate
