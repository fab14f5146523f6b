#pragma once
#include <optional>
#include <string>

#include "gateway/core/async.hpp"
#include "gateway/core/json_reader.hpp"

// The protocol between serve and node over a unix stream socket. Each message is a 32-bit
// little-endian length and that many bytes of JSON. A request is {id, verb, params}. Its answer has
// the same id, and either `result` or `error` {code, message}.
namespace sandgate::wire {

constexpr size_t kMaxMessage = 2 << 20;

using Stream = asio::local::stream_protocol::socket;

// Whether the peer's process runs as root or as `uid`.
bool is_peer(Stream& stream, uid_t uid);
// Whether the peer of a connected socket has neither closed it nor sent anything.
bool is_idle(int socket);

// Receives a message; empty when the peer closes between messages. Throws Error: invalid for a
// malformed message, unavailable for a broken connection.
Task<std::optional<Json>> receive(Stream& stream);
// Throws Error: unavailable, too_large above kMaxMessage, invalid for text that is not UTF-8.
Task<void> send(Stream& stream, Json message);

Json error_answer(const Json& id, const Error& error);
// Returns the error of an answer; an unknown code becomes internal.
Error error_from(const Json& answer);

}  // namespace sandgate::wire
