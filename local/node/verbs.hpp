#pragma once
#include <string>

#include "local/node/supervisor.hpp"

namespace sandgate {

// What a node answers to each verb it can be asked, but for build_image, which talks while it
// works. Blocks. Throws what the verb does, and Error(invalid) for one that is not known.
Json answer_verb(const NodeSettings& settings, Supervisor& supervisor, const std::string& verb,
                 const Json& params);

// How long a request may hold the thread that it is answered on.
enum class Pace {
  quick,
  ends,  // waits for what the disk of a sandbox has yet to write
  copies,  // gigabytes
};
Pace pace_of(const std::string& verb, const Json& params);

// The tenant whose disk a request copies; empty: nobody's.
std::string whose_disk(Supervisor& supervisor, const Json& params);

}  // namespace sandgate
