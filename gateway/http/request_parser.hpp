#pragma once
#include <optional>
#include <span>
#include <string>

#include "gateway/http/body_parser.hpp"
#include "gateway/http/limits.hpp"
#include "gateway/http/request.hpp"

namespace sandgate::http {

// Parses one request into a Request. Stricter than Beast: refuses framing that two servers could
// read differently (request smuggling).
class RequestParser final : public BodyParser<true> {
 public:
  using field = boost::beast::http::field;

  RequestParser(Request& into, const Limits& limits);

  // Parses bytes of the head and returns how many were used. Throws Error(invalid) or
  // Error(too_large). The authority of an absolute-form target replaces the Host field; an Upgrade
  // field of HTTP/1.0 is left out.
  size_t parse_head(std::string_view bytes);
  bool head_done() const { return head_done_; }
  // Parses body bytes and writes the payload to `into` until that is full. Returns how many of
  // `bytes` were used. Throws Error(invalid).
  size_t parse_body(std::string_view bytes, std::span<char> into);

  bool is_http11() const { return minor_ == 1; }
  bool expects_continue() const { return expects_continue_; }
  // The status for an Error of parse_head(): 400, or 414 and 431 for what is too long.
  int refusal() const { return refusal_; }

 private:
  void refuse(int status, std::string why, error_code& ec);
  void refuse_field(std::string_view name, std::string why, error_code& ec);
  Error too_long(std::string_view unread);
  bool is_folded(std::string_view name, std::string_view value) const;
  void check_framing(field id, std::string_view value, error_code& ec);

  void on_request_impl(boost::beast::http::verb method, string_view method_text, string_view target,
                       int version, error_code& ec) override;
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(field name, string_view name_text, string_view value, error_code& ec) override;
  void on_header_impl(error_code& ec) override;

  Request& request_;
  const Limits& limits_;
  std::string_view reading_;  // the argument of parse_head() while that runs
  size_t head_bytes_ = 0;
  int minor_ = 1, refusal_ = 400, lengths_ = 0, hosts_ = 0, empty_lines_ = 0;
  bool expects_continue_ = false;
  bool line_done_ = false, head_done_ = false;
  std::string why_, field_;  // of a refusal; field_ points at the offending field, or is empty
};

}  // namespace sandgate::http
