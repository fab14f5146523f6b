#include "gateway/core/durable_journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "gateway/core/files.hpp"
#include "gateway/core/journal_file.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"

namespace sandgate {
namespace {

Error disk_failed(const std::string& path, int reason = errno) {
  return Error(ErrorCode::unavailable,
               "the journal " + path + " cannot be written: " + std::strerror(reason));
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

DurableJournal::DurableJournal(Options options)
    : options_(std::move(options)), writer_(std::make_unique<asio::thread_pool>(1)) {
  journal_file::Contents found = journal_file::read(
      options_.path, options_.max_bytes + journal_file::kMaxPayload + journal_file::kHeaderSize);
  damaged_ = found.damaged;
  if (damaged_ > 0) back_up_damaged(found);
  if (found.records.empty() && (found.id.empty() || damaged_ > 0)) {
    switch_to(create_file());
    sync_directory(std::filesystem::path(options_.path).parent_path());
    return;
  }
  file_.reset(open(options_.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file_) throw disk_failed(options_.path);
  if (found.whole < found.size) {
    log::warn("a record that a crash tore is cut off",
              {{"path", options_.path}, {"bytes", found.size - found.whole}});
    cut_to(found.whole);
  }
  id_ = found.id;
  records_ = std::move(found.records);
  size_ = written_ = found.whole;
  durable_ = found.last;
  next_ = durable_ + 1;
}

// The file is replaced once its records are stored.
void DurableJournal::back_up_damaged(const journal_file::Contents& found) const {
  const std::string copy = options_.path + ".damaged";
  std::error_code failure;
  std::filesystem::copy_file(options_.path, copy, std::filesystem::copy_options::overwrite_existing,
                             failure);
  log::error("a journal is damaged: what cannot be read is left out",
             {{"path", options_.path},
              {"stretches", found.damaged},
              {"good_records", found.records.size()},
              {"copy", failure ? "none: " + failure.message() : copy}});
}

DurableJournal::~DurableJournal() { writer_->join(); }

void DurableJournal::cut_to(size_t size) const {
  if (ftruncate(file_.get(), static_cast<off_t>(size)) != 0 || fdatasync(file_.get()) != 0)
    throw disk_failed(options_.path);
}

// Writes a new file next to the old one and renames it, so that no crash leaves half a header.
DurableJournal::NewFile DurableJournal::create_file() const {
  NewFile created{.path = options_.path + ".new", .id = random_hex(journal_file::kIdSize / 2)};
  created.file.reset(
      open(created.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  const bool good = created.file &&
                    write_all(created.file.get(), std::string(journal_file::kMagic) + created.id) &&
                    fsync(created.file.get()) == 0;
  if (!good) throw disk_failed(options_.path);
  return created;
}

void DurableJournal::switch_to(NewFile created) {
  if (rename(created.path.c_str(), options_.path.c_str()) != 0) throw disk_failed(options_.path);
  file_ = std::move(created.file);
  id_ = std::move(created.id);
  size_ = written_ = journal_file::kHeaderSize;
  next_ = 1;
  durable_ = 0;
  torn_ = false;
}

Task<void> DurableJournal::append(std::string payload) {
  if (payload.size() > journal_file::kMaxPayload)
    throw Error(ErrorCode::too_large, "the record is too large for the journal");
  uint64_t sequence = 0;
  {
    const std::lock_guard lock(mutex_);
    const size_t bytes = journal_file::kRecordHeaderSize + payload.size();
    if (size_ + bytes > options_.max_bytes)
      throw Error(ErrorCode::unavailable, "the journal " + options_.path + " is full");
    sequence = next_++;
    size_ += bytes;
    records_.push_back({sequence, std::move(payload)});
  }
  auto work = [this, sequence] { make_durable(sequence); };
  co_await on_pool(*writer_, std::move(work));
}

void DurableJournal::make_durable(uint64_t sequence) {
  if (is_durable(sequence)) return;
  write_waiting();
  is_durable(sequence);
}

// Each append asks for its own record: the write that dropped it may have been another's, and a
// later one may have succeeded since.
bool DurableJournal::is_durable(uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  if (failed_.erase(sequence) > 0) throw disk_failed(options_.path, failure_);
  return durable_ >= sequence;
}

// Writes all queued records with one write and one flush. On failure removes all of them.
void DurableJournal::write_waiting() {
  std::string bytes;
  uint64_t through = 0;
  {
    const std::lock_guard lock(mutex_);
    through = next_ - 1;
    for (const Record& record : records_)
      if (record.sequence > durable_) bytes += journal_file::encoded(record);
  }
  const bool good = append_to_file(bytes);
  const std::lock_guard lock(mutex_);
  if (good) {
    written_ += bytes.size();
    durable_ = through;
    return;
  }
  for (; !records_.empty() && records_.back().sequence > durable_; records_.pop_back())
    failed_.insert(records_.back().sequence);
  size_ = written_;
}

bool DurableJournal::append_to_file(const std::string& bytes) {
  if (cut_torn_bytes() && write_all(file_.get(), bytes) && fdatasync(file_.get()) == 0) return true;
  failure_ = errno;
  torn_ = true;
  cut_torn_bytes();
  return false;
}

// Opening the file would cut off records behind torn bytes, so these must go first.
bool DurableJournal::cut_torn_bytes() {
  if (torn_)
    torn_ =
        ftruncate(file_.get(), static_cast<off_t>(written_)) != 0 || fdatasync(file_.get()) != 0;
  return !torn_;
}

std::string DurableJournal::id() const {
  const std::lock_guard lock(mutex_);
  return id_;
}

std::vector<DurableJournal::Record> DurableJournal::pending(size_t most) const {
  const std::lock_guard lock(mutex_);
  std::vector<Record> oldest;
  for (const Record& record : records_) {
    if (record.sequence > durable_ || oldest.size() >= most) break;
    oldest.push_back(record);
  }
  return oldest;
}

Task<void> DurableJournal::trim(uint64_t through) {
  auto work = [this, through] { trim_now(through); };
  co_await on_pool(*writer_, std::move(work));
}

void DurableJournal::trim_now(uint64_t through) {
  // The numbering starts over: an append that has yet to learn that it failed must not be confused
  // with another.
  const auto is_done = [this] {
    return records_.empty() && failed_.empty() && size_ > journal_file::kHeaderSize;
  };
  {
    const std::lock_guard lock(mutex_);
    while (!records_.empty() && records_.front().sequence <= std::min(through, durable_))
      records_.pop_front();
    if (!is_done()) return;
  }
  NewFile created = create_file();
  {
    const std::lock_guard lock(mutex_);
    if (!is_done()) return;  // a record was appended meanwhile
    switch_to(std::move(created));
  }
  sync_directory(std::filesystem::path(options_.path).parent_path());
}

size_t DurableJournal::records() const {
  const std::lock_guard lock(mutex_);
  return records_.size();
}

size_t DurableJournal::bytes() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

std::optional<DurableJournal::Inspection> DurableJournal::inspect(const std::string& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  if (missing) return std::nullopt;
  const journal_file::Contents contents = journal_file::read(path, static_cast<size_t>(size));
  return Inspection{contents.records.size(), contents.size, contents.whole < contents.size,
                    contents.damaged};
}

}  // namespace sandgate
