#pragma once
#include <cstddef>

namespace sandgate::egress {

// How the first bytes of what was given to a parser count.
struct ResponseSpan {
  enum class Kind {
    content,
    control,  // content of a message of its own, which may lie within another one
    framing,
    dropped,  // framing that means nothing and is not passed on
    lost  // not understood; nothing that follows can be told apart
  };
  size_t bytes = 0;
  Kind kind = Kind::content;
  bool ends_message = false;  // what follows is not the same text
};

}  // namespace sandgate::egress
