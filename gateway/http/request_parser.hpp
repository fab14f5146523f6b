#pragma once
#include <optional>
#include <span>
#include <string>

#include "gateway/http/body_parser.hpp"
#include "gateway/http/limits.hpp"
#include "gateway/http/request.hpp"

namespace sandgate::http {

// Reads one request's bytes straight into a Request. Stricter than the grammar it extends: what
// two servers could frame differently (request smuggling) is refused.
class RequestParser final : public BodyParser<true> {
 public:
  using field = boost::beast::http::field;

  RequestParser(Request& into, const Limits& limits);

  // Takes head bytes; returns how many it used. Throws Error(invalid or too_large). The Host of a
  // target that has one of its own is that.
  size_t parse_head(std::string_view bytes);
  bool head_done() const { return head_done_; }
  // Takes body bytes and appends what they carry to `into`; stops when that is full. Returns how
  // many of `bytes` it used. Throws Error(invalid).
  size_t parse_body(std::string_view bytes, std::span<char> into);

  bool knows_method() const { return knows_method_; }
  bool is_http11() const { return minor_ == 1; }
  bool expects_continue() const { return expects_continue_; }
  // The status for what parse_head threw: 400, or 414 and 431 for what is too long.
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
  std::string_view reading_;  // what parse_head was given, while it runs
  size_t head_bytes_ = 0;
  int minor_ = 1, refusal_ = 400, lengths_ = 0, hosts_ = 0, empty_lines_ = 0;
  bool knows_method_ = true, expects_continue_ = false;
  bool line_done_ = false, head_done_ = false;
  std::string why_, field_;  // of a refusal; the field it is about, or empty
};

}  // namespace sandgate::http
