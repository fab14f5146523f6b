#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/secret.hpp"
#include "local/egress/response_parser.hpp"

namespace sandgate::egress {

// A value to search for, with the failure function of Knuth-Morris-Pratt, which makes the search
// linear for any text: for each prefix, the length of its longest proper prefix that is a suffix.
struct Needle {
  explicit Needle(Secret text);

  Secret value;
  std::vector<uint32_t> borders;
};
using Needles = std::vector<std::shared_ptr<const Needle>>;

// Streaming filter that hides secret values in an upstream's response, in case it echoes requests.
// Each byte of a value becomes '*', so no length changes, even when chunks or frames split the
// value (but not messages of a WebSocket). Best effort: it finds literal values only. Of a value
// above 256 bytes, a beginning of that length is hidden, too, so that no more is ever held back.
// The time is linear in the bytes, because one loop serves all sandboxes and a tenant may control
// both the values and the response.
class Redactor {
 public:
  Redactor() = default;  // hides nothing
  explicit Redactor(Needles values);

  std::string redact(std::string_view bytes);  // returns masked bytes; may hold back the last ones
  std::string flush();  // returns the bytes held back; call it at the end
  // The response's framing was not understood, or is endless: nothing more is returned.
  bool has_failed() const { return failed_; }
  bool is_active() const { return !searches_.empty(); }

 private:
  struct Search {
    std::shared_ptr<const Needle> needle;
    size_t found = 0;  // length of the value's prefix matched so far
    size_t hidden = 0;  // index in places_ where the last match ended

    // Returns how many bytes up to this one are to be hidden.
    size_t step(char next);
  };

  void take(std::string_view bytes);
  void search_at(size_t place);
  void hide_control();
  void hide(Search& search, size_t matched);
  std::string release(size_t kept_back);

  std::vector<Search> searches_;
  ResponseParser frames_;
  std::string bytes_;  // received but not returned yet
  bool failed_ = false;
  std::vector<size_t> places_;  // indexes in bytes_ of content, without framing
  std::optional<size_t> control_;  // where in bytes_ an unfinished control frame's content begins
};

}  // namespace sandgate::egress
