#include "gateway/core/log.hpp"

#include <atomic>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "gateway/core/json_text.hpp"
#include "gateway/core/time.hpp"

namespace sandgate::log {
namespace {

std::atomic<Format> format_in_use = Format::text;

spdlog::logger& logger() {
  static const auto instance = [] {
    auto created = spdlog::stderr_logger_mt("sandgate");
    created->set_pattern("%v");
    return created;
  }();
  return *instance;
}

std::string as_json(std::string_view level, std::string_view event,
                    std::initializer_list<Field> fields) {
  nlohmann::ordered_json line;
  line["time"] = to_rfc3339(SystemClock().now());
  line["level"] = level;
  line["event"] = event;
  for (const auto& [name, value] : fields) line[std::string(name)] = value;
  return json_text(line);
}

std::string as_text(std::string_view level, std::string_view event,
                    std::initializer_list<Field> fields) {
  std::string line = to_rfc3339(SystemClock().now());
  line.append(" ").append(level).append(" ").append(event);
  for (const auto& [name, value] : fields)
    line.append(" ").append(name).append("=").append(json_text(value));
  return line;
}

void write(spdlog::level::level_enum level, std::string_view event,
           std::initializer_list<Field> fields) {
  if (!logger().should_log(level)) return;
  const auto name = spdlog::level::to_string_view(level);
  const std::string_view level_name(name.data(), name.size());
  const auto render = format_in_use == Format::json ? as_json : as_text;
  logger().log(level, render(level_name, event, fields));
}

}  // namespace

void configure(Format format, std::string_view level) {
  format_in_use = format;
  logger().set_level(spdlog::level::from_str(std::string(level)));
  logger().flush_on(spdlog::level::info);
}

nlohmann::json settings() {
  const auto level = spdlog::level::to_string_view(logger().level());
  return {{"format", format_in_use == Format::json ? "json" : "text"},
          {"level", std::string(level.data(), level.size())}};
}

void configure(const nlohmann::json& in_use) {
  configure(in_use.at("format") == "json" ? Format::json : Format::text,
            in_use.at("level").get<std::string>());
}

void debug(std::string_view event, std::initializer_list<Field> fields) {
  write(spdlog::level::debug, event, fields);
}
void info(std::string_view event, std::initializer_list<Field> fields) {
  write(spdlog::level::info, event, fields);
}
void warn(std::string_view event, std::initializer_list<Field> fields) {
  write(spdlog::level::warn, event, fields);
}
void error(std::string_view event, std::initializer_list<Field> fields) {
  write(spdlog::level::err, event, fields);
}

}  // namespace sandgate::log
