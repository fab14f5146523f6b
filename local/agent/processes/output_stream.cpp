#include "local/agent/processes/output_stream.hpp"

#include <algorithm>

#include "gateway/core/error.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxBacklog = 128 * 1024;
constexpr size_t kMaxBytes = kMaxPayload - kOutputPrefix;

}  // namespace

OutputStream::OutputStream(Connection& connection, std::shared_ptr<Process> process, uint64_t from,
                           bool kill_when_closed)
    : connection_(connection),
      process_(std::move(process)),
      // An offset beyond the output written so far means new output only.
      position_(std::min(from, process_->output().end())),
      kill_when_closed_(kill_when_closed) {
  process_->add_observer(this);
}

OutputStream::~OutputStream() { process_->remove_observer(this); }

void OutputStream::on_frame(const Frame& frame) {
  if (frame.type != FrameType::bytes && frame.type != FrameType::end)
    throw Error(ErrorCode::invalid, "only input may follow");
  // Input for a process that has closed its input or ended is dropped; the stream goes on.
  if (frame.type == FrameType::bytes)
    (void)process_->write_input(frame.payload);
  else
    process_->close_input();
}

void OutputStream::on_process() {
  pump();
  if (!done_) connection_.update();
}

void OutputStream::pump() {
  const uint64_t before = position_;
  while (!done_ && connection_.backlog() < kMaxBacklog) {
    const Ring::Slice slice = process_->output().at(position_);
    if (slice.bytes.empty()) break;
    const std::string_view bytes = slice.bytes.substr(0, kMaxBytes);
    position_ = slice.offset + bytes.size();
    connection_.send_output(slice.channel, position_, bytes);
  }
  const bool all_sent = process_->output().at(position_).bytes.empty();
  if (!done_ && all_sent && process_->result()) {
    done_ = true;
    connection_.send(FrameType::exit, to_json(*process_->result()).dump());
    connection_.finish();
  } else if (position_ != before) {
    process_->progressed();
  }
}

void OutputStream::on_closed() {
  done_ = true;
  process_->remove_observer(this);
  if (kill_when_closed_) process_->kill();
}

}  // namespace sandgate::agent
