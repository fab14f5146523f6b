#include "gateway/config/reload.hpp"

#include "gateway/config/options.hpp"

namespace sandgate {
namespace {

bool counts_at_once(const std::string& path) {
  return path.starts_with("limits.") || path == "log.level";
}

}  // namespace

ReloadedConfig reloaded(const Config& running, const Config& read_again) {
  ReloadedConfig result{running, {}, {}};
  for (const Option& option : options()) {
    const std::string wanted = option.get(read_again);
    if (wanted == option.get(running)) continue;
    if (!counts_at_once(option.path)) {
      result.waiting.push_back(option.path);
      continue;
    }
    option.set(result.config, wanted);
    result.changed.push_back(option.path);
  }
  return result;
}

}  // namespace sandgate
