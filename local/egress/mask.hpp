#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/secret.hpp"
#include "local/egress/answer_frames.hpp"

namespace sandgate::egress {

// A value to look for, with what makes the search linear whatever is in it and in the text: how
// much of its beginning each of its beginnings ends with.
struct Needle {
  explicit Needle(Secret text);

  Secret value;
  std::vector<uint32_t> borders;
};
using Needles = std::vector<std::shared_ptr<const Needle>>;

// Hides values in what an upstream answers, so that one that echoes its requests tells nothing:
// each byte of a value becomes '*', so no length changes, also where the answer's chunks cut it.
// Best effort: it sees literal values only. Takes time in proportion to what passes: the loop is
// everybody's, and a tenant may have made both the values and the answer.
class Mask {
 public:
  Mask() = default;  // hides nothing
  explicit Mask(Needles values);

  std::string pass(std::string_view bytes);  // may keep the end back
  std::string rest();  // what was kept back
  bool hides() const { return !searches_.empty(); }

 private:
  struct Search {
    std::shared_ptr<const Needle> needle;
    size_t found = 0;  // of its beginning, at the end of what was said
    size_t hidden = 0;  // where in places_ the last one ended

    bool step(char next);  // whether that completed it
  };

  void take(std::string_view bytes);
  void say(size_t place);
  void hide(Search& search);
  std::string release(size_t kept_back);

  std::vector<Search> searches_;
  AnswerFrames frames_;
  std::string bytes_;  // not passed on yet
  std::vector<size_t> places_;  // in bytes_, of what is said without framing
};

}  // namespace sandgate::egress
