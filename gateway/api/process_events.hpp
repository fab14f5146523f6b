#pragma once
#include <memory>
#include <optional>
#include <string>

#include "gateway/http/response.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// One process as a stream of events for a client.
struct ProcessEvents {
  std::unique_ptr<ProcessStream> stream;
  std::string process_id;
  bool pty = false;  // its output is called "pty" then
  std::optional<std::string> input;  // written beside the output, then stdin is closed
  // Of each of stdout and stderr: what is beyond is read and dropped, and `exit` says whether
  // something was, in `truncated`. Empty: all of it is shown.
  std::optional<size_t> most_bytes;
  // How long the client may not read before the stream ends; empty: for ever, the process waits.
  std::optional<std::chrono::milliseconds> patience;
  OpenSandbox box;  // held until the stream ends
  std::string request_id;
};

// Writes stdin and closes it. A process that does not want it is no failure.
Task<void> feed(ProcessStream& stream, std::string bytes);

// text/event-stream: start, stdout|stderr|pty, then exit or error; the id of an event is the
// offset after its bytes. Pulls from the process only as fast as the client reads. The process's
// stream is dropped with the answer.
http::Response event_stream_of(ProcessEvents events);

}  // namespace sandgate::api
