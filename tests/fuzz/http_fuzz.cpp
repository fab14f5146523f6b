#include <cstdint>
#include <string>

#include "gateway/core/percent.hpp"
#include "gateway/http/connection_body.hpp"
#include "gateway/http/request_parser.hpp"
#include "gateway/http/target.hpp"
#include "gateway/http/token.hpp"
#include "tests/fuzz/cut_input.hpp"

// Bytes as a client may send them, in pieces as the network may cut them.
namespace sandgate::http {
namespace {

void read_request(std::string_view bytes, size_t piece) {
  Request request;
  const Limits limits;
  RequestParser parser(request, limits);
  std::string pending;
  std::array<char, 64> body;
  while (!bytes.empty()) {
    pending.append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    if (!parser.head_done()) pending.erase(0, parser.parse_head(pending));
    while (parser.head_done() && !parser.is_done() && !pending.empty()) {
      const size_t used = parser.parse_body(pending, body);
      pending.erase(0, used);
      if (used == 0 && parser.body_bytes() == 0) break;
    }
    if (parser.head_done() && parser.is_done()) break;
  }
  const Target target = split_target(request.target);
  (void)percent_decode(target.path);
  const Query query(target.query);
  (void)query.integer("n", 0, 10, 0);
  for (const auto& [name, value] : request.headers.fields()) {
    (void)is_traceparent(value);
    (void)has_token(value, name);
  }
}

}  // namespace
}  // namespace sandgate::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto [bytes, piece] = sandgate::CutInput(data, size);
  try {
    sandgate::http::read_request(bytes, piece);
  } catch (const sandgate::Error&) {
    // Refusing is what these functions are for.
  }
  return 0;
}
