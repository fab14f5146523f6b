#include "gateway/cli/process_output.hpp"

#include "gateway/cli/event_reader.hpp"
#include "gateway/core/crypto.hpp"

namespace sandgate::cli {
namespace {

struct Receiver {
  const Console& console;
  const std::function<void(const std::string&)>& on_start;
  StreamedExit exit;
  bool ended = false;
  std::optional<Error> failure;

  void take(const Event& event);
};

void Receiver::take(const Event& event) {
  const Json data = parse_json(event.data);
  if (event.type == "start") {
    exit.process_id = data.value("process_id", "");
    if (on_start) on_start(exit.process_id);
  } else if (event.type == "stdout" || event.type == "pty" || event.type == "stderr") {
    const auto bytes = base64_decode(data.value("data", ""));
    if (!bytes) throw Error(ErrorCode::internal, "the server sent output that is not base64");
    write_out(event.type == "stderr" ? console.err : console.out, *bytes);
  } else if (event.type == "exit") {
    exit.exit_code = data.value("exit_code", 1);
    exit.timed_out = data.value("timed_out", false);
    const Json signal = data.value("signal", Json());
    if (signal.is_string()) exit.signal = signal;
    ended = true;
  } else if (event.type == "error") {
    failure = Error(error_code_from(data.value("code", "")).value_or(ErrorCode::internal),
                    printable(data.value("detail", "the stream failed")) + " (" +
                        printable(data.value("code", "internal")) + ", request " +
                        printable(data.value("request_id", "unknown")) + ")");
  }
}

}  // namespace

StreamedExit stream_output(const Client& client, Call call, const Console& console,
                           const std::function<void(const std::string& process_id)>& on_start) {
  Receiver receiver{console, on_start, {}, false, std::nullopt};
  EventReader events([&](const Event& event) { receiver.take(event); });
  call.accept = "text/event-stream";
  call.silence = kStreamSilence;
  call.download = [&](std::string_view bytes) { events.feed(bytes); };
  client.call(std::move(call));
  if (receiver.failure) throw *receiver.failure;
  if (!receiver.ended)
    throw Error(ErrorCode::unavailable,
                "the stream ended before the program did; `sandgate show` "
                "says whether the sandbox still runs");
  return receiver.exit;
}

}  // namespace sandgate::cli
