#pragma once
#include "gateway/core/json_reader.hpp"
#include "providers/provider.hpp"

// Pure conversions of an agent's JSON to values. Each throws Error(unavailable) for malformed JSON.
namespace sandgate::agent {

FileEntry to_file_entry(const Json& document);
ProcessExit to_process_exit(const Json& document);
ProcessInfo to_process_info(const Json& document);
FileChange to_file_change(const Json& document);

}  // namespace sandgate::agent
