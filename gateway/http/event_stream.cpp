#include "gateway/http/event_stream.hpp"

#include "gateway/core/json_text.hpp"
#include "gateway/core/number_text.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/http/problem.hpp"

namespace sandgate::http {
namespace {

constexpr const char* kSignOfLife = ": keep-alive\n\n";

void append_line(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ");
  for (const char c : value) text.push_back(c == '\n' || c == '\r' || c == '\0' ? ' ' : c);
  text.push_back('\n');
}

Task<void> produce_all(const EventStreamOptions& options,
                       const std::function<Task<void>(EventWriter&)>& produce,
                       EventWriter& writer) {
  std::exception_ptr failure;
  try {
    co_await produce(writer);
  } catch (const boost::system::system_error&) {
    throw;
  } catch (...) {
    failure = std::current_exception();
  }
  if (!failure) co_return;
  const Error error = as_error(failure, options.request_id);
  const Json document = problem_document(error, status_of(error.code), options.request_id);
  ServerEvent last{"error", json_text(document), ""};
  co_await writer.send(std::move(last));
}

Task<void> serve(const EventStreamOptions& options,
                 const std::function<Task<void>(EventWriter&)>& produce, BodySink& sink) {
  SharedSink shared(sink, co_await asio::this_coro::executor);
  EventWriter writer(shared);
  auto both = with_companion(produce_all(options, produce, writer),
                             shared.keep_alive(options.keep_alive, kSignOfLife));
  co_await std::move(both);
}

}  // namespace

std::string to_text(const ServerEvent& event) {
  std::string text;
  if (!event.event.empty()) append_line(text, "event", event.event);
  if (!event.id.empty()) append_line(text, "id", event.id);
  if (event.event.empty() && event.data.empty() && !event.id.empty()) return text + "\n";
  std::string_view rest = event.data;
  for (;;) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    append_line(text, "data", rest.substr(0, end));
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  text.push_back('\n');
  return text;
}

Task<void> EventWriter::send_all(const std::vector<ServerEvent>& events) {
  std::string text;
  for (const ServerEvent& event : events) text += to_text(event);
  return sink_.write(std::move(text));
}

std::optional<uint64_t> last_event_id(const Request& request) {
  const auto text = request.headers.find("Last-Event-ID");
  if (!text || text->empty()) return std::nullopt;
  const auto number = number_from<uint64_t>(*text);
  if (!number) throw Error::invalid("/Last-Event-ID", "must be the id of an event of this stream");
  return number;
}

Response event_stream(EventStreamOptions options, std::function<Task<void>(EventWriter&)> produce) {
  Response response = Response::streaming("text/event-stream");
  StreamBody body;
  body.produce = [options = std::move(options), produce = std::move(produce)](BodySink& sink) {
    return serve(options, produce, sink);
  };
  response.body = std::move(body);
  return response;
}

}  // namespace sandgate::http
