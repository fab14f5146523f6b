#pragma once
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// Reads one JSON object that is a whole document: a request's body, say.
class DocumentReader : private Problems,  // first: the reader refers to them from its start
                       public ObjectReader {
 public:
  explicit DocumentReader(const Json& document) : ObjectReader(document, problems()) {}

  // For what is wrong with more than one member, and for readers of parts.
  Problems& problems() { return *this; }
  // Throws Error(invalid) with everything that is wrong, members that nobody asked for included.
  void finish_or_throw() {
    finish();
    throw_if_any();
  }
};

}  // namespace sandgate
