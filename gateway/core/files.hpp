#pragma once
#include <optional>
#include <string>

#include <sys/types.h>

namespace sandgate {

// The whole file; empty when it cannot be opened. For files of the kernel or of our own: nothing
// bounds the size.
std::optional<std::string> read_text_file(const std::string& path);
// "cannot read <path>: <reason>", of a call that has just failed (errno).
std::string cannot_read(const std::string& path);

enum class Durability { until_reboot, through_power_cuts };

// Writes `path` with a draft beside it, so that readers see the old text or the new one, whole.
// False when that fails, with errno: the old file stays, or the new one may not outlive a power
// cut. Two writers of one path must not run at once.
bool replace_file(const std::string& path, const std::string& text, mode_t mode,
                  Durability durability);

// Makes the renames and new files of a directory survive a power cut; false when that fails.
bool sync_directory(const std::string& path);

}  // namespace sandgate
