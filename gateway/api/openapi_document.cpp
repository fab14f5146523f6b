#include "gateway/api/openapi_document.hpp"

#include <yaml-cpp/yaml.h>

#include "gateway/core/field_text.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate::api {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson scalar_of(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  // yaml-cpp tags a quoted scalar with "!": it is text.
  if (node.Tag() == "!") return text;
  bool flag;
  if ((text == "true" || text == "false") && YAML::convert<bool>::decode(node, flag)) return flag;
  if (text == "null" || text == "~" || text.empty()) return nullptr;
  const OrderedJson number = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  return number.is_number() ? number : OrderedJson(text);
}

OrderedJson json_of(const YAML::Node& node) {
  if (node.IsMap()) {
    OrderedJson object = OrderedJson::object();
    for (const auto& member : node) object[member.first.Scalar()] = json_of(member.second);
    return object;
  }
  if (node.IsSequence()) {
    OrderedJson list = OrderedJson::array();
    for (const auto& item : node) list.push_back(json_of(item));
    return list;
  }
  return node.IsScalar() ? scalar_of(node) : OrderedJson();
}

// Adds the names of the parameters that a path or operation lists.
void add_names(const Json& document, const Json& owner, std::vector<std::string>& names) {
  for (const Json& listed : owner.value("parameters", Json::array())) {
    const bool elsewhere = listed.contains("$ref");
    const Json& parameter =
        elsewhere ? document.at(Json::json_pointer(listed.at("$ref").get<std::string>().substr(1)))
                  : listed;
    if (parameter.at("in") == "query") names.push_back(parameter.at("name").get<std::string>());
  }
  for (const Json& prefix : owner.value("x-query-prefixes", Json::array()))
    names.push_back(prefix.get<std::string>());
}

}  // namespace

std::string openapi_json(const std::string& yaml) {
  try {
    return json_of(YAML::Load(yaml)).dump();
  } catch (const YAML::Exception& failure) {
    throw Error(ErrorCode::internal, std::string("not valid YAML: ") + failure.what());
  }
}

http::QueryNames query_names_of(const std::string& json, const http::Routes& routes) {
  const Json document = Json::parse(json);
  http::QueryNames all;
  for (const http::Route& route : routes.all()) {
    if (!route.pattern.starts_with("/v1/")) continue;
    std::vector<std::string> names;
    const auto path = document.at("paths").find(route.pattern);
    if (path != document.at("paths").end()) {
      const auto method = route.method == http::Method::head ? http::Method::get : route.method;
      add_names(document, *path, names);
      add_names(document, path->value(ascii_lower(to_string(method)), Json::object()), names);
    }
    all.set(route, std::move(names));
  }
  return all;
}

}  // namespace sandgate::api
