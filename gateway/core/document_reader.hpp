#pragma once
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// Reads a whole document that is one JSON object, such as a request's body.
class DocumentReader : private Problems,  // first: the reader refers to them from its start
                       public ObjectReader {
 public:
  explicit DocumentReader(const Json& document) : ObjectReader(document, problems()) {}

  // For problems that concern several members, and for readers of nested objects.
  Problems& problems() { return *this; }
  // Throws Error(invalid) that lists every problem, including members that were never read.
  void finish_or_throw() {
    finish();
    throw_if_any();
  }
};

}  // namespace sandgate
