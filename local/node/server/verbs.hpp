#pragma once
#include <string>

#include "local/node/supervisor/supervisor.hpp"

namespace sandgate {

// Executes a verb and returns its result. Blocks. Throws what the verb throws, and Error(invalid)
// for an unknown verb.
Json answer_verb(const NodeSettings& settings, Supervisor& supervisor, const std::string& verb,
                 const Json& params);

// How long a request may occupy the thread that executes it.
enum class WorkClass {
  quick,
  steps,  // quick, and throws Error(timeout) where it would have to wait: to be repeated
  ends,  // likewise; reads and writes what remains of a sandbox
  copies,  // copies a disk, up to gigabytes
};
WorkClass work_class_of(const std::string& verb, const Json& params);

// The tenant whose disk a request copies; empty when its sandbox is unknown.
std::string tenant_of_disk(Supervisor& supervisor, const Json& params);

}  // namespace sandgate
