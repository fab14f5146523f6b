#pragma once
#include <memory>
#include <optional>

#include "gateway/app/settings_flags.hpp"
#include "gateway/cli/keys.hpp"

namespace sandgate {

// `sandgate keys create --operator` on the server's machine: writes the key into the database that
// the server's configuration names. Nobody has to have a key already.
class OperatorKey : public std::enable_shared_from_this<OperatorKey> {
 public:
  // --config and --set of that command.
  void add_flags(CLI::App& command) { flags_.emplace(command); }
  // Lives as long as what it returns.
  cli::OperatorKeyMaker maker();

 private:
  Json make(const Json& body) const;

  std::optional<SettingsFlags> flags_;
};

}  // namespace sandgate
