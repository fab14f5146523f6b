#include "gateway/core/bounded_json.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxDepth = 64;

// Extracts position and reason from the library's "[json.exception.parse_error.101] parse error at
// line 1, column 9: syntax error while parsing value - invalid literal; last read: '...'". Drops
// the "last read" part, which may quote a secret.
std::string reason_of(std::string_view text) {
  const size_t start = text.find("] ");
  if (start != std::string_view::npos) text.remove_prefix(start + 2);
  return std::string(text.substr(0, text.find("; last read: ")));
}

// Builds the value from parser events, so that an oversized document is refused before it is built.
// The library's own parse with a callback is quadratic in a list's length: at the end of each
// object it scans the enclosing container.
class JsonBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit JsonBuilder(size_t max_values) : max_values_(max_values) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Open& object = open_.back();
    const auto [at, added] = object.value->emplace(std::move(name), nullptr);
    object.key = &at.key();
    object.member = &*at;
    if (!added) throw Error::invalid(path(), "appears twice in one object");
    return true;
  }
  bool parse_error(size_t, const std::string&, const Json::exception& failure) override {
    constexpr int kNumberTooLarge = 406;
    throw Error::invalid("", failure.id == kNumberTooLarge
                                 ? "not valid JSON: a number is too large"
                                 : "not valid JSON: " + reason_of(failure.what()));
  }

 private:
  struct Open {
    Json* value;
    const std::string* key = nullptr;  // the most recent key; null in an array
    Json* member = nullptr;  // the value of that key
  };

  Json& place(Json value) {
    if (++values_ > max_values_)
      throw Error::invalid("",
                           "the JSON holds more than " + std::to_string(max_values_) + " values");
    if (open_.empty()) return root_ = std::move(value);
    Open& outer = open_.back();
    if (outer.member) return *outer.member = std::move(value);
    outer.value->push_back(std::move(value));
    return outer.value->back();
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json empty) {
    if (open_.size() >= kMaxDepth) throw Error::invalid("", "the JSON is nested too deeply");
    open_.push_back({&place(std::move(empty))});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  std::string path() const {
    std::string path;
    for (const Open& one : open_)
      path += "/" + (one.key ? pointer_token(*one.key) : std::to_string(one.value->size() - 1));
    return path;
  }

  const size_t max_values_;
  size_t values_ = 0;
  Json root_;
  std::vector<Open> open_;
};

}  // namespace

Json parse_bounded_json(std::string_view text, size_t max_values) {
  // The library treats a NUL as the end of the text and ignores what follows.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw Error::invalid("", "not valid JSON: byte " + std::to_string(nul + 1) + " is a NUL");
  JsonBuilder builder(max_values);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace sandgate
