#pragma once
#include <span>
#include <string>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>

namespace sandgate::http {

// Common base of the request and response parsers: writes a plain or chunked body into a buffer of
// the caller. Derived classes parse the head.
template <bool isRequest>
class BodyParser : public boost::beast::http::basic_parser<isRequest> {
 public:
  using string_view = boost::beast::string_view;
  using error_code = boost::beast::error_code;

  size_t body_bytes() const { return taken_; }  // written by the last put_body

 protected:
  // Parses body bytes and writes the payload to `into` until that is full. Returns how many of
  // `bytes` were used. On malformed framing sets `wrong` to the reason.
  size_t put_body(std::string_view bytes, std::span<char> into, std::string& wrong);

 private:
  size_t take(string_view body, error_code& ec);

  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(string_view body, error_code& ec) override { return take(body, ec); }
  void on_chunk_header_impl(uint64_t, string_view, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, string_view body, error_code& ec) override {
    return take(body, ec);
  }
  void on_finish_impl(error_code&) override {}

  std::span<char> into_;
  size_t taken_ = 0;
  bool chunks_begun_ = false;
};

extern template class BodyParser<true>;
extern template class BodyParser<false>;

}  // namespace sandgate::http
