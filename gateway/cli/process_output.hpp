#pragma once
#include <functional>
#include <optional>
#include <string>

#include "gateway/cli/client.hpp"
#include "gateway/cli/terminal/console.hpp"

namespace sandgate::cli {

// The end of a program whose output was streamed.
struct StreamedExit {
  std::string process_id;
  int exit_code = 0;
  bool timed_out = false;
  std::string signal;  // empty: it exited by itself
};

// Streams a program's output to the console; `call` must return server-sent events. Calls
// `on_start` with the program's id. Throws the stream's error event, or Error(unavailable) if the
// stream ends before the program.
StreamedExit stream_output(const Client& client, Call call, const Console& console,
                           const std::function<void(const std::string& process_id)>& on_start = {});

}  // namespace sandgate::cli
