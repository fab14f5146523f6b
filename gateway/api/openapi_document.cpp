#include "gateway/api/openapi_document.hpp"

#include <yaml-cpp/yaml.h>

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

}  // namespace

std::string openapi_json(const std::string& yaml) {
  try {
    return json_of(YAML::Load(yaml)).dump();
  } catch (const YAML::Exception& failure) {
    throw Error(ErrorCode::internal, std::string("not valid YAML: ") + failure.what());
  }
}

}  // namespace sandgate::api
