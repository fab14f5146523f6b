#pragma once
#include <optional>
#include <string>

#include "gateway/cli/client.hpp"
#include "gateway/cli/console.hpp"

namespace sandgate::cli {

// The end of a program whose output was streamed.
struct StreamedExit {
  std::string process_id;
  int exit_code = 0;
  bool timed_out = false;
};

// Streams a program's output to the console; `call` must return server-sent events. Throws the
// stream's error event, or Error(unavailable) if the stream ends before the program.
StreamedExit stream_output(const Client& client, Call call, const Console& console);

}  // namespace sandgate::cli
