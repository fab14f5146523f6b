#pragma once
#include <string>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// Reads a file; "-" is standard input. Throws Error(not_found) if it cannot be read and
// Error(invalid) if it is a directory.
std::string read_text(const std::string& path);

// Parses a YAML or JSON file; "-" is standard input. Throws Error(not_found) if it cannot be read
// and Error(invalid), with the file's name, if it is malformed.
Json read_document(const std::string& path);

// The error with the file's name before what it says.
Error about_file(const std::string& path, const Error& error);

}  // namespace sandgate::cli
