#pragma once
#include <memory>
#include <optional>

#include "gateway/app/settings_flags.hpp"
#include "gateway/cli/commands/keys.hpp"

namespace sandgate {

// `sandgate keys create --operator` on the server's machine: writes the key directly into the
// database named by the server's configuration, so that no key is needed beforehand.
class OperatorKey : public std::enable_shared_from_this<OperatorKey> {
 public:
  // Adds --config and --set to that command.
  void add_flags(CLI::App& command) { flags_.emplace(command); }
  // The returned function keeps this object alive.
  cli::OperatorKeyMaker maker();

 private:
  Json make(const Json& body) const;

  std::optional<SettingsFlags> flags_;
};

}  // namespace sandgate
