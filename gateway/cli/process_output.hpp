#pragma once
#include <optional>
#include <string>

#include "gateway/cli/client.hpp"
#include "gateway/cli/console.hpp"

namespace sandgate::cli {

// What became of a program whose output was streamed.
struct StreamedExit {
  std::string process_id;
  int exit_code = 0;
  bool timed_out = false;
};

// Copies a program's output to the console as it comes. `call` answers with server-sent events.
// Throws the stream's own error, or Error(unavailable) when it ends without the program's exit.
StreamedExit stream_output(const Client& client, Call call, const Console& console);

}  // namespace sandgate::cli
