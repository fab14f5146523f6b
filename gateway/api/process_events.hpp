#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gateway/http/response.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// The id of `exit`: the largest integer that JavaScript keeps exact, and no offset that output
// reaches. A client that holds it has seen the end of its process.
constexpr uint64_t kExitId = (uint64_t{1} << 53) - 1;

// A process to be streamed to a client as server-sent events.
struct ProcessEvents {
  std::unique_ptr<ProcessStream> stream;
  std::string process_id;
  bool pty = false;  // output events are named "pty"
  std::optional<std::string> input;  // written concurrently, then stdin is closed
  // Limit for each of stdout and stderr. The rest is read and dropped, and the exit event's
  // `truncated` says whether there was any. Empty: no limit.
  std::optional<size_t> max_bytes;
  bool reconnects = false;  // the client may come back with Last-Event-ID: `exit` has kExitId
  // How long a write to the client may block before the stream ends. Empty: no limit, the process
  // waits.
  std::optional<std::chrono::milliseconds> patience;
  OpenSandbox box;  // held until the stream ends
  std::string request_id;
};

// text/event-stream: start, then stdout|stderr|pty, then exit or error (also for input that was
// lost). The id of an output event is the offset after it. Pulls output only as fast as the client
// reads. The process's stream is destroyed with the answer.
http::Response event_stream_of(ProcessEvents events);

}  // namespace sandgate::api
