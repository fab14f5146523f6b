#pragma once
#include <optional>
#include <string>

namespace sandgate {

// The name in a machine's file; empty when there is no file. Throws Error(invalid) when the file
// does not hold a whole name: under another name, the gateway would not take care of the sandboxes
// that it made under this one.
std::optional<std::string> known_machine(const std::string& path);

// As known_machine(), but makes the file when there is none. Throws Error(unavailable) if it cannot
// be written.
std::string machine_name(const std::string& path);

// Tells a directory from its copies, on this machine or on a clone of it, until the next boot.
// Throws Error(unavailable) if it is not there.
std::string place_of(const std::string& directory);

}  // namespace sandgate
