#include "providers/vendor_json.hpp"

#include <cmath>

namespace sandgate {
namespace {

constexpr int kMaxLevels = 64;
constexpr size_t kMaxValues = 500'000, kMaxRecordValues = 32'768;

// Whether there are more brackets outside of strings, nested or beside each other, or more commas,
// than a document of `most` values may have. Right for JSON, and for all text up to the place at
// which it stops being JSON.
bool is_too_large(std::string_view text, size_t most) {
  int level = 0;
  size_t values = 1;
  bool is_quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_quoted && c == '\\')
      ++at;
    else if (c == '"')
      is_quoted = !is_quoted;
    else if (!is_quoted && (c == '[' || c == '{') && (++level > kMaxLevels || ++values > most))
      return true;
    else if (!is_quoted && (c == ']' || c == '}'))
      --level;
    else if (!is_quoted && c == ',' && ++values > most)
      return true;
  }
  return false;
}

Json parse_bounded(std::string_view text, size_t most) {
  if (is_too_large(text, most)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

Json parse_answer(std::string_view text) { return parse_bounded(text, kMaxValues); }
Json parse_record(std::string_view text) { return parse_bounded(text, kMaxRecordValues); }

Error unexpected_answer(std::string_view provider) {
  Error error(ErrorCode::unavailable,
              std::string(provider) + " sent an answer that is not of its API");
  error.provider = provider;
  return error;
}

Json field_of(const Json& document, std::string_view name) {
  if (!document.is_object()) return Json();
  const auto found = document.find(name);
  return found != document.end() ? *found : Json();
}

std::string text_of(const Json& document, std::string_view name) {
  if (!document.is_object()) return "";
  const auto found = document.find(name);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t milli_of(const Json& document, std::string_view name) {
  constexpr double kMaxValue = 1 << 30;
  if (!document.is_object()) return 0;
  const auto found = document.find(name);
  if (found == document.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return value > 0 && value < kMaxValue ? std::llround(value * 1000) : 0;
}

std::optional<Time> time_of(const Json& document, std::string_view name) {
  constexpr int64_t kMaxMillis = int64_t{1} << 43;  // the year 2248
  const Json time = field_of(document, name);
  if (time.is_string()) return from_rfc3339(time.get_ref<const std::string&>());
  const int64_t millis = time.is_number_integer() ? time.get<int64_t>() : 0;
  return millis > 0 && millis < kMaxMillis ? std::optional(from_micros(millis * 1000))
                                           : std::nullopt;
}

std::optional<int> exit_status_of(const Json& document, std::string_view name) {
  const Json status = field_of(document, name);
  if (!status.is_number_integer()) return std::nullopt;
  return static_cast<int>(status.get<int64_t>());
}

const Json& list_of(std::string_view provider, const Json& document, const char* name) {
  if (!document.is_object()) throw unexpected_answer(provider);
  const auto found = document.find(name);
  if (found == document.end() || !found->is_array()) throw unexpected_answer(provider);
  return *found;
}

bool may_have_key(std::string_view url, std::string_view api_url) {
  if (url.starts_with("https://") || url.starts_with("wss://")) return true;
  return api_url.starts_with("http://") && (url.starts_with("http://") || url.starts_with("ws://"));
}

void put_tags(Json& labels, std::string_view sandbox_id, std::string_view installation) {
  labels[kSandboxTag] = sandbox_id;
  if (!installation.empty()) labels[kInstallationTag] = installation;
}

void read_tags(const Json& labels, BackendSandbox& sandbox) {
  sandbox.sandbox_id = text_of(labels, kSandboxTag);
  sandbox.installation = text_of(labels, kInstallationTag);
}

}  // namespace sandgate
