#include "gateway/core/conninfo.hpp"

#include <map>
#include <memory>

#include <libpq-fe.h>

namespace sandgate {

std::string conninfo_value(const std::string& value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

std::string conninfo_with_timeouts(const std::string& url) {
  std::map<std::string, std::string> parameters{{"connect_timeout", "5"},
                                                {"keepalives_idle", "10"},
                                                {"keepalives_interval", "5"},
                                                {"keepalives_count", "3"},
                                                {"tcp_user_timeout", "15000"}};
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed(
      PQconninfoParse(url.c_str(), nullptr), &PQconninfoFree);
  if (!parsed) return url;
  for (const PQconninfoOption* option = parsed.get(); option->keyword; ++option)
    if (option->val) parameters[option->keyword] = option->val;
  std::string text;
  for (const auto& [name, value] : parameters) text += name + "=" + conninfo_value(value) + " ";
  return text;
}

}  // namespace sandgate
