#pragma once
#include <span>
#include <string>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>

namespace sandgate::http {

// What parsers of requests and of answers share: a body's bytes, whole or in chunks, are written
// where the caller wants them. Whoever derives parses the head.
template <bool isRequest>
class BodyParser : public boost::beast::http::basic_parser<isRequest> {
 public:
  using string_view = boost::beast::string_view;
  using error_code = boost::beast::error_code;

  size_t body_bytes() const { return taken_; }  // written by the last put_body

 protected:
  // Takes body bytes and writes what they carry to `into`; stops when that is full. Returns how
  // many of `bytes` it used. `wrong` comes to say why they are no body.
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
