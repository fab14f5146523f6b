#pragma once
#include <optional>
#include <string>

#include "gateway/core/async.hpp"
#include "gateway/core/json_reader.hpp"

// Between serve and node: over a unix stream socket, each message a 32-bit little-endian length
// and that many bytes of JSON. A request is {id, verb, params}; its answers carry the same id and
// one of `result`, `error` {code, message} or, before either, `progress` (text).
namespace sandgate::wire {

constexpr size_t kMaxMessage = 2 << 20;

using Stream = asio::local::stream_protocol::socket;

// Empty at a clean end between messages. Throws Error(invalid) for what is not a message and
// Error(unavailable) for a broken connection.
Task<std::optional<Json>> receive(Stream& stream);
Task<void> send(Stream& stream, Json message);  // throws Error(unavailable, too_large)

Json error_answer(const Json& id, const Error& error);
// The error an answer carries; its code is checked.
Error error_from(const Json& answer);

}  // namespace sandgate::wire
