#pragma once
#include <string>

#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// A file's bytes; "-" is standard input. Throws Error(not_found) when it can't be read.
std::string text_in(const std::string& path);

// A YAML or JSON file as a document; "-" is standard input. Throws Error(not_found) when it can't
// be read, Error(invalid) when it is neither.
Json document_in(const std::string& path);

}  // namespace sandgate::cli
