#include "gateway/core/log.hpp"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "gateway/core/json_text.hpp"
#include "gateway/core/line_output.hpp"
#include "gateway/core/time.hpp"

namespace sandgate::log {
namespace {

std::atomic<Format> format_in_use = Format::text;

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

std::string rendered(spdlog::level::level_enum level, std::string_view event,
                     std::initializer_list<Field> fields) {
  const auto name = spdlog::level::to_string_view(level);
  const std::string_view level_name(name.data(), name.size());
  const auto render = format_in_use == Format::json ? as_json : as_text;
  return render(level_name, event, fields) + "\n";
}

std::string note_of(uint64_t left_out) {
  return rendered(spdlog::level::warn, "lines of the log were left out", {{"lines", left_out}});
}

// Whoever reads the log must not be able to stop the program.
class StandardError : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    output_.write({message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

 private:
  LineOutput output_{STDERR_FILENO, note_of};
};

spdlog::logger& logger() {
  // Not destroyed: threads may log while the program ends.
  static auto* const instance = new spdlog::logger("sandgate", std::make_shared<StandardError>());
  return *instance;
}

void write(spdlog::level::level_enum level, std::string_view event,
           std::initializer_list<Field> fields) {
  if (logger().should_log(level)) logger().log(level, rendered(level, event, fields));
}

}  // namespace

void configure(Format format, std::string_view level) {
  format_in_use = format;
  logger().set_level(spdlog::level::from_str(std::string(level)));
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
