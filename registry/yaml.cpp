#include "registry/yaml.hpp"

#include <charconv>
#include <cmath>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "gateway/core/number_text.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxDepth = 64;
// The most text that a document may have once its aliases are expanded.
constexpr size_t kMaxTextBytes = 4 << 20;

[[noreturn]] void fail(const YAML::Mark& mark, const std::string& reason) {
  throw Error::invalid("", "not valid YAML: line " + std::to_string(mark.line + 1) + ", column " +
                               std::to_string(mark.column + 1) + ": " + reason);
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool only(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

// [-+]?[0-9]+, 0o…, 0x…; empty when the text is no integer of the core schema or does not fit.
std::optional<int64_t> integer_from(std::string_view text) {
  const auto unsigned_in = [&](int base) {
    const std::string_view digits = text.substr(2);
    return digits.starts_with('-') ? std::nullopt : number_from<int64_t>(digits, base);
  };
  if (text.starts_with("0o")) return unsigned_in(8);
  if (text.starts_with("0x")) return unsigned_in(16);
  const std::string_view digits = text.substr(text.starts_with('+') || text.starts_with('-'));
  if (!only(digits, "0123456789")) return std::nullopt;
  return number_from<int64_t>(text.starts_with('+') ? digits : text, 10);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool is_float(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (power.starts_with('+') || power.starts_with('-')) power.remove_prefix(1);
    if (!only(power, kDigits)) return false;
    text = text.substr(0, exponent);
  }
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "" : text.substr(point + 1);
  const auto digits_or_nothing = [](std::string_view part) {
    return part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return digits_or_nothing(whole) && digits_or_nothing(fraction) &&
         !(whole.empty() && fraction.empty());
}

// A plain scalar by the core schema.
Json resolve(const std::string& text, const YAML::Mark& mark) {
  if (one_of(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
  if (one_of(text, {"true", "True", "TRUE"})) return true;
  if (one_of(text, {"false", "False", "FALSE"})) return false;
  if (const auto integer = integer_from(text)) return *integer;
  std::string_view magnitude = text;
  if (magnitude.starts_with('+') || magnitude.starts_with('-')) magnitude.remove_prefix(1);
  if (one_of(magnitude, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"}))
    fail(mark, "numbers must be finite");
  if (!is_float(text)) return text;
  const std::string_view digits = text.starts_with('+') ? std::string_view(text).substr(1) : text;
  double value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc() || !std::isfinite(value)) fail(mark, "the number is out of range");
  return value;
}

struct Weight {
  size_t nodes = 0, text_bytes = 0;
};

Weight weigh(const Json& value) {
  Weight sum{1, value.is_string() ? value.get_ref<const std::string&>().size() : 0};
  if (!value.is_structured()) return sum;
  for (const auto& [key, item] : value.items()) {
    const Weight part = weigh(item);
    sum.nodes += part.nodes;
    sum.text_bytes += part.text_bytes + (value.is_object() ? key.size() : 0);
  }
  return sum;
}

// Builds the value from parser events, so that limits apply before aliases are expanded.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(size_t max_nodes) : max_nodes_(max_nodes) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (done_) fail(mark, "there must be one document only");
  }
  void OnDocumentEnd() override { done_ = true; }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    scalar(mark, anchor, nullptr, "null");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return scalar(mark, anchor, text, text);
    if (tag != "?" && tag != "") fail(mark, "the tag '" + tag + "' is not supported");
    // A key is always text: "1: x" and "on: x" name members.
    scalar(mark, anchor, expects_key() ? Json(text) : resolve(text, mark), text);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "the alias names a node that is not complete");
    const Json& value = found->second;
    const Weight weight = weigh(value);
    spend(mark, weight.nodes, weight.text_bytes);
    if (!expects_key()) return add(mark, value);
    if (!value.is_string()) fail(mark, "keys must be texts");
    take_key(mark, value.get<std::string>());
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, "tag:yaml.org,2002:seq", anchor, Json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, "tag:yaml.org,2002:map", anchor, Json::object());
  }
  void OnMapEnd() override { close(); }

  Json take() { return std::move(root_); }

 private:
  struct Frame {
    Json value;
    std::optional<std::string> key;  // read, while its value is not
    YAML::anchor_t anchor;
    YAML::Mark mark;
  };

  bool expects_key() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().key;
  }

  void spend(const YAML::Mark& mark, size_t nodes, size_t text_bytes) {
    nodes_ += nodes;
    text_bytes_ += text_bytes;
    if (nodes_ > max_nodes_ || text_bytes_ > kMaxTextBytes) fail(mark, "the document is too large");
  }

  void scalar(const YAML::Mark& mark, YAML::anchor_t anchor, Json value, const std::string& text) {
    spend(mark, 1, text.size());
    if (expects_key()) {
      remember(anchor, text);
      return take_key(mark, text);
    }
    remember(anchor, value);
    add(mark, std::move(value));
  }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    if (open_.back().value.contains(key)) fail(mark, "the key '" + key + "' appears twice");
    open_.back().key = key;
  }

  void open(const YAML::Mark& mark, const std::string& tag, std::string_view standard,
            YAML::anchor_t anchor, Json empty) {
    if (tag != "?" && tag != "" && tag != "!" && tag != standard)
      fail(mark, "the tag '" + tag + "' is not supported");
    if (expects_key()) fail(mark, "keys must be texts");
    if (open_.size() >= kMaxDepth) fail(mark, "the document is nested too deeply");
    spend(mark, 1, 0);
    open_.push_back({std::move(empty), std::nullopt, anchor, mark});
  }

  void close() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    remember(frame.anchor, frame.value);
    add(frame.mark, std::move(frame.value));
  }

  void remember(YAML::anchor_t anchor, const Json& value) {
    if (anchor == YAML::NullAnchor) return;
    const Weight weight = weigh(value);
    spend({}, weight.nodes, weight.text_bytes);
    anchors_[anchor] = value;
  }

  void add(const YAML::Mark&, Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = open_.back();
    if (frame.value.is_array())
      frame.value.push_back(std::move(value));
    else
      frame.value[*std::exchange(frame.key, std::nullopt)] = std::move(value);
  }

  const size_t max_nodes_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, Json> anchors_;
  Json root_;
  bool done_ = false;
  size_t nodes_ = 0, text_bytes_ = 0;
};

}  // namespace

Json yaml_to_json(std::string_view text, size_t max_nodes) {
  // yaml-cpp replaces bad bytes and stops at a NUL, so both are refused first.
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos)
    throw Error::invalid("", "not valid YAML: the text must be UTF-8 without NUL");
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(max_nodes);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
  } catch (const YAML::Exception& failure) {
    fail(failure.mark, failure.msg);
  }
}

}  // namespace sandgate
