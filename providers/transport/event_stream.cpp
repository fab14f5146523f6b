#include "providers/transport/event_stream.hpp"

namespace sandgate {
namespace {

constexpr size_t kReadSize = 64 << 10;

Error too_long() { return Error(ErrorCode::unavailable, "the backend sent an endless record"); }

}  // namespace

void LineSplitter::add(std::string_view bytes) {
  // A LF at the start may complete a CRLF that was split across calls.
  if (after_cr_ && !bytes.empty()) {
    if (bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
  }
  while (!bytes.empty()) {
    const size_t end = bytes.find_first_of("\r\n");
    open_.append(bytes.substr(0, end));
    if (open_.size() > max_line_) throw too_long();
    if (end == std::string_view::npos) return;
    lines_.push_back(std::move(open_));
    open_.clear();
    const bool cr = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (cr && bytes.empty()) after_cr_ = true;
    if (cr && !bytes.empty() && bytes.front() == '\n') bytes.remove_prefix(1);
  }
}

std::optional<std::string> LineSplitter::next() {
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

std::optional<std::string> LineSplitter::rest() {
  if (open_.empty()) return std::nullopt;
  return std::exchange(open_, {});
}

void EventSplitter::add(std::string_view bytes) {
  lines_.add(bytes);
  while (const auto line = lines_.next()) take_line(*line);
}

void EventSplitter::take_line(std::string_view line) {
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    if (std::exchange(has_data_, false)) events_.push_back(open_);
    open_.name = "message";
    open_.data.clear();
    return;
  }
  const size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    open_.name = value.empty() ? "message" : value;
  } else if (field == "id" && value.find('\0') == std::string_view::npos) {
    open_.id = value;
  } else if (field == "data") {
    if (has_data_) open_.data.push_back('\n');
    open_.data.append(value);
    has_data_ = true;
    if (open_.data.size() > max_event_) throw too_long();
  }
}

std::optional<ServerEvent> EventSplitter::next() {
  if (events_.empty()) return std::nullopt;
  ServerEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

EventReader::EventReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(kReadSize, '\0') {}

Task<std::optional<ServerEvent>> EventReader::next() {
  for (;;) {
    if (auto event = splitter_.next()) co_return event;
    const size_t count = co_await source_->read(buffer_);
    if (count == 0) co_return std::nullopt;
    splitter_.add(std::string_view(buffer_).substr(0, count));
  }
}

}  // namespace sandgate
