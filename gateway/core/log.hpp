#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace sandgate::log {

using Field = std::pair<std::string_view, nlohmann::json>;
enum class Format { text, json };

// Writes one line per event to standard error. `event` is a short constant phrase; variable parts
// go into `fields`. Thread-safe. Secret has no conversion to JSON, so it cannot be a field.
void configure(Format format, std::string_view level);
// The settings in use, and their use in a child process that has no configuration of its own.
nlohmann::json settings();
void configure(const nlohmann::json& in_use);
void debug(std::string_view event, std::initializer_list<Field> fields = {});
void info(std::string_view event, std::initializer_list<Field> fields = {});
void warn(std::string_view event, std::initializer_list<Field> fields = {});
void error(std::string_view event, std::initializer_list<Field> fields = {});

}  // namespace sandgate::log
