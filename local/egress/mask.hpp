#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/secret.hpp"
#include "local/egress/answer_frames.hpp"

namespace sandgate::egress {

// Hides values in what an upstream answers, so that one that echoes its requests tells nothing:
// each byte of a value becomes '*', so no length changes, also where the answer's chunks cut it.
// Best effort: it sees literal values only.
class Mask {
 public:
  Mask() = default;  // hides nothing
  explicit Mask(std::vector<Secret> values);

  std::string pass(std::string_view bytes);  // may keep the end back
  std::string rest();  // what was kept back
  bool hides() const { return !values_.empty(); }

 private:
  void take(std::string_view bytes);
  void hide(const std::string& value);
  std::string release(size_t kept_back);

  std::vector<Secret> values_;
  AnswerFrames frames_;
  std::string bytes_;  // not passed on yet
  std::string said_;  // of them, without framing
  std::vector<size_t> places_;  // of each byte of said_ in bytes_
};

}  // namespace sandgate::egress
