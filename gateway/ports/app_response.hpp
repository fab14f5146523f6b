#pragma once
#include <span>
#include <string>
#include <vector>

#include "gateway/core/error.hpp"
#include "gateway/http/body_parser.hpp"

namespace sandgate::ports {

// Parses one response of a program in a sandbox, which is untrusted. Rejects ambiguous framing,
// heads over 24 KiB and more than 200 fields.
class AppResponse final : public http::BodyParser<false> {
 public:
  using field = boost::beast::http::field;

  // `to_head`: answers a HEAD request, so it has no body, whatever its fields say.
  explicit AppResponse(bool to_head);

  // Consumes bytes of the head; returns how many. Throws Error(unavailable).
  size_t parse_head(std::string_view bytes);
  bool head_done() const { return head_done_; }
  // Decodes bytes of a chunked body into `into`; returns how many it consumed. Throws the same.
  size_t parse_body(std::string_view bytes, std::span<char> into);

  int status() const { return status_; }
  const std::string& reason() const { return reason_; }
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }
  bool informational() const { return status_ < 200 && status_ != 101; }
  // Whether a 101 names exactly one protocol, and it is WebSocket.
  bool to_websocket() const;
  bool has_body() const;

 private:
  bool awaits_status_line(std::string_view bytes) const;
  // Consumes a status line that ends after the status; 0 for any other.
  size_t parse_bare_status(std::string_view bytes, error_code& failure);
  void on_request_impl(boost::beast::http::verb, string_view, string_view, int,
                       error_code&) override {}
  void on_response_impl(int code, string_view reason, int version, error_code& ec) override;
  void on_field_impl(field name, string_view name_text, string_view value, error_code& ec) override;
  void on_header_impl(error_code&) override { head_done_ = true; }

  const bool to_head_;
  int status_ = 0, lengths_ = 0;
  std::string reason_;
  std::vector<std::pair<std::string, std::string>> fields_;
  size_t head_bytes_ = 0;
  bool head_done_ = false;
};

}  // namespace sandgate::ports
