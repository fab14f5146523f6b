#include <boost/beast/http/status.hpp>

#include "gateway/http/problem.hpp"

namespace sandgate::http {

std::string_view reason_of(int status) {
  const auto text = boost::beast::http::obsolete_reason(
      boost::beast::http::int_to_status(static_cast<unsigned>(status)));
  return text == "<unknown-status>" ? std::string_view("Unknown")
                                    : std::string_view(text.data(), text.size());
}

}  // namespace sandgate::http
