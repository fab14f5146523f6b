#include "gateway/config/config.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include <libpq-fe.h>
#include <yaml-cpp/yaml.h>

#include "gateway/config/options.hpp"
#include "gateway/core/conninfo.hpp"
#include "gateway/core/fd.hpp"
#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

// SANDGATE_ variables that configure clients and tests, not the server.
constexpr std::array kForeign{"SANDGATE_URL", "SANDGATE_API_KEY", "SANDGATE_TENANT",
                              "SANDGATE_TEST_", "SANDGATE_BINARY"};

std::string pointer(const std::string& path) {
  std::string text = "/" + path;
  std::replace(text.begin(), text.end(), '.', '/');
  return text;
}

// Whether a variable's name starts like a setting of a known group. Other SANDGATE_ variables may
// have another source: a cluster sets SANDGATE_PORT and others for a service named "sandgate".
bool is_meant_for_us(const std::string& name) {
  for (const Option& option : options()) {
    const size_t group = option.path.find('.');
    const std::string whole = environment_name(option.path.substr(0, group));
    if (name.starts_with(group == std::string::npos ? whole : whole + "_")) return true;
  }
  return false;
}

const Option* find_option(const std::string& path) {
  for (const Option& option : options())
    if (option.path == path) return &option;
  return nullptr;
}

bool is_group(const std::string& path) {
  return std::ranges::any_of(options(), [group = path + "."](const Option& option) {
    return option.path.starts_with(group);
  });
}

// Why there is no setting of this name.
std::string about_unknown(const std::string& path) {
  return is_group(path) ? "has settings below it: give these" : "is not a known setting";
}

void apply(Config& config, const std::string& path, const std::string& value,
           const std::string& origin, Problems& problems) {
  const Option* option = find_option(path);
  if (!option) return problems.add(pointer(path), about_unknown(path) + " (" + origin + ")");
  if (const std::string wrong = option->set(config, value); !wrong.empty())
    problems.add(pointer(path), wrong + " (" + origin + ")");
}

void apply_node(Config& config, const std::string& path, const YAML::Node& node,
                const std::string& file, Problems& problems) {
  if (node.IsNull() || (node.IsMap() && node.size() == 0)) {
    if (!find_option(path) && !is_group(path))
      problems.add(pointer(path), "is not a known setting (" + file + ")");
  } else if (node.IsMap()) {
    std::set<std::string> seen;
    for (const auto& member : node) {
      const std::string name = member.first.as<std::string>();
      const std::string below = path.empty() ? name : path + "." + name;
      if (!seen.insert(name).second)
        problems.add(pointer(below), "is there twice: leave one (" + file + ")");
      else
        apply_node(config, below, member.second, file, problems);
    }
  } else if (node.IsScalar()) {
    apply(config, path, node.as<std::string>(), file, problems);
  } else {
    const bool is_setting = find_option(path) != nullptr;
    problems.add(pointer(path),
                 (is_setting ? "must be a single value" : about_unknown(path)) + " (" + file + ")");
  }
}

// Of a regular file; empty for others, which may keep the reader waiting for a writer.
std::optional<std::string> read_at_once(const std::string& file) {
  const Fd held(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!held || fstat(held.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return read_text_file(fd_path(held));
}

void apply_file(Config& config, const std::string& file, bool again, Problems& problems) {
  std::error_code unknown;  // reading says why
  if (std::filesystem::is_directory(file, unknown))
    return problems.add("", file + " is a directory: name the settings file");
  const auto text = again ? read_at_once(file) : read_text_file(file);
  if (!text)
    return problems.add("", again ? "cannot read " + file + " again: only a regular file can be"
                                  : cannot_read(file));
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(*text);
    if (documents.size() > 1)
      return problems.add("", file + " has several documents: leave one, without a '---' inside");
    const YAML::Node document = documents.empty() ? YAML::Node() : documents[0];
    if (!document.IsNull() && !document.IsMap())
      return problems.add("", file + " must be a map of settings");
    if (document.IsMap() && document.size() > 0) apply_node(config, "", document, file, problems);
  } catch (const YAML::Exception& failure) {
    problems.add("", file + ": " + failure.what());
  }
}

void apply_environment(Config& config, const std::map<std::string, std::string>& environment,
                       Problems& problems) {
  std::map<std::string, std::string> known;
  for (const Option& option : options()) known[environment_name(option.path)] = option.path;
  for (const auto& [name, value] : environment) {
    const bool foreign = std::any_of(kForeign.begin(), kForeign.end(),
                                     [&](const char* prefix) { return name.starts_with(prefix); });
    if (!name.starts_with("SANDGATE_") || foreign) continue;
    if (const auto found = known.find(name); found != known.end())
      apply(config, found->second, value, name, problems);
    else if (is_meant_for_us(name))
      problems.add("", name +
                           " is not a known setting: see 'sandgate serve --help' and the example"
                           " file for their names");
    else
      config.warnings.push_back(name + " is not a known setting and has no effect");
  }
}

std::string default_home(const std::map<std::string, std::string>& environment) {
  if (geteuid() == 0) return "/var/lib/sandgate";
  const auto home = environment.find("HOME");
  if (home == environment.end() || home->second.empty()) return "";
  return home->second + "/.local/share/sandgate";
}

void check_database_url(const std::string& url, Problems& problems) {
  if (url.empty()) return;
  char* reason = nullptr;
  PQconninfoOption* parsed = PQconninfoParse(url.c_str(), &reason);
  // libpq's message is not used, because it quotes the text, which may hold a password.
  if (!parsed)
    problems.add("/database/url",
                 "is neither a URL such as postgresql://user@host/name nor a libpq string such as "
                 "\"host=db user=sandgate dbname=sandgate\"");
  PQconninfoFree(parsed);
  PQfreemem(reason);
}

void check_whole(const Config& config, Problems& problems) {
  if (config.tls.certificate.empty() != config.tls.key.empty())
    problems.add("/tls", "needs both certificate and key");
  if (config.home.empty())
    problems.add("/home", "needs a directory: the environment has no HOME to make one in");
  else if (!config.home.starts_with("/"))
    problems.add("/home", "must be an absolute path");
  if (config.listen_address.empty()) problems.add("/listen", "needs an address");
  check_database_url(config.database.url, problems);
}

}  // namespace

std::string Config::database_url() const {
  if (!database.url.empty()) return database.url;
  return "host=" + conninfo_value(postgres_socket()) + " user=sandgate dbname=sandgate";
}

Config load_config(const ConfigSources& sources) {
  Config config;
  Problems problems;
  config.home = default_home(sources.environment);
  if (!sources.file.empty()) apply_file(config, sources.file, sources.again, problems);
  apply_environment(config, sources.environment, problems);
  for (const auto& [path, value] : sources.flags)
    apply(config, path, value, "command line", problems);
  check_whole(config, problems);
  problems.throw_if_any();
  return config;
}

void configure_log(const Config& config) {
  log::configure(config.log.format == "json" ? log::Format::json : log::Format::text,
                 config.log.level);
}

Json to_json(const Config& config) {
  Json document = Json::object();
  for (const Option& option : options()) document[option.path] = option.get(config);
  return document;
}

Config config_from_json(const Json& document) {
  Config config;
  Problems problems;
  for (const auto& [path, value] : document.items())
    apply(config, path, value.get<std::string>(), "parent process", problems);
  problems.throw_if_any();
  return config;
}

}  // namespace sandgate
