#include "gateway/ports/response_forwarder.hpp"

#include "gateway/http/chunk_head.hpp"

namespace sandgate::ports {
namespace {

boost::system::system_error cut_off() {
  return boost::system::system_error(asio::error::connection_aborted);
}

using Pieces = std::array<asio::const_buffer, 3>;

Pieces pieces_of(std::string_view head, std::string_view bytes = {}, std::string_view tail = {}) {
  return {asio::buffer(head), asio::buffer(bytes), asio::buffer(tail)};
}

AnswerFraming framing_of(const AppResponse& answer, http::ClientSide& client) {
  AnswerFraming framing;
  framing.http11 = client.http11();
  framing.keep_alive = client.keeps_alive();
  const auto length = answer.content_length();
  const int status = answer.status();
  if (length && status >= 200 && status != 204) framing.length = *length;
  if (!answer.has_body() || framing.length) return framing;
  framing.chunked = framing.http11;
  // The body ends with the connection.
  if (!framing.http11) framing.keep_alive = false;
  return framing;
}

}  // namespace

ResponseForwarder::ResponseForwarder(http::ClientSide& client, AppExchange& app,
                                     AppResponse& answer, std::chrono::milliseconds silence)
    : client_(client),
      app_(app),
      answer_(answer),
      silence_(silence),
      framing_(framing_of(answer, client)) {}

Task<void> ResponseForwarder::run(std::string head) {
  if (!answer_.has_body()) return pass_length(std::move(head), 0);
  if (answer_.chunked()) return pass_chunks(std::move(head));
  if (framing_.length) return pass_length(std::move(head), *framing_.length);
  return pass_rest(std::move(head));
}

Task<void> ResponseForwarder::pass_length(std::string head, uint64_t length) {
  AppConnection& program = app_.connection();
  for (uint64_t left = length;;) {
    const std::string_view bytes = program.unread().substr(0, left);
    const Pieces pieces = pieces_of(head, bytes);
    co_await client_.write(pieces, silence_);
    program.consume(bytes.size());
    left -= bytes.size();
    head.clear();
    if (left == 0) co_return;
    const size_t got = co_await app_.read();
    if (got == 0) throw cut_off();
  }
}

Task<void> ResponseForwarder::pass_chunks(std::string head) {
  AppConnection& program = app_.connection();
  const std::unique_ptr<char[]> bytes(new char[AppConnection::kBufferBytes]);
  const std::span<char> room(bytes.get(), AppConnection::kBufferBytes);
  for (;;) {
    program.consume(answer_.parse_body(program.unread(), room));
    const size_t got = answer_.body_bytes();
    const bool ended = answer_.is_done();
    std::string tail;
    if (framing_.chunked && got > 0) {
      head.append(http::chunk_head(got));
      tail = "\r\n";
    }
    if (framing_.chunked && ended) tail.append("0\r\n\r\n");
    // Send the head alone too, so that the client of a quiet stream sees it begin.
    const std::string_view piece(bytes.get(), got);
    const Pieces pieces = pieces_of(head, piece, tail);
    if (asio::buffer_size(pieces) > 0) co_await client_.write(pieces, silence_);
    head.clear();
    if (ended) co_return;
    if (got > 0) continue;
    if (program.full())
      throw Error(ErrorCode::unavailable, "the program in the sandbox sent a chunk without an end");
    const size_t received = co_await app_.read();
    if (received == 0) throw cut_off();
  }
}

Task<void> ResponseForwarder::pass_rest(std::string head) {
  AppConnection& program = app_.connection();
  for (;;) {
    const std::string_view bytes = program.unread();
    const bool frame = framing_.chunked && !bytes.empty();
    if (frame) head.append(http::chunk_head(bytes.size()));
    const Pieces pieces = pieces_of(head, bytes, frame ? "\r\n" : "");
    if (asio::buffer_size(pieces) > 0) co_await client_.write(pieces, silence_);
    program.consume(bytes.size());
    head.clear();
    const size_t got = co_await app_.read();
    if (got == 0) break;
  }
  if (program.broken()) throw cut_off();
  const Pieces end = pieces_of("0\r\n\r\n");
  if (framing_.chunked) co_await client_.write(end, silence_);
}

}  // namespace sandgate::ports
