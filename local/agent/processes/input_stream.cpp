#include "local/agent/processes/input_stream.hpp"

#include "gateway/core/error.hpp"

namespace sandgate::agent {
namespace {

Error not_read() { return Error(ErrorCode::conflict, "the process no longer reads its input"); }

}  // namespace

InputStream::InputStream(Connection& connection, std::shared_ptr<Process> process)
    : connection_(connection), process_(std::move(process)) {
  if (!is_read()) throw not_read();
  process_->add_observer(this);
}

InputStream::~InputStream() { process_->remove_observer(this); }

void InputStream::on_frame(const Frame& frame) {
  if (frame.type == FrameType::bytes) {
    if (!process_->write_input(frame.payload)) return refuse();
    taken_ = process_->input_ready();
    return;
  }
  if (frame.type != FrameType::end) throw Error(ErrorCode::invalid, "only input may follow");
  ended_ = true;
  finish_if_taken();
}

void InputStream::on_process() {
  if (done_) return;
  if (!taken_ && !is_read()) return refuse();
  taken_ = taken_ || process_->input_ready();
  if (ended_)
    finish_if_taken();
  else
    connection_.update();
}

void InputStream::refuse() {
  done_ = true;
  connection_.fail(not_read());
}

void InputStream::finish_if_taken() {
  if (done_ || !taken_) return;
  done_ = true;
  connection_.reply(nlohmann::json::object());
  connection_.finish();
}

void InputStream::on_closed() {
  done_ = true;
  process_->remove_observer(this);
}

}  // namespace sandgate::agent
