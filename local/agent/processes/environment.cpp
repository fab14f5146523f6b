#include "local/agent/processes/environment.hpp"

#include "gateway/core/json_reader.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxVariables = 4096;
constexpr size_t kMaxVariable = 128 * 1024 - 1;  // bytes of NAME=value: MAX_ARG_STRLEN has a NUL

}  // namespace

std::map<std::string, std::string> read_environment(ObjectReader& reader, Problems& problems) {
  auto env = reader.text_map("env", kMaxVariables, {.min = 0, .max = kMaxEnvironment});
  if (!env) return {};
  size_t bytes = 0;
  for (const auto& [name, value] : *env) {
    bytes += name.size() + value.size();
    if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos)
      problems.add("/env", "a variable's name is empty or has '='");
    if (name.size() + 1 + value.size() > kMaxVariable)
      problems.add("/env/" + pointer_token(name), "is longer than a program can be given");
  }
  if (bytes > kMaxEnvironment) problems.add("/env", "is longer than 128 KiB");
  return *env;
}

std::vector<std::string> environment_of(const Identity& identity, bool terminal,
                                        const std::map<std::string, std::string>& sandbox,
                                        const std::map<std::string, std::string>& command) {
  std::map<std::string, std::string> all = command;
  all.insert(sandbox.begin(), sandbox.end());
  const std::string admin = identity.root() ? "/usr/local/sbin:/usr/sbin:/sbin:" : "";
  all.insert({{"HOME", identity.home},
              {"USER", identity.name},
              {"LOGNAME", identity.name},
              {"PATH", admin + "/usr/local/bin:/usr/bin:/bin"},
              {"LANG", "C.UTF-8"}});
  if (terminal) all.insert({"TERM", "xterm-256color"});
  std::vector<std::string> env;
  for (const auto& [name, value] : all) env.push_back(name + "=" + value);
  return env;
}

}  // namespace sandgate::agent
