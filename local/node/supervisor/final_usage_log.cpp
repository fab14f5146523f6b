#include "local/node/supervisor/final_usage_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "gateway/core/log.hpp"
#include "local/node/server/requests.hpp"

namespace sandgate {
namespace {

constexpr const char* kNewer = "/newer";
constexpr const char* kOlder = "/older";

std::map<std::string, FinalUsageLog::Entry> read_file(const std::string& path) {
  std::map<std::string, FinalUsageLog::Entry> file;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    try {
      const Json json = Json::parse(line);
      file[json.at("id").get<std::string>()] = {metrics_from(json.at("counted")),
                                                json.value("died", false)};
    } catch (const std::exception&) {
      // an incomplete line of a node killed while writing it; that end was never reported
    }
  }
  return file;
}

}  // namespace

FinalUsageLog::FinalUsageLog(std::string directory, size_t max_per_file)
    : directory_(std::move(directory)), max_per_file_(max_per_file) {
  std::filesystem::create_directories(directory_);
  older_ = read_file(directory_ + kOlder);
  newer_ = read_file(directory_ + kNewer);
  for (const Counted* kept : {&older_, &newer_})
    for (const auto& [sandbox, end] : *kept)
      if (end.died) deaths_.emplace_back(end.usage.sampled_at, sandbox);
  std::ranges::sort(deaths_);
  if (deaths_.size() > kDeaths)
    deaths_.erase(deaths_.begin(), deaths_.end() - static_cast<std::ptrdiff_t>(kDeaths));
}

// Lines that are owed to the newer file go to the one that takes its place.
void FinalUsageLog::rotate() {
  older_ = std::exchange(newer_, {});
  const std::string newer = directory_ + kNewer;
  if (rename(newer.c_str(), (directory_ + kOlder).c_str()) == 0) file_.reset();
}

bool FinalUsageLog::write_line(const std::string& line) {
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  if (!file_) file_ = Fd(open((directory_ + kNewer).c_str(), kAppend, 0600));
  return file_ && write(file_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

void FinalUsageLog::write_lines() {
  while (!owed_.empty() && write_line(owed_.front())) owed_.pop_front();
}

void FinalUsageLog::write_owed() {
  const std::lock_guard lock(mutex_);
  write_lines();
}

void FinalUsageLog::append(const std::string& sandbox, const Entry& end) {
  const Json entry{{"id", sandbox}, {"counted", to_json(end.usage)}, {"died", end.died}};
  const std::lock_guard lock(mutex_);
  if (newer_.size() >= max_per_file_) rotate();
  newer_[sandbox] = end;
  if (end.died) deaths_.emplace_back(end.usage.sampled_at, sandbox);
  if (deaths_.size() > kDeaths) deaths_.pop_front();
  const bool owes_already = !owed_.empty();
  // The leading newline ends an incomplete line, of a full disk or a killed node.
  owed_.push_back("\n" + entry.dump() + "\n");
  write_lines();
  if (owed_.size() > max_per_file_) owed_.pop_front();
  if (!owed_.empty() && !owes_already)
    log::warn("ends are kept in memory only", {{"directory", directory_}});
}

std::vector<std::string> FinalUsageLog::died_since(Time moment) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> died;
  for (const auto& [at, sandbox] : deaths_)
    if (at >= moment) died.push_back(sandbox);
  return died;
}

std::optional<FinalUsageLog::Entry> FinalUsageLog::find(const std::string& sandbox) const {
  const std::lock_guard lock(mutex_);
  for (const Counted* file : {&newer_, &older_})
    if (const auto found = file->find(sandbox); found != file->end()) return found->second;
  return std::nullopt;
}

}  // namespace sandgate
