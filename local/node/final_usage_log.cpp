#include "local/node/final_usage_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "local/node/requests.hpp"

namespace sandgate {
namespace {

constexpr const char* kNewer = "/newer";
constexpr const char* kOlder = "/older";

Error not_kept() { return Error(ErrorCode::unavailable, "the node cannot keep an end"); }

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

void FinalUsageLog::rotate() {
  const std::string newer = directory_ + kNewer;
  if (rename(newer.c_str(), (directory_ + kOlder).c_str()) != 0) throw not_kept();
  file_.reset();
  older_ = std::exchange(newer_, {});
}

void FinalUsageLog::append(const std::string& sandbox, const Entry& end) {
  // The leading newline ends an incomplete line that a killed node may have left.
  const Json entry{{"id", sandbox}, {"counted", to_json(end.usage)}, {"died", end.died}};
  const std::string line = "\n" + entry.dump() + "\n";
  const std::lock_guard lock(mutex_);
  if (newer_.size() >= max_per_file_) rotate();
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  if (!file_) file_ = Fd(open((directory_ + kNewer).c_str(), kAppend, 0600));
  if (!file_ || write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw not_kept();
  newer_[sandbox] = end;
  if (!end.died) return;
  deaths_.emplace_back(end.usage.sampled_at, sandbox);
  if (deaths_.size() > kDeaths) deaths_.pop_front();
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
