#pragma once
#include <optional>
#include <string>

namespace sandgate {

// The name in a machine's file; empty when there is no file. Throws Error(invalid) when the file
// does not hold a whole name: with another one, the gateway would leave the sandboxes that it has
// to nobody.
std::optional<std::string> known_machine(const std::string& path);

// As known_machine(), but makes the file when there is none. Throws Error(unavailable) if it cannot
// be written.
std::string machine_name(const std::string& path);

}  // namespace sandgate
