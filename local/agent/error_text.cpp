#include "local/agent/error_text.hpp"

#include "gateway/core/json_text.hpp"
#include "local/agent/protocol.hpp"

namespace sandgate::agent {

std::string error_text(const Error& error) {
  nlohmann::json document{{"code", to_string(error.code)}, {"message", error.what()}};
  if (!error.fields.empty()) {
    document["path"] = error.fields.front().path;
    document["message"] = error.fields.front().message;
  }
  std::string text = json_text(document);
  if (text.size() > kMaxPayload) text = R"({"code":"invalid","message":"the request is wrong"})";
  return text;
}

}  // namespace sandgate::agent
