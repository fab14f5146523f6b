#include "gateway/cli/event_reader.hpp"

#include "gateway/core/error.hpp"

namespace sandgate::cli {
namespace {

constexpr size_t kMaxEventBytes = 4 << 20;

}  // namespace

void EventReader::feed(std::string_view bytes) {
  pending_.append(bytes);
  size_t start = 0;
  for (size_t end = pending_.find('\n'); end != std::string::npos;
       end = pending_.find('\n', start)) {
    std::string_view text(pending_.data() + start, end - start);
    if (text.ends_with('\r')) text.remove_suffix(1);
    start = end + 1;
    line(text);
  }
  pending_.erase(0, start);
  if (pending_.size() + event_.data.size() > kMaxEventBytes)
    throw Error(ErrorCode::too_large, "the server sent an event of over 4 MiB");
}

void EventReader::line(std::string_view text) {
  if (text.empty()) {
    if (has_data_) {
      if (event_.type.empty()) event_.type = "message";
      on_event_(event_);
    }
    event_ = {};
    has_data_ = false;
    return;
  }
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") {
    event_.type = value;
  } else if (name == "id") {
    event_.id = value;
  } else if (name == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  }
}

}  // namespace sandgate::cli
